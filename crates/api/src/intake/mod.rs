//! The way in for every change of the desired state: check names, validate the spec, write. It knows nothing of HTTP, so
//! that an input other than the API does exactly the same.

mod accounts;
mod catalogue;
mod choices;
mod leaving;
mod once;
mod resources;
mod secrets;
mod states;
mod types;

pub use accounts::AccountBody;
pub use catalogue::Catalogue;
pub use leaving::{FinalizersBody, Forgotten};
pub use once::{Terms, Written};
pub use resources::{Edit, NewResourceBody, ResourceUpdate};
pub use secrets::SecretBody;
pub use states::locked;
pub use types::{NewTypeBody, TypeUpdate};
