//! The store's specification: every story is told on SQLite and on PostgreSQL, by the front door and on real databases.
//! `make test` starts the PostgreSQL.

#[macro_use]
mod stories;

mod acts;
mod db;
mod gate;
mod wire;

mod bell;
mod commit;
mod concurrency;
mod data;
mod deletion;
mod events;
mod events_under_way;
mod failures;
mod fleet;
mod history;
mod idempotency;
mod indexes;
mod isolation;
mod jobs;
mod labels;
mod migrations;
mod paging;
mod reconnect;
mod refusals;
mod resources;
mod tenants;
mod together;
mod tokens;
mod types;
