//! The JSON Schema of the configuration.

use serde_json::{Value, json};

pub fn schema() -> Value {
    let text = |description: &str| json!({ "description": description });
    let map = |description: &str| json!({ "description": description, "type": "object" });
    let poll = json!({
        "description": "Ask until it is ready.",
        "type": "object",
        "additionalProperties": false,
        "required": ["until"],
        "properties": {
            "path": text("Below `base_url`."),
            "url": text("Instead of `path`."),
            "headers": map("Sent with it."),
            "every_seconds": { "type": "integer", "minimum": 1, "default": 5 },
            "until": { "description": "An expression: true when it is ready.", "type": "string" },
            "fail_if": { "description": "An expression: true when it failed.", "type": "string" },
            "timeout_seconds": { "type": "integer", "minimum": 1, "default": 3600 },
            "outputs": map("What it puts out, made from the last answer."),
        },
    });
    let request = |description: &str, method: &str| {
        json!({
            "description": description,
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "method": { "type": "string", "default": method },
                "path": text("Below `base_url`."),
                "url": text("Instead of `path`."),
                "headers": map("Sent with it."),
                "query": map("Put behind the question mark."),
                "body": text("Sent as JSON, unless it is a string."),
                "expect": { "description": "The statuses that mean success.", "type": "array", "items": { "type": "integer" } },
                "idempotency_header": { "type": "string", "default": "Idempotency-Key" },
                "outputs": map("What it puts out, made from the answer."),
                "id": { "description": "An expression: what the thing is called.", "type": "string", "default": "response.body.id" },
                "poll": poll,
                "compare": map("Of `read`: by name, what is `expected` and what is `found`."),
            },
        })
    };
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["create"],
        "properties": {
            "base_url": text("What the paths are below."),
            "headers": map("Sent with every request. A list is joined: `[\"Bearer \", {\"secret\": \"token\"}]`."),
            "create": request("Makes it.", "POST"),
            "update": request("Changes it; as `create`, if not given.", "POST"),
            "read": request("Looks at it, for drift.", "GET"),
            "delete": request("Removes it.", "DELETE"),
        },
    })
}
