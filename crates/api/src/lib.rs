//! Terrane's HTTP face. A handler authorises, calls one function of `intake` or the store, and converts.
//!
//! `intake` is the way in for every change of the desired state and knows nothing of HTTP, so that other inputs can use
//! it too. `caller` says who asks and in which tenant, `problem` turns every refusal into an answer a person can act on.

mod app;
mod body;
mod caller;
mod conditional;
mod engine;
mod enrolled;
mod guard;
pub mod intake;
mod listing;
mod log;
mod metrics;
mod openapi;
mod outputs;
mod params;
mod problem;
mod routes;
mod secret;
mod telemetry;
mod watch;

pub use app::{Access, App};
pub use engine::{Actions, Engine, Plugin, Register};
pub use openapi::document;
pub use problem::{Problem, Violation};
pub use routes::{probes, router};
pub use secret::new_token;
