//! What GitHub and GitLab have in common: work is started there by one request, runs for minutes or hours, and is looked
//! at until it has ended. The one request is the hard part, for it must not be made twice and its answer can be lost.
//!
//! So an intent, with a random nonce, is written down (a `wait` of zero seconds) before the request is sent. Whoever is
//! called with that intent asks whether the request may be out already:
//!
//! * The nonce is in this process's memory of intents that it wrote and has not acted upon (`Unsent`): nothing was
//!   sent. The nonce is taken out, and the request goes.
//! * It is not (the process died, or another one took over) or the answer did not arrive. With a marker, which the
//!   run carries and shows, the run is looked for until it would have shown up; found, it is followed, and not
//!   found, the request is sent once more. Without a marker nobody can tell, so it stops and asks a person. A
//!   dispatch is therefore made exactly once with a marker, at most once without.
//! * The forge refused the request: nothing happened there. That is remembered by dropping the intent from the
//!   resource's memory, and whoever finds an intent that memory does not know starts afresh.
//!
//! The intent is in the resource's memory too, since an operation can be superseded, or the resource deleted, before the
//! answer is known: the next operation first finds out what became of it. Two runs for one resource never overlap by our
//! doing: a run under way is followed if it does what is wanted, and waited for if it does not.

mod ask;
mod checkpoint;
mod clock;
mod credential;
mod decide;
mod drive;
mod duration;
mod earlier;
mod follow;
mod marker;
mod memory;
mod run;
mod unsent;
mod work;

pub use clock::Clock;

pub(crate) use checkpoint::Intent;
pub(crate) use credential::{Credential, Operator, credential};
pub(crate) use decide::Pace;
pub(crate) use drive::{Errand, Goal, drive};
pub(crate) use duration::Seconds;
pub(crate) use marker::{carries, looks_like_one};
pub(crate) use memory::Memory;
pub(crate) use run::{Dispatched, End, Forge, Found, Look, Progress, Run, Trouble};
pub(crate) use unsent::Unsent;
pub(crate) use work::{digest, scalar};
