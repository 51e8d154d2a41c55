//! Just enough of CEL's spelling to tell words, operators and brackets from what stands inside strings and comments.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    Word(&'a str),
    Text,
    Open,
    Close(u8),
    Operator(u8),
}

/// The tokens of a text and where each begins. Stops at its end, whatever state that is in: the parser complains better.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub fn of(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0 }
    }

    fn word_end(&self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        self.at + rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')).unwrap_or(rest.len())
    }

    /// The end of the string literal whose quote is at `open`.
    fn string_end(&self, open: usize, raw: bool) -> usize {
        let bytes = self.text.as_bytes();
        let quote = bytes[open];
        let width = if bytes[open..].starts_with(&[quote; 3]) { 3 } else { 1 };
        let mut at = open + width;
        while at < bytes.len() {
            if bytes[at] == b'\\' && !raw {
                at += 2;
            } else if bytes[at..].starts_with(&[quote; 3][..width]) {
                return at + width;
            } else {
                at += 1;
            }
        }
        bytes.len()
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            let begin = self.at;
            if byte.is_ascii_whitespace() || !byte.is_ascii() {
                self.at += 1;
                continue;
            }
            if bytes[begin..].starts_with(b"//") {
                self.at += bytes[begin..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - begin);
                continue;
            }
            let token = match byte {
                b'\'' | b'"' => {
                    self.at = self.string_end(begin, false);
                    Token::Text
                }
                byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                    let end = self.word_end();
                    let word = &self.text[begin..end];
                    let prefixed = matches!(bytes.get(end), Some(b'\'' | b'"'));
                    if prefixed
                        && matches!(word, "r" | "R" | "b" | "B" | "br" | "bR" | "Br" | "BR" | "rb" | "rB" | "Rb" | "RB")
                    {
                        self.at = self.string_end(end, word.contains(['r', 'R']));
                        Token::Text
                    } else {
                        self.at = end;
                        Token::Word(word)
                    }
                }
                b'(' | b'[' | b'{' => {
                    self.at += 1;
                    Token::Open
                }
                b')' | b']' | b'}' => {
                    self.at += 1;
                    Token::Close(byte)
                }
                byte => {
                    self.at += 1;
                    Token::Operator(byte)
                }
            };
            return Some((begin, token));
        }
    }
}
