//! The requests, as bytes. The body is the one of the specification's example, each with a name of its own.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

pub fn post(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
    format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// The type of the specification's example, word for word.
pub fn database_cluster() -> Value {
    json!({
        "name": "DatabaseCluster",
        "version": "v1",
        "description": "Managed database cluster",
        "schema": {
            "type": "object",
            "required": ["engine", "engine_version", "instance_class", "storage_gb"],
            "properties": {
                "engine": {
                    "type": "string",
                    "enum": ["postgres", "mysql", "mariadb"],
                    "description": "Database engine type"
                },
                "engine_version": { "type": "string", "description": "Database engine version" },
                "instance_class": {
                    "type": "string",
                    "description": "Instance size class (e.g. db.small, db.medium, db.large)"
                },
                "storage_gb": {
                    "type": "integer",
                    "minimum": 10,
                    "maximum": 10_000,
                    "description": "Storage size in GB"
                },
                "replicas": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 5,
                    "default": 0,
                    "description": "Number of read replicas"
                },
                "backup_retention_days": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 35,
                    "default": 7,
                    "description": "Number of days to retain backups"
                },
                "high_availability": {
                    "type": "boolean",
                    "default": false,
                    "description": "Enable multi-AZ high availability"
                }
            }
        }
    })
}

/// The resource of the specification's example.
pub fn resource(name: &str, plugin: &str) -> Value {
    json!({
        "name": name,
        "resource_type_name": "DatabaseCluster",
        "resource_type_version": "v1",
        "action_plugin": plugin,
        "spec": {
            "engine": "postgres",
            "engine_version": "16.2",
            "instance_class": "db.large",
            "storage_gb": 500,
            "replicas": 2,
            "backup_retention_days": 14,
            "high_availability": true
        }
    })
}

const PLACE: &str = "0000000000";

/// Creates, each of a name that was not given before.
pub struct Creates {
    template: Vec<u8>,
    at: usize,
    next: AtomicUsize,
}

impl Creates {
    /// Of this plugin, numbered from `first` on.
    pub fn of(plugin: &str, first: usize) -> Creates {
        let template = post("/api/v1/resources", &resource(&format!("production-pg-{PLACE}"), plugin));
        let at = template.windows(PLACE.len()).position(|bytes| bytes == PLACE.as_bytes()).unwrap_or(0);
        Creates { template, at, next: AtomicUsize::new(first) }
    }

    pub fn fill(&self, request: &mut Vec<u8>) {
        request.clone_from(&self.template);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let digits = format!("{number:0width$}", width = PLACE.len());
        request[self.at..self.at + PLACE.len()].copy_from_slice(digits.as_bytes());
    }
}
