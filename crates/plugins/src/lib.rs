//! Action plugins: how reality is changed. `action` is the contract as Rust sees it, `actions/` the built-in plugins,
//! `remote` the same contract over HTTP, `check` the conformance kit for plugin authors. Every call to the outside goes
//! through `door`; every expression is evaluated by `expr`.

mod action;
pub mod actions;
pub mod check;
mod disguise;
mod door;
mod expr;
mod registry;
mod remote;
mod schema;
mod secrets;

pub use action::{Action, Until, World};
pub use door::{Door, DoorError, DoorPolicy, Incoming, Lookup, Outgoing, SystemLookup};
pub use expr::{ExprError, Scope, evaluate, render, render_with_secrets};
pub use registry::Registry;
pub use remote::Remote;
pub use schema::contract_schema;
pub use secrets::{Secret, Secrets, references};
