//! A client of the API, as thin as can be: status, headers and JSON.

use std::sync::Once;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Certificate, Client, Method, RequestBuilder};
use serde_json::Value;

#[derive(Clone)]
pub struct Api {
    base: String,
    client: Client,
    token: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// The body, where the request succeeded.
    pub fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.body);
        self.body
    }
}

impl Api {
    pub fn at(base: &str) -> Api {
        // Only there to fail visibly: no story waits this long for one answer.
        let client = builder().timeout(Duration::from_secs(50)).build().expect("an HTTP client");
        Api { base: base.into(), client, token: None }
    }

    /// One that trusts only this certificate.
    pub fn trusting(&self, pem: &[u8]) -> Api {
        let certificate = Certificate::from_pem(pem).expect("a certificate in PEM");
        let client = builder().tls_certs_only([certificate]).build().expect("an HTTPS client");
        Api { client, ..self.clone() }
    }

    pub fn with_token(&self, token: &str) -> Api {
        Api { token: Some(token.into()), ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// No answer, where the connection failed or broke off.
    pub async fn send(&self, request: RequestBuilder) -> Option<Answer> {
        let response = request.send().await.ok()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await.ok()?;
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into());
        Some(Answer { status, headers, body })
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await.expect("the server answers")
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.try_post(path, body).await.expect("the server answers")
    }

    pub async fn try_post(&self, path: &str, body: &Value) -> Option<Answer> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// A post that may be sent again: what was done for this key is not done anew. Its status, where somebody answers.
    pub async fn try_post_by_key(&self, path: &str, body: &Value, key: &str) -> Option<u16> {
        let request = self.request(Method::POST, path).header("idempotency-key", key).json(body);
        self.send(request).await.map(|answer| answer.status)
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await.expect("the server answers")
    }

    /// A body that is no JSON.
    pub async fn text(&self, path: &str) -> String {
        let answer = self.request(Method::GET, path).send().await.expect("the server answers");
        answer.text().await.expect("a text")
    }

    /// What `/ready` says, where anybody answers.
    pub async fn ready(&self) -> Option<u16> {
        let request = self.request(Method::GET, "/ready").timeout(Duration::from_secs(10));
        Some(request.send().await.ok()?.status().as_u16())
    }

    /// All pages of a list.
    pub async fn all(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut next = Some(path.to_string());
        while let Some(path) = next {
            let answer = self.get(&path).await;
            next = answer.header("link").split_once('>').map(|(link, _)| link.trim_start_matches('<').to_string());
            match answer.ok() {
                Value::Array(page) => items.extend(page),
                other => panic!("{path} is not a list: {other}"),
            }
        }
        items
    }
}

fn builder() -> reqwest::ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder().no_proxy().pool_max_idle_per_host(256)
}
