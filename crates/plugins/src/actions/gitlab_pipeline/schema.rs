//! What the plugin says of itself.

use model::plugin::{CONTRACT, Descriptor, Step};
use serde_json::{Value, json};

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "gitlab_pipeline".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        contracts: vec![CONTRACT.into()],
        description: "Runs a GitLab CI pipeline and follows it to the end".into(),
        steps: vec![Step::Validate, Step::Plan, Step::Apply, Step::Destroy],
        config_schema: config_schema(),
    }
}

fn config_schema() -> Value {
    let name = |description: &str| json!({ "type": ["string", "integer", "null"], "description": description });
    let values = |description: &str| json!({ "type": "object", "description": description });
    let time = |description: &str| json!({ "type": ["integer", "string", "null"], "description": description });
    let secret = |description: &str| {
        json!({
            "type": ["object", "null"],
            "required": ["secret"],
            "properties": { "secret": { "type": "string" } },
            "additionalProperties": false,
            "description": description
        })
    };
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "project": name("The project's path, as `group/project`, or its id; may be an expression, `${…}`"),
            "ref": name("The branch or tag to run on; may be an expression. The default branch if left out"),
            "variables": values("The pipeline's variables; their values may be expressions"),
            "inputs": values("The pipeline's inputs (GitLab 17.10); their values may be expressions"),
            "marker_variable": {
                "type": ["string", "null"],
                "description": "The variable by which a pipeline is found whose creation went unanswered; \
                                `TERRANE_MARKER` if left out, none if null"
            },
            "webhook": { "type": "boolean", "description": "A webhook of the project is set up to wake us" },
            "start_timeout": time("How long a pipeline may be pending: seconds, or a text such as `30m`, the default"),
            "timeout": time("How long a pipeline may take; `6h` by default"),
            "api_url": { "type": ["string", "null"], "description": "Of a GitLab of one's own: https://host/api/v4" },
            "token": secret("The secret that holds the access token, with the scope `api`"),
            "trigger_token": secret("The secret that holds a pipeline trigger token, to start pipelines with"),
            "destroy": { "type": "boolean", "description": "Whether a pipeline makes the resource gone" },
            "destroy_ref": name("The branch or tag that it runs on; as `ref` if left out"),
            "destroy_variables": values("Its variables; their values may be expressions"),
            "destroy_inputs": values("Its inputs; their values may be expressions")
        }
    })
}
