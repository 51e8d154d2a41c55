//! The plugins through their public face, with real sockets.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on should stop right there")]

mod conformance;
mod contract;
mod door;
mod expressions;
mod harness;
mod http;
mod noop;
mod registry;
mod remote;
mod secrets;
mod terraform;
mod told;
