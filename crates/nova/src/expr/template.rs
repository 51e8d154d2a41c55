//! A string with `${…}` in it, taken apart.

use super::lex::{Token, Tokens};
use super::limits;

#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Literal(&'a str),
    Expression(&'a str),
}

/// The pieces in their order; `$${` gives the literal `${`. An expression that does not end is given back as the error.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, &str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            // The second dollar sign and the bracket stay, the first goes.
            pieces.push(Piece::Literal(&rest[..at - 1]));
            pieces.push(Piece::Literal(&rest[at..at + 2]));
            rest = &rest[at + 2..];
            continue;
        }
        pieces.push(Piece::Literal(&rest[..at]));
        let inside = &rest[at + 2..];
        let end = end_of(inside).ok_or(&rest[at..])?;
        pieces.push(Piece::Expression(inside[..end].trim()));
        rest = &inside[end + 1..];
    }
    pieces.push(Piece::Literal(rest));
    pieces.retain(|piece| *piece != Piece::Literal(""));
    Ok(pieces)
}

/// Where the bracket is that closes the expression: not one in a string, nor one of a map.
fn end_of(inside: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, token) in Tokens::of(inside) {
        match token {
            Token::Open => open += 1,
            Token::Close(b'}') if open == 0 => return Some(at),
            Token::Close(_) => open = open.saturating_sub(1),
            _ if at > 2 * limits::LENGTH => return None,
            _ => {}
        }
    }
    None
}
