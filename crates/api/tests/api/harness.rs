//! A server in this process, on a port of its own, over a fresh database.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use api::{Access, App, Engine};
use controller::Keyring;
use model::plugin::Changes;
use model::reconcile::{End, Report};
use model::{Actor, Ladder, Operation, ResourceId, Role, Scope};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use store::{Claim, Claimant, Conclusion, Location, NewToken, Store};

/// Each story runs on both databases.
macro_rules! stories {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::harness::Server::on_sqlite().await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::harness::Server::on_postgres().await).await;
            })+
        }
    };
}
pub(crate) use stories;

pub struct Server {
    pub address: SocketAddr,
    pub app: Arc<App>,
    pub location: Location,
    client: reqwest::Client,
    _dir: tempfile::TempDir,
}

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    pub fn detail(&self) -> &str {
        self.body["detail"].as_str().unwrap_or("")
    }
}

impl Server {
    pub async fn on_sqlite() -> Server {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let location = Location::Sqlite(dir.path().join("terrane.db"));
        Server::start(location, dir, Access::Open).await
    }

    pub async fn on_postgres() -> Server {
        Server::start(fresh_postgres().await, tempfile::tempdir().expect("a temporary folder"), Access::Open).await
    }

    async fn start(location: Location, dir: tempfile::TempDir, access: Access) -> Server {
        Store::migrate(&location).await.expect("the database migrates");
        let store = Store::open(&location).await.expect("the database opens");
        let app = App::new(store, access, engine());
        let address = listen(app.clone()).await;
        Server { address, app, location, client: client(), _dir: dir }
    }

    /// The same server asking for tokens, on another port.
    pub async fn asking_for_tokens(&self) -> Server {
        self.with_app(App::new(self.app.store.clone(), Access::Tokens, engine())).await
    }

    /// Another server on the same database.
    pub async fn with_app(&self, app: Arc<App>) -> Server {
        let address = listen(app.clone()).await;
        let dir = tempfile::tempdir().expect("a temporary folder");
        Server { address, app, location: self.location.clone(), client: client(), _dir: dir }
    }

    /// A token made straight in the store.
    pub async fn token(&self, tenant: &str, name: &str, role: Role) -> String {
        let scope = self.app.store.scope(tenant).await.expect("the tenant exists");
        let secret = api::new_token().expect("randomness");
        let new = NewToken {
            name: name.into(),
            role,
            expires_at: None,
            prefix: secret.prefix.clone(),
            hash: secret.hash.clone(),
        };
        self.app
            .store
            .write(0, move |tx| {
                let (scope, new) = (scope.clone(), new.clone());
                Box::pin(async move { tx.create_token(&scope, &Actor::system(), &new).await })
            })
            .await
            .expect("the token is made");
        secret.token
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.address.port())
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, self.url(path))
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        read(request.send().await.expect("the server answers")).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// A type that every story can use.
    pub async fn with_type(&self) -> Value {
        self.post("/api/v1/resource-types", &database_cluster()).await.expect(201)
    }

    /// A resource of that type.
    pub async fn with_resource(&self, name: &str) -> Value {
        self.post("/api/v1/resources", &resource(name)).await.expect(201)
    }

    /// What a controller does: claim a resource, and write down how that ended.
    pub async fn conclude(&self, id: i64, end: End, holds: Option<Vec<String>>) -> Operation {
        let claim = self.claim(id).await;
        let step = *claim.operation.body.kind.steps().last().expect("a step");
        let report = Report {
            step,
            attempt: 1,
            changes: Changes { created: 1, ..Changes::default() },
            checkpoint: Value::Null,
            end,
            outputs: None,
            memory: None,
            holds,
            job: None,
        };
        let operation = claim.operation.body.clone();
        let conclusion = Conclusion {
            claim,
            report,
            holder: "story".into(),
            ladder: Ladder::default(),
            drift_interval: Duration::from_secs(300),
            chance: 0.5,
        };
        let kept = self.app.store.conclude(vec![conclusion]).await.expect("written down");
        assert!(kept.contains(&ResourceId(id)), "the claim was lost");
        operation
    }

    pub async fn claim(&self, id: i64) -> Arc<Claim> {
        let claimant =
            Claimant { holder: "story".into(), lease: Duration::from_secs(30), trace_ids: vec!["trace-1".into()] };
        let claims = self.app.store.claim(vec![ResourceId(id)], claimant).await.expect("claimed");
        claims.into_iter().next().expect("it is due")
    }

    /// Change a row behind the API's back, as the engine will.
    pub async fn sql(&self, text: &'static str) {
        let url = match &self.location {
            Location::Sqlite(path) => format!("sqlite://{}", path.display()),
            Location::Postgres(url) => url.clone(),
        };
        let pool = sqlx::AnyPool::connect(&url).await.expect("the database is there");
        sqlx::query(text).execute(&pool).await.expect("the statement is right");
        pool.close().await;
    }
}

/// One key for all, as all servers of a database share it.
pub fn keyring() -> Keyring {
    Keyring::parse(&"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".into()).expect("a key")
}

fn engine() -> Engine {
    Engine { keyring: Some(Arc::new(keyring())), ..Engine::default() }
}

pub fn database_cluster() -> Value {
    json!({
        "name": "DatabaseCluster", "version": "v1", "description": "Managed database cluster",
        "schema": {
            "type": "object",
            "required": ["engine", "storage_gb"],
            "additionalProperties": false,
            "properties": {
                "engine": {"type": "string", "enum": ["postgres", "mysql"]},
                "storage_gb": {"type": "integer", "minimum": 10, "maximum": 10000},
                "replicas": {"type": "integer", "minimum": 0, "default": 0},
                "backup": {"type": "object", "default": {}, "properties": {"days": {"type": "integer", "default": 7}}},
            },
        },
    })
}

pub fn resource(name: &str) -> Value {
    json!({
        "name": name, "resource_type_name": "DatabaseCluster", "resource_type_version": "v1",
        "action_plugin": "noop", "spec": {"engine": "postgres", "storage_gb": 100},
    })
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
}

async fn listen(app: Arc<App>) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, api::router(app)).await });
    address
}

async fn read(response: Response) -> Answer {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.expect("a whole answer");
    assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR.as_u16(), "{text}");
    Answer { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::Null), text }
}

#[expect(clippy::disallowed_methods, reason = "the test run says where its PostgreSQL is")]
async fn fresh_postgres() -> Location {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let server =
        std::env::var("TERRANE_TEST_POSTGRES").expect("run the tests by `make test`, which starts a PostgreSQL");
    let name = format!("api_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    sqlx::any::install_default_drivers();
    let pool = sqlx::AnyPool::connect(&server).await.expect("PostgreSQL is there");
    sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&pool).await.expect("a fresh database");
    pool.close().await;
    let (base, _) = server.rsplit_once('/').expect("a URL with a database");
    Location::Postgres(format!("{base}/{name}"))
}

pub fn scope(name: &str, id: i64) -> Scope {
    Scope { id: model::TenantId(id), name: name.into() }
}
