//! What can be wrong with an expression. Every message says which expression it is and where it stands, for there may be
//! dozens in one configuration.

/// An expression that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExprError {
    #[error("`{expression}`{} cannot be evaluated: {why}", within(.at))]
    Expression { expression: String, at: String, why: String },
    #[error("there is no secret `{name}`{}", within(.at))]
    NoSecret { name: String, at: String },
    #[error("the result{} is too large: it may have {bytes} bytes at most", within(.at))]
    TooLarge { at: String, bytes: usize },
}

fn within(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!(" in `{at}`") }
}

const SHOWN: usize = 160;

impl ExprError {
    pub(super) fn new(expression: &str, why: impl Into<String>) -> ExprError {
        let why = shortened(&why.into(), 400);
        ExprError::Expression { expression: shortened(expression, SHOWN), at: String::new(), why }
    }

    /// The same, and where it stands.
    pub(super) fn at(mut self, place: &str) -> ExprError {
        match &mut self {
            ExprError::Expression { at, .. } | ExprError::NoSecret { at, .. } | ExprError::TooLarge { at, .. } => {
                *at = place.to_owned();
            }
        }
        self
    }
}

/// At most so many characters of a text, with a mark where some were left out.
pub fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
