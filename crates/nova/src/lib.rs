//! Templates. A blueprint (`blueprint`) names modules, how they fit together, what a user may set and by which rules; `check` tells
//! what is wrong with a user's wishes before Terraform ever runs, by the blueprint and the provider's `catalogue`; `render` writes
//! the Terraform root, `kind` the resource type that a blueprint becomes. Expressions, here and elsewhere, are `expr`.
//!
//! Nothing here reads a file or the network: texts come in, texts go out.

mod blueprint;
mod catalogue;
mod change;
mod check;
pub mod expr;
mod hcl;
mod kind;
mod lint;
mod nearest;
mod render;
mod version;

pub use blueprint::{Blueprint, BlueprintError, Component, Input, Output, Provider, Rule};
pub use catalogue::{Catalogue, CatalogueError, InstanceType, KubernetesVersion, Region};
pub use change::check_change;
pub use check::{Refusal, Wish, check};
pub use kind::{Kind, kind_of};
pub use lint::{Interface, Interfaces, Takes, lint};
pub use render::{GIVEN, RenderError, Root, render};
pub use version::Version;
