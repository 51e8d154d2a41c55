//! Expressions: `${…}` in a plugin's configuration or a blueprint is CEL. Users write them, so they are measured before they are
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

pub use error::{ExprError, shortened};
pub use render::{StandsFor, fill, render, render_with};
pub use run::{evaluate, legal};
pub use scope::Scope;
