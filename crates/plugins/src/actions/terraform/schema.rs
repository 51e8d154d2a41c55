//! What the plugin says of itself.

use model::plugin::{CONTRACT, Descriptor, Step};
use serde_json::{Value, json};

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "terraform".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        contracts: vec![CONTRACT.into()],
        description: "Applies a Terraform root module on a runner, and keeps its state".into(),
        steps: vec![Step::Validate, Step::Apply, Step::Observe, Step::Destroy],
        config_schema: config_schema(),
    }
}

fn config_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "source": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "git": { "type": "string", "description": "The address of a Git repository: https, ssh or file" },
                    "ref": { "type": "string", "description": "A tag, branch or commit; the default branch if left out" },
                    "path": { "type": "string", "description": "The folder of the root module; without `git`, on the runner" }
                },
                "description": "Where the root module comes from; its values may be expressions, `${…}`"
            },
            "variables": {
                "type": "object",
                "description": "Values of the root module's variables, which may be expressions; the spec itself if left \
                                out. {\"secret\": NAME} hands a secret over by the environment"
            },
            "environment": {
                "type": "object",
                "description": "Environment variables for Terraform and its providers, such as AWS_REGION; values may be \
                                expressions or {\"secret\": NAME}"
            },
            "account": {
                "type": "string",
                "description": "The cloud account whose credentials the run gets, and no other's; may be an expression"
            },
            "approval": {
                "enum": ["auto", "manual", "destroys"],
                "description": "Whose consent an apply needs: nobody's (the default), a person's for every change, or a \
                                person's where something would be deleted or replaced"
            },
            "on_failure": {
                "enum": ["cleanup", "keep", "ask"],
                "description": "What becomes of what a failed first provision has made: destroyed again (the default), kept, \
                                or left as it is until a person chooses"
            },
            "runner": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Labels that the runner has to have, such as region; any runner of the tenant if left out"
            },
            "timeout": {
                "type": ["integer", "string"],
                "description": "How long a run may take: seconds, or a text such as `30m`, the default"
            }
        }
    })
}
