//! What an expression may look like, checked before it is parsed: the parser and the interpreter recurse, so depth and
//! length are what could overflow the stack.

use super::lex::{Token, Tokens};

pub const LENGTH: usize = 4 * 1024;
pub const RESULT_BYTES: usize = 1024 * 1024;
/// The results of all expressions of one configuration together.
pub const RENDERED_BYTES: usize = 4 * 1024 * 1024;

const NESTING: usize = 32;
const MACROS: usize = 8;
/// `map` within `filter` is useful; a third one inside is a way to spend cubes.
const MACRO_NESTING: usize = 2;
/// `!!!!x`: every sign is a level of recursion.
const SIGNS_IN_A_ROW: usize = 8;
const TERNARIES: usize = 16;
/// `a + a + …`, `a.b.c…`, `a[0][0]…`: every link is a level of recursion as well.
const LINKS: usize = 200;

const MACRO_NAMES: [&str; 7] = ["map", "filter", "all", "exists", "exists_one", "optMap", "optFlatMap"];

pub fn check(text: &str) -> Result<(), String> {
    if text.len() > LENGTH {
        return Err(format!("it has {} bytes, and may have {LENGTH} at most", text.len()));
    }
    let mut count = Count::default();
    for (_, token) in Tokens::of(text) {
        count.take(token)?;
    }
    Ok(())
}

#[derive(Default)]
struct Count<'a> {
    /// For each open bracket, whether it is that of a macro.
    open: Vec<bool>,
    previous: Option<Token<'a>>,
    macros: usize,
    signs: usize,
    ternaries: usize,
    links: usize,
}

impl<'a> Count<'a> {
    fn take(&mut self, token: Token<'a>) -> Result<(), String> {
        self.signs = if matches!(token, Token::Operator(b'!' | b'-')) { self.signs + 1 } else { 0 };
        match token {
            Token::Open => self.open_bracket(),
            Token::Close(_) => {
                self.open.pop();
            }
            Token::Operator(byte) => {
                self.links += 1;
                self.ternaries += usize::from(byte == b'?');
            }
            Token::Word("in") => self.links += 1,
            Token::Word(_) | Token::Text => {}
        }
        self.previous = Some(token);
        self.within_limits()
    }

    fn open_bracket(&mut self) {
        let of_macro = matches!(self.previous, Some(Token::Word(word)) if MACRO_NAMES.contains(&word));
        self.macros += usize::from(of_macro);
        self.links += 1;
        self.open.push(of_macro);
    }

    fn within_limits(&self) -> Result<(), String> {
        let nested_macros = self.open.iter().filter(|of_macro| **of_macro).count();
        let limits = [
            (self.open.len(), NESTING, "levels of brackets"),
            (self.macros, MACROS, "of `map`, `filter`, `all`, `exists` and `exists_one`"),
            (nested_macros, MACRO_NESTING, "of `map`, `filter`, `all`, `exists` and `exists_one` inside one another"),
            (self.signs, SIGNS_IN_A_ROW, "signs in a row"),
            (self.ternaries, TERNARIES, "question marks"),
            (self.links, LINKS, "operators, dots and brackets"),
        ];
        match limits.into_iter().find(|(count, limit, _)| count > limit) {
            Some((_, limit, what)) => Err(format!("it may have at most {limit} {what}")),
            None => Ok(()),
        }
    }
}
