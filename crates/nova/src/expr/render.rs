//! A configuration with its expressions evaluated.

use serde_json::{Map, Value};

use super::error::ExprError;
use super::limits::RENDERED_BYTES;
use super::price::BUDGET;
use super::run::evaluate_within;
use super::scope::Scope;
use super::template::{Piece, pieces};

/// For all expressions of one configuration.
const RENDERING_WORK: u64 = 3 * BUDGET;

/// Replaces every `${…}` in the strings of a value. A string that is wholly one expression keeps the expression's type.
pub fn render(value: &Value, scope: &Scope) -> Result<Value, ExprError> {
    render_with(value, scope, &|_| None)
}

/// As `render`, and where an object stands for something else, that in its place. Expressions never see it, and an object that
/// an expression makes up stands for nothing: only the configuration's author may refer to things.
pub fn render_with(value: &Value, scope: &Scope, stands_for: &StandsFor<'_>) -> Result<Value, ExprError> {
    Rendering { scope, stands_for, left: RENDERED_BYTES, work: RENDERING_WORK }.value(value, "")
}

/// What an object stands for; nothing where it is just an object.
pub type StandsFor<'a> = dyn Fn(&Value) -> Option<Result<Value, ExprError>> + 'a;

struct Rendering<'a> {
    scope: &'a Scope,
    stands_for: &'a StandsFor<'a>,
    /// How many bytes the expressions' results may still have together.
    left: usize,
    /// How much work they may still do together.
    work: u64,
}

impl Rendering<'_> {
    fn value(&mut self, value: &Value, at: &str) -> Result<Value, ExprError> {
        Ok(match value {
            Value::String(text) => self.text(text, at).map_err(|error| error.at(at))?,
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(index, item)| self.value(item, &format!("{at}[{index}]")));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(map) => match (self.stands_for)(value) {
                Some(other) => other.map_err(|error| error.at(at))?,
                None => self.object(map, at)?,
            },
            other => other.clone(),
        })
    }

    fn object(&mut self, map: &Map<String, Value>, at: &str) -> Result<Value, ExprError> {
        let mut rendered = Map::with_capacity(map.len());
        for (key, value) in map {
            let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            rendered.insert(key.clone(), self.value(value, &at)?);
        }
        Ok(Value::Object(rendered))
    }

    fn text(&mut self, text: &str, at: &str) -> Result<Value, ExprError> {
        let value = fill_within(text, self.scope, as_text, &mut self.work)?;
        if text.contains("${") {
            self.spend(if let Value::String(text) = &value { text.len() } else { value.to_string().len() }, at)?;
        }
        Ok(value)
    }

    fn spend(&mut self, bytes: usize, at: &str) -> Result<(), ExprError> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| ExprError::TooLarge { at: at.to_owned(), bytes: RENDERED_BYTES })?;
        Ok(())
    }
}

/// Renders one string; `encode` makes text of what stands between other text.
pub fn fill(text: &str, scope: &Scope, encode: impl FnMut(Value) -> String) -> Result<Value, ExprError> {
    fill_within(text, scope, encode, &mut { RENDERING_WORK })
}

fn fill_within(
    text: &str,
    scope: &Scope,
    mut encode: impl FnMut(Value) -> String,
    work: &mut u64,
) -> Result<Value, ExprError> {
    if !text.contains("${") {
        return Ok(Value::String(text.to_owned()));
    }
    let pieces = pieces(text).map_err(|unended| ExprError::new(unended, "it has no closing `}`"))?;
    if let [Piece::Expression(expression)] = pieces.as_slice() {
        return evaluate_within(expression, scope, work);
    }
    let mut filled = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(text) => filled.push_str(text),
            Piece::Expression(expression) => filled.push_str(&encode(evaluate_within(expression, scope, work)?)),
        }
        if filled.len() > RENDERED_BYTES {
            return Err(ExprError::TooLarge { at: String::new(), bytes: RENDERED_BYTES });
        }
    }
    Ok(Value::String(filled))
}

fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
