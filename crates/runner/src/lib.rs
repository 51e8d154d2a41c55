//! Runs Terraform. A runner prepares a workspace (`workspace.rs`) for a job and starts a supervisor over it
//! (`supervised.rs`). The supervisor (`supervise/`) is a process of its own that outlives the runner: it runs the job's
//! steps in a box (`inside/`), writes down what happened, and fences itself by the lease. They speak through files only, so that
//! either can be killed at any instant.
//!
//! This is the only crate that starts processes. Only `serve/`, the runner's own loop, talks to the control plane, and
//! only through `link`.

mod beneath;
mod error;
mod identity;
mod inside;
mod lease;
mod metadata;
mod obituary;
mod processes;
mod progress;
mod replace;
mod serve;
mod settings;
mod settled;
mod state_copy;
mod stop;
mod supervise;
mod supervised;
mod wire;
mod workspace;

pub use error::Error;
pub use inside::inside;
pub use lease::{BootTime, Lease};
pub use metadata::{MetadataBlock, block_metadata};
pub use progress::{Kind, Phase, Progress, Stage};
pub use serve::{Runner, RunnerSettings};
pub use settings::{Settings, UidRange};
pub use stop::Stop;
pub use supervise::supervise;
pub use supervised::Supervised;
pub use workspace::Workspace;
