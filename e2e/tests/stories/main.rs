//! The product's promises, told from outside: one file per story, on both databases where it makes a difference.
//! `make test` starts the PostgreSQL that they need.
#![expect(clippy::disallowed_methods, reason = "a story starts programs")]

#[macro_use]
mod telling;

mod accounts;
mod architecture;
mod chaos;
mod controllers;
mod data_folder;
mod database_away;
mod failures;
mod kill;
mod runners;
mod seed_variables;
mod several_servers;
mod start;
mod state_service;
mod stop;
mod terraform;
mod tls;
mod tokens;
mod waiting;
