//! The engine's stories, on both databases. The outside world is a script: what it is asked and what came of it is on
//! record there.

#[macro_use]
mod harness;
#[path = "../../../store/tests/conformance/db.rs"]
#[expect(dead_code, reason = "the conformance suite asks more of it")]
mod db;
mod outside;

mod deletion;
mod drift;
mod fairness;
mod fencing;
mod interleavings;
mod lifecycle;
mod requests;
mod retries;
mod running;
