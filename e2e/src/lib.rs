//! What the stories stand on: the real program started as a user starts it, on a database of its own, spoken to only by
//! its arguments, its environment, its signals and its HTTP. Nothing here knows the product's code.
#![expect(clippy::disallowed_methods, reason = "the stories start the program and read what `make test` tells them")]

mod api;
mod broker;
pub mod cloud;
mod crowd;
mod database;
mod house;
mod outside;
mod postgres;
pub mod processes;
mod program;
mod proxy;
mod sample;
mod server;
mod wait;
mod watch;

pub use api::{Answer, Api};
pub use broker::Broker;
pub use crowd::{Crowd, settle};
pub use database::Database;
pub use house::{House, Runner};
pub use outside::Outside;
pub use postgres::Postgres;
pub use program::{Outcome, program, run};
pub use proxy::Proxy;
pub use sample::{database_cluster, name_of, resource, spec_of};
pub use server::{Holdings, Server, free_port};
pub use wait::{eventually, soon, until};
pub use watch::{Change, Watch};
