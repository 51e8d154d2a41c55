//! One expression: measured, parsed, priced, run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, ExecutionError, ParseErrors, extensions};
use serde_json::Value;

use super::convert::to_json;
use super::error::ExprError;
use super::scope::Scope;
use super::{limits, price};

/// The language: CEL's standard functions, and those on strings. What is not priced cannot be called.
static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    if let Err(error) = env.add_extension(extensions::strings) {
        tracing::error!(%error, "expressions go without the functions on strings");
    }
    Arc::new(env)
});

/// Parsing has its price too.
const PARSING: u64 = 20_000;

/// Whether this is an expression at all.
pub fn legal(text: &str) -> Result<(), ExprError> {
    limits::check(text).map_err(|why| ExprError::new(text, why))?;
    let compiled =
        catch_unwind(AssertUnwindSafe(|| LANGUAGE.compile(text).map(|_| ()).map_err(|errors| parse_error(&errors))));
    let compiled = compiled.unwrap_or_else(|_| Err("the parser gave up on it".to_owned()));
    compiled.map_err(|why| ExprError::new(text, why))
}

/// Evaluates one expression, without `${…}` around it.
pub fn evaluate(text: &str, scope: &Scope) -> Result<Value, ExprError> {
    evaluate_within(text, scope, &mut (price::BUDGET + PARSING))
}

/// As `evaluate`, for as much work as is left.
pub fn evaluate_within(text: &str, scope: &Scope, work: &mut u64) -> Result<Value, ExprError> {
    let wrong = |why: String| ExprError::new(text, why);
    limits::check(text).map_err(wrong)?;
    // A defect in the parser or the interpreter fails this expression, not the process.
    let result = catch_unwind(AssertUnwindSafe(|| run(text, scope, work)))
        .unwrap_or_else(|_| Err("the interpreter gave up on it".to_owned()))
        .map_err(wrong)?;
    if price::size(&result) > limits::RESULT_BYTES as u64 {
        return Err(wrong(format!("its result may have at most {} bytes", limits::RESULT_BYTES)));
    }
    Ok(result)
}

fn run(text: &str, scope: &Scope, work: &mut u64) -> Result<Value, String> {
    let spent = || "the expressions before it have used up the work that they may do together".to_owned();
    *work = work.checked_sub(PARSING).ok_or_else(spent)?;
    let program = LANGUAGE.compile(text).map_err(|errors| parse_error(&errors))?;
    *work = work.checked_sub(price::price(program.expression(), scope)?).ok_or_else(spent)?;
    let mut context = Context::with_env(Arc::clone(&LANGUAGE));
    context.set_variable_resolver(scope);
    let value = program.execute(&context).map_err(|error| explained(&error, scope))?;
    to_json(&value)
}

fn parse_error(errors: &ParseErrors) -> String {
    match errors.errors.first() {
        Some(error) => format!("at line {}, column {}: {}", error.pos.0, error.pos.1, error.msg),
        None => "it cannot be parsed".to_owned(),
    }
}

fn explained(error: &ExecutionError, scope: &Scope) -> String {
    match error {
        ExecutionError::UndeclaredReference(name) => {
            format!("there is no `{name}`; the variables are {}", scope.names())
        }
        ExecutionError::NoSuchKey(key) => format!("there is no `{key}` there; the variables are {}", scope.names()),
        other => other.to_string(),
    }
}
