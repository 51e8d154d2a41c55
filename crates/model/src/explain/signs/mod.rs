//! By what a failure is recognised: words that clouds, providers and Terraform itself use for the same meaning. In the
//! notation of [`Text::says`](super::text::Text::says).

mod access;
mod holds;
mod invalid;
mod limits;
mod machinery;
mod reach;

pub(super) use access::*;
pub(super) use holds::*;
pub(super) use invalid::*;
pub(super) use limits::*;
pub(super) use machinery::*;
pub(super) use reach::*;

/// Said in passing: what clients tell of themselves, advice, and the runner's own files. Left out before anything is read.
pub(super) const NOISE: &[&str] = &[
    "client rate limiter wait returned an error",
    "rate: wait(n=*",
    "failed to get rate limit token",
    "retry quota exceeded",
    "exceeded maximum number of attempts",
    "maximum number of retries",
    "maximum number of characters",
    "hop limit",
    "limit of .. characters",
    "if it already exists",
    "if the .. already exists",
    "if one already exists",
    "unless .. already exists",
    "whether .. already exists",
    "ensure .. already exists",
    "check that .. already exists",
    "fork/exec .. permission denied",
    "open .. permission denied",
    "mkdir .. permission denied",
];
