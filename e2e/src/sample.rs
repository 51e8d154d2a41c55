//! The type and the resources that stories are told with: database clusters, each different from its neighbours.

use serde_json::{Value, json};

pub fn database_cluster() -> Value {
    json!({
        "name": "DatabaseCluster",
        "version": "v1",
        "description": "Managed database cluster",
        "schema": {
            "type": "object",
            "required": ["engine", "engine_version", "instance_class", "storage_gb"],
            "properties": {
                "engine": { "type": "string", "enum": ["postgres", "mysql", "mariadb"] },
                "engine_version": { "type": "string" },
                "instance_class": { "type": "string" },
                "storage_gb": { "type": "integer", "minimum": 10, "maximum": 100_000 },
                "replicas": { "type": "integer", "minimum": 0, "maximum": 5, "default": 0 },
                "backup_retention_days": { "type": "integer", "minimum": 1, "maximum": 35, "default": 7 },
                "high_availability": { "type": "boolean", "default": false }
            }
        }
    })
}

pub fn name_of(number: usize) -> String {
    format!("cluster-{number:05}")
}

/// The body that asks for the resource of this number.
pub fn resource(number: usize) -> Value {
    json!({
        "name": name_of(number),
        "resource_type_name": "DatabaseCluster",
        "resource_type_version": "v1",
        "action_plugin": "github_actions",
        "labels": { "shard": (number % 16).to_string(), "number": number.to_string() },
        "spec": {
            "engine": "postgres",
            "engine_version": format!("16.{number}"),
            "instance_class": "db.large",
            "storage_gb": 10 + number,
            "replicas": 2,
            "high_availability": true
        }
    })
}

/// Its spec as the server keeps it, with the schema's defaults.
pub fn spec_of(number: usize) -> Value {
    let mut body = resource(number);
    body["spec"]["backup_retention_days"] = json!(7);
    body["spec"].take()
}
