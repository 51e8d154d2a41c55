//! The API's stories, by the front door: HTTP on one side, a real database on the other, each on both databases.

mod harness;

mod accounts;
mod audit;
mod choices;
mod conditional_requests;
mod documentation;
mod documented_requests;
mod errors;
mod hostile_input;
mod idempotency;
mod isolation;
mod leaving;
mod lists;
mod live_logs;
mod loopback;
mod operations;
mod plugins;
mod resources;
mod runners;
mod secrets;
mod states;
mod tokens;
mod types;
mod watch;
mod webhooks;
