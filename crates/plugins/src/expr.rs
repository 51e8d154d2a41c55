//! Expressions in a plugin's configuration, with the secrets that it names.

use secrecy::ExposeSecret;
use serde_json::Value;

use crate::secrets::{Secrets, reference};

pub use nova::expr::{ExprError, Scope, evaluate};
pub(crate) use nova::expr::{fill, shortened};

/// Replaces every `${…}` in the strings of a value; references to secrets stay.
pub fn render(value: &Value, scope: &Scope) -> Result<Value, ExprError> {
    nova::expr::render_with(value, scope, &|value| reference(value).map(|_| Ok(value.clone())))
}

/// As `render`, and puts the secrets in place of their references.
pub fn render_with_secrets(value: &Value, scope: &Scope, secrets: &Secrets) -> Result<Value, ExprError> {
    let open = |name: &str| {
        let no_secret = || ExprError::NoSecret { name: name.to_owned(), at: String::new() };
        let secret = secrets.0.get(name).ok_or_else(no_secret)?;
        Ok(Value::String(secret.value.expose_secret().to_owned()))
    };
    nova::expr::render_with(value, scope, &|value| reference(value).map(open))
}
