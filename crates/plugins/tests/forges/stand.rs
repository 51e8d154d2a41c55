//! What both stand-ins are made of: a socket, a request in parts, and faults that are asked for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, Response, StatusCode};
use serde_json::{Value, json};

/// What goes wrong with a request.
#[derive(Clone)]
pub enum Fault {
    /// It is answered like this, and nothing is done.
    Instead(u16, Vec<(&'static str, String)>, Value),
    /// It is done, and answered like this.
    After(u16),
    /// It is done, and the answer breaks off.
    BreaksOff,
}

pub struct Asked {
    pub method: Method,
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub fn number(&self, name: &str, otherwise: usize) -> usize {
        self.query.get(name).map_or(otherwise, |text| text.parse().expect("a number"))
    }
}

/// A server's answer, or what is undocumented about the question.
pub type Told = Result<(u16, Vec<(&'static str, String)>, Value), String>;

pub fn told(status: u16, body: Value) -> Told {
    Ok((status, Vec::new(), body))
}

pub trait Forge: Send + 'static {
    const NAME: &'static str;

    fn ask(&mut self, asked: &Asked) -> Told;
}

pub struct Desk<F> {
    pub forge: F,
    faults: Vec<(String, Fault)>,
    /// What was asked though it is not documented.
    violations: Vec<String>,
    /// Every request, as `GET /path`.
    pub requests: Vec<String>,
    /// Every request in full, for `prism.mjs` to hold against the published description.
    exchanges: Vec<Value>,
}

/// A running stand-in. Fails the test if anything undocumented was asked.
pub struct Stand<F: Forge> {
    pub url: String,
    desk: Arc<Mutex<Desk<F>>>,
}

impl<F: Forge> Stand<F> {
    pub async fn start(forge: F) -> Stand<F> {
        let (faults, violations, requests, exchanges) = Default::default();
        let desk = Arc::new(Mutex::new(Desk { forge, faults, violations, requests, exchanges }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a stand-in");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let serving = Arc::clone(&desk);
        let router = Router::new().fallback(move |request: Request| answer(Arc::clone(&serving), request));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Stand { url, desk }
    }

    pub fn desk(&self) -> MutexGuard<'_, Desk<F>> {
        self.desk.lock().expect("no stand-in panicked")
    }

    /// The next request to a path that ends like this goes wrong.
    pub fn fail(&self, path_end: &str, fault: Fault) {
        self.desk().faults.push((path_end.to_owned(), fault));
    }

    pub fn count(&self, request: &str) -> usize {
        self.desk().requests.iter().filter(|made| made.contains(request)).count()
    }
}

impl<F: Forge> Drop for Stand<F> {
    fn drop(&mut self) {
        let Ok(desk) = self.desk.lock() else { return };
        write_down::<F>(&desk.exchanges);
        let violations = &desk.violations;
        assert!(std::thread::panicking() || violations.is_empty(), "undocumented: {violations:#?}");
    }
}

/// One file for each stand: tests run side by side.
fn write_down<F: Forge>(exchanges: &[Value]) {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(F::NAME);
    let number = WRITTEN.fetch_add(1, Ordering::SeqCst);
    let file = folder.join(format!("{}-{number}.json", std::process::id()));
    // Nothing depends on it here.
    let _ = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(file, json!(exchanges).to_string()));
}

async fn answer<F: Forge>(desk: Arc<Mutex<Desk<F>>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.expect("a stand-in");
    let pairs = parts.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decoded = percent_encoding::percent_decode_str(value).decode_utf8().expect("text");
        (name.to_owned(), decoded.into_owned())
    });
    let asked = Asked {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: query.collect(),
        headers: parts.headers,
        body: if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap_or(json!("not JSON")) },
    };
    let mut desk = desk.lock().expect("no stand-in panicked");
    desk.exchanges.push(json!({
        "method": asked.method.as_str(), "path": parts.uri.to_string(), "body": asked.body,
    }));
    desk.requests.push(format!("{} {}", asked.method, asked.path));
    let fault = desk.faults.iter().position(|(end, _)| asked.path.ends_with(end.as_str()));
    let fault = fault.map(|at| desk.faults.remove(at).1);
    if let Some(Fault::Instead(status, headers, body)) = fault {
        return respond(status, headers, Body::from(body.to_string()));
    }
    let (status, headers, body) = desk.forge.ask(&asked).unwrap_or_else(|why| {
        let violation = format!("{} {} {:?}: {why}", asked.method, asked.path, asked.query);
        desk.violations.push(violation.clone());
        (418, Vec::new(), json!({ "message": violation }))
    });
    let body = if body.is_null() { String::new() } else { body.to_string() };
    match fault {
        Some(Fault::After(status)) => respond(status, Vec::new(), Body::from("{}")),
        Some(Fault::BreaksOff) => {
            let broken = futures::stream::iter([Ok("{"), Err(std::io::Error::other("broken off"))]);
            respond(status, headers, Body::from_stream(broken))
        }
        _ => respond(status, headers, Body::from(body)),
    }
}

fn respond(status: u16, headers: Vec<(&'static str, String)>, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    for (name, value) in headers {
        response.headers_mut().insert(name, value.parse().expect("a header"));
    }
    response
}

/// Refuses what is not in the list.
pub fn only<'a>(what: &str, given: impl Iterator<Item = &'a String>, known: &[&str]) -> Result<(), String> {
    let unknown: Vec<_> = given.filter(|name| !known.contains(&name.as_str())).collect();
    if unknown.is_empty() { Ok(()) } else { Err(format!("{what} {unknown:?} are not documented")) }
}

/// A page of a list.
pub fn page(items: Vec<Value>, asked: &Asked, usual: usize) -> Vec<Value> {
    let (size, number) = (asked.number("per_page", usual).min(100), asked.number("page", 1));
    items.into_iter().skip(size * (number - 1)).take(size).collect()
}
