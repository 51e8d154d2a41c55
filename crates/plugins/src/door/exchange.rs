//! A request and its answer, as plugins see them.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// A request to the outside. Has no `Debug`: its parts may hold secrets.
#[derive(Clone)]
pub struct Outgoing {
    pub method: Method,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Less than the policy's, where the caller is in a hurry.
    pub timeout: Option<Duration>,
}

impl Outgoing {
    pub fn new(method: Method, url: impl Into<String>) -> Outgoing {
        Outgoing { method, url: url.into(), headers: Vec::new(), body: Vec::new(), timeout: None }
    }

    pub fn get(url: impl Into<String>) -> Outgoing {
        Outgoing::new(Method::GET, url)
    }

    pub fn post(url: impl Into<String>) -> Outgoing {
        Outgoing::new(Method::POST, url)
    }

    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Outgoing {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With this as its body and the content type that goes with it.
    pub fn json(mut self, body: &Value) -> Outgoing {
        self.body = body.to_string().into_bytes();
        self.header("Content-Type", "application/json")
    }

    pub fn within(mut self, timeout: Duration) -> Outgoing {
        self.timeout = Some(timeout);
        self
    }
}

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub struct Incoming {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Incoming {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header's value, where it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// How long the other side asks us to wait: seconds, or a date.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        let value = self.header("retry-after")?.trim();
        if let Ok(seconds) = value.parse() {
            return Some(seconds);
        }
        let at = httpdate::parse_http_date(value).ok()?;
        Some(at.duration_since(std::time::SystemTime::now()).map(|wait| wait.as_secs()).unwrap_or(0))
    }
}
