//! What an update may not do: a cluster stays in its region, and goes up one version at a time.

use serde_json::{Value, json};

use crate::blueprint::Blueprint;
use crate::check::{PROVIDER, Refusal, Wish, broken};
use crate::expr::Scope;

/// What is wrong with going from `old` to `new`.
pub fn check_change(blueprint: &Blueprint, old: &Value, new: &Wish) -> Vec<Refusal> {
    let scope =
        Scope::default().with("old", old.clone()).with("spec", new.spec.clone()).with(PROVIDER, json!(new.provider));
    broken(&blueprint.changes, &scope)
}
