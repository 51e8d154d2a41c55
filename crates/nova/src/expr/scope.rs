//! What an expression can see.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use model::plugin::Call;
use serde_json::{Value, json};

use super::convert::to_cel;

/// The variables of an expression. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    variables: BTreeMap<String, Arc<Variable>>,
}

#[derive(Debug)]
struct Variable {
    json: Value,
    /// The same, converted once for however many expressions.
    cel: OnceLock<Option<Box<dyn Val>>>,
}

impl VariableResolver for Scope {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        let variable = self.variables.get(name)?;
        let value = variable.cel.get_or_init(|| to_cel(&variable.json).try_into().ok());
        value.as_deref().map(CowVal::Borrowed)
    }
}

impl Scope {
    /// `resource`, `spec`, `outputs`, `memory` and `operation`, as the call gives them.
    pub fn of(call: &Call) -> Scope {
        let resource = &call.resource;
        Scope::default()
            .with(
                "resource",
                json!({
                    "id": resource.id,
                    "name": resource.name,
                    "tenant": resource.tenant,
                    "type_name": resource.type_name,
                    "type_version": resource.type_version,
                    "generation": resource.generation,
                    "labels": resource.labels,
                    "annotations": resource.annotations,
                }),
            )
            .with("spec", call.spec.clone())
            .with("outputs", call.outputs.clone())
            .with("memory", call.memory.clone())
            .with("operation", json!({ "id": call.operation.id, "reason": call.operation.reason }))
    }

    /// One variable more, or another value for one.
    pub fn with(mut self, name: &str, value: Value) -> Scope {
        self.variables.insert(name.to_owned(), Arc::new(Variable { json: value, cel: OnceLock::new() }));
        self
    }

    pub(super) fn json(&self, name: &str) -> Option<&Value> {
        self.variables.get(name).map(|variable| &variable.json)
    }

    /// For messages: what there is to refer to.
    pub(super) fn names(&self) -> String {
        self.variables.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}
