//! What the plugin says of itself.

use model::plugin::{CONTRACT, Descriptor, Step};
use serde_json::{Value, json};

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "github_actions".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        contracts: vec![CONTRACT.into()],
        description: "Dispatches a GitHub Actions workflow and follows its run to the end".into(),
        steps: vec![Step::Validate, Step::Plan, Step::Apply, Step::Destroy],
        config_schema: config_schema(),
    }
}

fn config_schema() -> Value {
    let name = |description: &str| json!({ "type": ["string", "integer", "null"], "description": description });
    let inputs = |description: &str| json!({ "type": "object", "description": description });
    let time = |description: &str| json!({ "type": ["integer", "string", "null"], "description": description });
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "owner": name("The repository's owner; may be an expression, `${…}`"),
            "repo": name("The repository's name; may be an expression"),
            "workflow": name("The workflow's file name or id; may be an expression"),
            "ref": name("The branch or tag to run on; may be an expression. The default branch if left out"),
            "inputs": inputs("The workflow's inputs; their values may be expressions"),
            "marker_input": {
                "type": ["string", "null"],
                "description": "An input that the workflow shows in its `run-name`; a run whose dispatch went unanswered \
                                is found by it"
            },
            "webhook": { "type": "boolean", "description": "A webhook of the repository is set up to wake us" },
            "start_timeout": time("How long a run may be queued: seconds, or a text such as `30m`, which is the default"),
            "timeout": time("How long a run may take; `6h` by default"),
            "api_url": { "type": ["string", "null"], "description": "Of a GitHub Enterprise Server: https://host/api/v3" },
            "token": {
                "type": ["object", "null"],
                "required": ["secret"],
                "properties": { "secret": { "type": "string" } },
                "additionalProperties": false,
                "description": "The secret that holds the token, with the scopes `repo` and `workflow`"
            },
            "destroy_workflow": name("The workflow that makes the resource gone, if there is one"),
            "destroy_inputs": inputs("Its inputs; their values may be expressions")
        }
    })
}
