//! Types with their compiled schemas. A schema is compiled once per version of its type; which version is in force is
//! asked of the store at most once a second, and the write itself refuses if that has changed meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::schema::{Schema, Violation};
use model::{Scope, TenantId, TypeId};
use serde_json::Value;
use store::{Store, StoredType};
use tokio::sync::Semaphore;

use crate::problem::Problem;

const BELIEVED_FOR: Duration = Duration::from_secs(1);
/// Past this many the cache starts anew: simpler than an order of use, and rare.
const KEPT: usize = 512;
/// Documents up to about this size are checked where they arrive; larger ones on a thread of their own.
const SMALL: usize = 16 * 1024;

/// A type and its schema, ready to use.
#[derive(Clone)]
pub struct CatalogueEntry {
    pub stored: Arc<StoredType>,
    pub schema: Arc<Schema>,
}

type Name = (TenantId, String, String);

pub struct Catalogue {
    store: Store,
    compiled: Mutex<HashMap<(TypeId, i64), Arc<Schema>>>,
    believed: Mutex<HashMap<Name, (Instant, CatalogueEntry)>>,
    /// Large documents are validated a few at a time, so that they cannot take the machine.
    threads: Arc<Semaphore>,
}

impl Catalogue {
    pub fn new(store: Store) -> Catalogue {
        Catalogue {
            store,
            compiled: Mutex::default(),
            believed: Mutex::default(),
            threads: Arc::new(Semaphore::new(2)),
        }
    }

    /// The type that this tenant means by the name.
    pub async fn entry(&self, scope: &Scope, name: &str, version: &str) -> Result<CatalogueEntry, Problem> {
        let key = (scope.id, name.to_string(), version.to_string());
        if let Some(entry) = self.believed(&key) {
            return Ok(entry);
        }
        let stored = self.store.resource_type_by_name(scope, name, version).await.map_err(|error| match error.into() {
            Problem { status: 404, detail, .. } => Problem::not_found(format!(
                "{detail}; create it first (POST /api/v1/resource-types), or choose one of GET /api/v1/resource-types"
            )),
            problem => problem,
        })?;
        let schema = self.compiled(&stored).await?;
        let entry = CatalogueEntry { stored: Arc::new(stored), schema };
        if let Ok(mut believed) = self.believed.lock() {
            if believed.len() >= KEPT {
                believed.clear();
            }
            believed.insert(key, (Instant::now(), entry.clone()));
        }
        Ok(entry)
    }

    /// Ask the store again next time.
    pub fn forget(&self) {
        if let Ok(mut believed) = self.believed.lock() {
            believed.clear();
        }
    }

    fn believed(&self, key: &Name) -> Option<CatalogueEntry> {
        let believed = self.believed.lock().ok()?;
        let (since, entry) = believed.get(key)?;
        (since.elapsed() < BELIEVED_FOR).then(|| entry.clone())
    }

    async fn compiled(&self, stored: &StoredType) -> Result<Arc<Schema>, Problem> {
        let key = (stored.body.id, stored.body.resource_version);
        if let Some(schema) = self.compiled.lock().ok().and_then(|compiled| compiled.get(&key).cloned()) {
            return Ok(schema);
        }
        let schema = self.compile(stored.body.schema.clone()).await?;
        if let Ok(mut compiled) = self.compiled.lock() {
            if compiled.len() >= KEPT {
                compiled.clear();
            }
            compiled.insert(key, schema.clone());
        }
        Ok(schema)
    }

    /// Check and compile a schema, away from the threads that serve.
    pub async fn compile(&self, schema: Value) -> Result<Arc<Schema>, Problem> {
        let compiled = self.aside(move || Schema::compile(&schema)).await?;
        compiled.map(Arc::new).map_err(|violations| Problem::violations("the schema cannot be used", violations))
    }

    /// Fill in defaults and validate.
    pub async fn admit(&self, schema: &Arc<Schema>, spec: Value) -> Result<Value, Problem> {
        let admitted = if weight(&spec, SMALL) < SMALL {
            schema.admit(spec)
        } else {
            let schema = schema.clone();
            self.aside(move || schema.admit(spec)).await?
        };
        admitted.map_err(|violations| Problem::violations("the spec breaks its type's schema", violations))
    }

    /// Which of these specs the schema refuses, and why.
    pub async fn broken(&self, schema: &Arc<Schema>, specs: Vec<(String, i64, Value)>) -> Result<Vec<String>, Problem> {
        let schema = schema.clone();
        self.aside(move || broken(&schema, specs)).await
    }

    async fn aside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
        let stopped = |_| Problem::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
        let permit = self.threads.clone().acquire_owned().await.map_err(|_| stopped(()))?;
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
        .map_err(|_| stopped(()))
    }
}

pub fn broken(schema: &Schema, specs: Vec<(String, i64, Value)>) -> Vec<String> {
    let explain = |name: &str, violations: Vec<Violation>| {
        let reasons: Vec<_> = violations.iter().take(3).map(ToString::to_string).collect();
        format!("{name} ({})", reasons.join(", "))
    };
    specs
        .into_iter()
        .filter_map(|(name, _, spec)| schema.admit(spec).err().map(|violations| explain(&name, violations)))
        .collect()
}

/// About how much work a document is, counted no further than `enough`.
fn weight(value: &Value, enough: usize) -> usize {
    let mut total = 0;
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        total += match value {
            Value::String(text) => 8 + text.len(),
            Value::Array(items) => {
                rest.extend(items);
                8
            }
            Value::Object(fields) => {
                rest.extend(fields.values());
                8 + fields.keys().map(String::len).sum::<usize>()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        };
        if total >= enough {
            break;
        }
    }
    total
}
