//! The simulated cloud under the real `terraform`, offline: each story in folders of its own.

mod commands;
mod drift;
mod failures;
mod kills;
mod lifecycle;
mod rig;
mod secrets;
mod together;
