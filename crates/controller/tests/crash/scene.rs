//! What is going on when the process dies.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scene {
    Create,
    Update,
    Delete,
    Drift,
    Waiting,
}

impl Scene {
    /// What the plugin does, once the scene is set.
    pub fn script(self) -> Value {
        match self {
            Scene::Create | Scene::Update => json!({ "apply": ["intent", "act", "done"] }),
            Scene::Delete => json!({ "destroy": ["intent", "act", "done"] }),
            Scene::Drift => json!({ "apply": ["intent", "act", "done"], "observe": [] }),
            Scene::Waiting => json!({ "apply": ["intent", "act", "wait", "done"] }),
        }
    }

    /// Whether the resource is there already when the scene begins.
    pub fn begins_with_a_resource(self) -> bool {
        matches!(self, Scene::Update | Scene::Delete | Scene::Drift)
    }

    /// The effect that there has to be, by the beginning of its key.
    pub fn effect(self) -> &'static str {
        match self {
            Scene::Create | Scene::Waiting => "apply created",
            Scene::Update => "apply updated",
            Scene::Delete => "destroy deleted",
            Scene::Drift => "apply drifted",
        }
    }

    /// What has to be in the database in the end: a count of one.
    pub fn goal(self) -> &'static str {
        match self {
            Scene::Create | Scene::Waiting => {
                "SELECT count(*) FROM resources WHERE lifecycle = 'active' AND observed_generation = 1"
            }
            Scene::Update => "SELECT count(*) FROM resources WHERE lifecycle = 'active' AND observed_generation = 2",
            Scene::Delete => "SELECT count(*) FROM resources WHERE lifecycle = 'deleted' AND deleted_at IS NOT NULL",
            Scene::Drift => "SELECT count(*) FROM operations WHERE reason = 'drifted' AND state = 'succeeded'",
        }
    }
}
