//! Stories of the runner's library, told with the real Terraform, Git and kernel. They need root: isolation is what they are about.
#![expect(clippy::unwrap_used, reason = "a story that cannot go on should stop right there")]

mod approval;
mod goals;
mod hostile;
mod installed;
mod killed;
mod lease;
mod limits;
mod logs;
mod rig;
mod secrets;
mod sources;
mod stopped;
