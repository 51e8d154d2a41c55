//! The command line's stories: the real program against a real server, seen as a user sees it: standard output, standard
//! error and exit code.
#![expect(clippy::disallowed_methods, reason = "a story starts the programs it is about")]
#![expect(clippy::unwrap_used, reason = "a story that cannot go on should stop right there")]

mod addressing;
mod apply;
mod choices;
mod contexts;
mod delete;
mod diff;
mod exit_codes;
mod files;
mod forget;
mod get;
mod looking;
mod operations;
mod pipes;
mod runners;
mod secrets;
mod server_side;
mod stage;
mod strange_servers;
mod tokens;
mod wait;
mod watch;
