//! The simulated cloud under the real `terraform`, offline: each story in folders of its own.

mod catalogue;
mod clouds;
mod clusters;
mod commands;
mod drift;
mod failures;
mod faults;
mod kills;
mod lifecycle;
mod refusals;
mod rig;
mod secrets;
mod together;
