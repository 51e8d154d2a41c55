//! Expressions: `${…}` in a plugin's configuration is CEL. Users write them, so they are measured before they are
//! parsed (`limits`) and priced before they are run (`price`): no expression can stall the controller.

mod call_price;
mod convert;
mod error;
mod lex;
mod limits;
mod price;
mod render;
mod run;
mod scope;
mod template;

pub use error::ExprError;
pub(crate) use error::shortened;
pub(crate) use render::fill;
pub use render::{render, render_with_secrets};
pub use run::evaluate;
pub use scope::Scope;
