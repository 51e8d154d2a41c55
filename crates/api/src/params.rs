//! Path and query parameters, with problems instead of bare texts when they are wrong.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::problem::Problem;

/// Parameters of the path.
pub struct At<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(value) = Path::<T>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| Problem::bad_request(format!("the path is wrong: {}", rejection.body_text())))?;
        Ok(At(value))
    }
}

/// Parameters of the query. Unknown ones are refused: a misspelt filter must not pass for none.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(value) = Query::<T>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| Problem::bad_request(format!("the query is wrong: {}", rejection.body_text())))?;
        Ok(Params(value))
    }
}

/// Whether a write is only tried.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WriteParams {
    /// Check everything and answer as if it had been done, but change nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// How many, and from where.
pub const DEFAULT_LIMIT: usize = 100;
pub const MAX_LIMIT: usize = 1000;

/// The page size asked for, within bounds.
pub fn page_size(limit: Option<i64>) -> Result<usize, Problem> {
    match limit {
        None => Ok(DEFAULT_LIMIT),
        Some(limit) if (1..=MAX_LIMIT as i64).contains(&limit) => Ok(limit as usize),
        Some(limit) => Err(Problem::bad_request(format!("limit: expected 1 to {MAX_LIMIT}, found {limit}"))),
    }
}

/// `?name=` means no filter, as an empty form field does.
pub fn non_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty()))
}

/// PostgreSQL's texts cannot hold a NUL; no name, filter or description has one.
pub fn check_text(field: &str, text: &str, max: usize) -> Result<(), Problem> {
    if text.contains('\0') {
        return Err(Problem::bad_request(format!("{field}: a NUL character is not allowed")));
    }
    if text.len() > max {
        return Err(Problem::bad_request(format!("{field}: expected at most {max} bytes, found {}", text.len())));
    }
    Ok(())
}
