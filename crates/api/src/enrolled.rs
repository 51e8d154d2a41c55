//! The runner that asks: its token opens the calls of `routes/runner.rs` and nothing else, and no other token opens those.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use controller::{Seat, Who};

use crate::app::App;
use crate::caller::{bearer, is_public_part};
use crate::problem::Problem;
use crate::secret;

pub struct Enrolled {
    pub name: String,
    /// Where its questions are answered.
    pub seat: Seat,
}

impl FromRequestParts<Arc<App>> for Enrolled {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let refused = || {
            Problem::unauthorized(
                "this is for runners, and the token is not that of one; `terrane runners enrol` makes one",
            )
        };
        let token = bearer(&parts.headers)?.ok_or_else(refused)?;
        let (public, secret) = secret::split(token).filter(|(public, _)| is_public_part(public)).ok_or_else(refused)?;
        let runner = app.store.runner_by_prefix(public).await?.ok_or_else(refused)?;
        if !secret::proves(secret, &runner.hash) {
            return Err(refused());
        }
        app.note_runner_seen(runner.id);
        tracing::Span::current().record("actor", format!("runner:{}", runner.name));
        let seat = app.dispatcher.seat(Who::Enrolled { id: runner.id, name: runner.name.clone() });
        Ok(Enrolled { name: runner.name, seat })
    }
}
