//! The plugins there are, by name: the built-in ones, and those that the operator registers.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::plugin::Descriptor;

use crate::action::Action;
use crate::actions::{Settings, builtin};

/// All plugins.
#[derive(Clone, Default)]
pub struct Registry {
    actions: BTreeMap<String, Arc<dyn Action>>,
}

impl Registry {
    pub fn builtin(settings: Settings) -> Registry {
        let mut registry = Registry::default();
        builtin(settings).into_iter().for_each(|action| registry.register(action));
        registry
    }

    /// Adds a plugin under its name, in place of one that had it.
    pub fn register(&mut self, action: Arc<dyn Action>) {
        self.actions.insert(action.descriptor().name.clone(), action);
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn Action>> {
        self.actions.get(name).cloned()
    }

    /// Sorted.
    pub fn names(&self) -> Vec<String> {
        self.actions.keys().cloned().collect()
    }

    /// Sorted by name.
    pub fn descriptors(&self) -> Vec<Descriptor> {
        self.actions.values().map(|action| action.descriptor().clone()).collect()
    }
}
