//! What templates promise.

mod checks;
mod lints;
mod roots;
mod sample;
