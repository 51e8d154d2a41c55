//! The API as the commands see it: requests that are repeated where that is safe, and refusals turned into failures.

use std::fs;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Answer, refusal};
use super::connection::Resolved;
use super::failure::{Code, Failure};
use super::meter::Meter;

/// How long to wait for an answer; streams excepted.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// A watch says something every ten seconds; one that is silent for this long is dead.
const SILENCE: Duration = Duration::from_secs(35);
/// How long to rest before each further try.
const TRIES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(300), Duration::from_millis(600)];
/// The largest page the server gives.
const PAGE: usize = 1000;

const TENANT: HeaderName = HeaderName::from_static("terrane-tenant");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub type Query<'a> = &'a [(&'a str, String)];

pub struct ApiClient {
    http: Client,
    server: Url,
    tenant: Option<HeaderValue>,
}

/// What is sent, so that it can be sent again.
#[derive(Clone)]
struct Request<'a> {
    method: Method,
    path: &'a str,
    query: Query<'a>,
    body: Option<Content<'a>>,
    key: Option<String>,
}

#[derive(Clone, Copy)]
enum Content<'a> {
    Value(&'a Value),
    /// JSON that is sent as it is.
    Text(&'a str),
}

impl ApiClient {
    pub fn new(connection: Resolved) -> Result<Self, Failure> {
        let mut headers = HeaderMap::new();
        if let Some(token) = &connection.token {
            let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| Failure::usage("the token holds characters that no token has"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let tenant = connection.tenant.as_deref().map(tenant_header).transpose()?;
        let mut builder = Client::builder()
            .user_agent(concat!("terrane/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(CONNECT_WITHIN)
            .read_timeout(SILENCE)
            // A redirect is a wrong address: say so, rather than lose a POST's body on the way.
            .redirect(reqwest::redirect::Policy::none());
        if let Some(path) = &connection.ca_cert {
            let wrong = |why: String| Failure::usage(format!("--ca-cert {}: {why}", path.display()));
            let pem = fs::read(path).map_err(|error| wrong(error.to_string()))?;
            let authorities = Certificate::from_pem_bundle(&pem).map_err(|error| wrong(error.to_string()))?;
            if authorities.is_empty() {
                return Err(wrong("holds no certificate in PEM form".into()));
            }
            builder = builder.tls_certs_merge(authorities);
        }
        let http = builder.build().map_err(|error| Failure::failed(format!("cannot make a client: {error}")))?;
        Ok(ApiClient { http, server: connection.server, tenant })
    }

    pub fn server(&self) -> &str {
        self.server.as_str().trim_end_matches('/')
    }

    /// The same client, in another tenant.
    pub fn in_tenant(mut self, tenant: &str) -> Result<Self, Failure> {
        self.tenant = Some(tenant_header(tenant)?);
        Ok(self)
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str, query: Query<'_>) -> Result<T, Failure> {
        self.ask(Request { method: Method::GET, path, query, body: None, key: None }).await?.json(self.server())
    }

    /// A POST under a fresh key, so that it may be sent again without being done twice.
    pub async fn post(&self, path: &str, query: Query<'_>, body: Option<&Value>) -> Result<Value, Failure> {
        let body = body.map(Content::Value);
        let request = Request { method: Method::POST, path, query, body, key: Some(fresh_key()?) };
        self.ask(request).await?.json(self.server())
    }

    /// A POST of JSON that must arrive byte for byte.
    pub async fn post_text(&self, path: &str, text: &str) -> Result<Value, Failure> {
        let body = Some(Content::Text(text));
        let request = Request { method: Method::POST, path, query: &[], body, key: Some(fresh_key()?) };
        self.ask(request).await?.json(self.server())
    }

    /// What the server answers, as it is.
    pub async fn get_text(&self, path: &str) -> Result<String, Failure> {
        self.ask(Request { method: Method::GET, path, query: &[], body: None, key: None }).await?.text(self.server())
    }

    pub async fn put(&self, path: &str, query: Query<'_>, body: &Value) -> Result<Value, Failure> {
        let request = Request { method: Method::PUT, path, query, body: Some(Content::Value(body)), key: None };
        self.ask(request).await?.json(self.server())
    }

    /// The object on its way out, where the server shows it.
    pub async fn delete(&self, path: &str, query: Query<'_>) -> Result<Option<Value>, Failure> {
        let request = Request { method: Method::DELETE, path, query, body: None, key: None };
        let answer = self.ask(request).await?;
        if answer.status == StatusCode::NO_CONTENT || answer.is_gone {
            Ok(None)
        } else {
            answer.json(self.server()).map(Some)
        }
    }

    /// All items of a list, or the first `most`, page by page.
    pub async fn list(&self, path: &str, query: Query<'_>, most: Option<usize>) -> Result<Vec<Value>, Failure> {
        let mut items = vec![];
        let mut pages = self.pages(path, query, most);
        while let Some(page) = pages.next().await? {
            items.extend(page);
        }
        Ok(items)
    }

    pub fn pages(&self, path: &str, query: Query<'_>, most: Option<usize>) -> Pages<'_> {
        let mut query = query.to_vec();
        query.push(("limit", most.unwrap_or(PAGE).clamp(1, PAGE).to_string()));
        let pairs: Vec<_> = query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        Pages { client: self, next: Some(format!("{path}?{}", pairs.join("&"))), left: most.unwrap_or(usize::MAX) }
    }

    async fn ask(&self, request: Request<'_>) -> Result<Answer, Failure> {
        let mut rests = TRIES.into_iter();
        let mut is_repeat = false;
        loop {
            let outcome = self.send(&request).await;
            let again = match &outcome {
                Err(error) => error.is_connect() || (!error.is_timeout() && !error.is_builder()),
                Ok(answer) => answer.status == StatusCode::SERVICE_UNAVAILABLE,
            };
            if let (true, Some(rest)) = (again, rests.next()) {
                let asked = outcome.as_ref().ok().and_then(|answer| answer.retry_after);
                tokio::time::sleep(asked.map_or(rest, |asked| asked.clamp(rest, Duration::from_secs(2)))).await;
                is_repeat = true;
                continue;
            }
            let mut answer = outcome.map_err(|error| self.unreachable(&error))?;
            // The first delete may have been done though its answer was lost.
            answer.is_gone = is_repeat && request.method == Method::DELETE && answer.status == StatusCode::NOT_FOUND;
            return if answer.status.is_success() || answer.is_gone {
                Ok(answer)
            } else {
                Err(refusal(&answer, self.server()))
            };
        }
    }

    async fn send(&self, request: &Request<'_>) -> reqwest::Result<Answer> {
        let mut builder = self
            .http
            .request(request.method.clone(), self.address(request.path))
            .query(request.query)
            .timeout(ANSWER_WITHIN);
        if let Some(tenant) = &self.tenant {
            builder = builder.header(TENANT, tenant);
        }
        if let Some(key) = &request.key {
            builder = builder.header(IDEMPOTENCY_KEY, key);
        }
        builder = match request.body {
            None => builder,
            Some(Content::Value(value)) => builder.json(value),
            Some(Content::Text(text)) => builder.header(CONTENT_TYPE, "application/json").body(text.to_owned()),
        };
        Answer::read(builder.send().await?).await
    }

    /// Open a stream of changes: it may take for ever, but not in silence.
    pub async fn open(&self, path: &str, query: Query<'_>) -> Result<reqwest::Response, Failure> {
        let mut builder = self.http.get(self.address(path)).query(query).header(ACCEPT, "application/x-ndjson");
        if let Some(tenant) = &self.tenant {
            builder = builder.header(TENANT, tenant);
        }
        let response = builder.send().await.map_err(|error| self.unreachable(&error))?;
        let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        if response.status().is_success() && kind.starts_with(b"application/x-ndjson") {
            return Ok(response);
        }
        let answer = Answer::read(response).await.map_err(|error| self.unreachable(&error))?;
        Err(refusal(&answer, self.server()))
    }

    /// Copy a job's log from this byte on to standard output, as it comes. Says how many bytes there were; a connection that
    /// is lost on the way is no failure, since the next one goes on from there.
    pub async fn copy_log(&self, job: i64, from: u64, follow: bool, meter: &Meter) -> Result<u64, Failure> {
        let query = [("from", from.to_string()), ("follow", follow.to_string())];
        let mut builder = self.http.get(self.address(&format!("/api/v1/jobs/{job}/log"))).query(&query);
        if let Some(tenant) = &self.tenant {
            builder = builder.header(TENANT, tenant);
        }
        let mut response = builder.send().await.map_err(|error| self.unreachable(&error))?;
        if !response.status().is_success() {
            let answer = Answer::read(response).await.map_err(|error| self.unreachable(&error))?;
            return Err(refusal(&answer, self.server()));
        }
        let mut copied = 0;
        while let Ok(Some(bytes)) = response.chunk().await {
            copied += bytes.len() as u64;
            meter.above(|| super::print::bytes(&bytes))?;
        }
        Ok(copied)
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.server())
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let what =
            if error.is_timeout() { "did not answer in time".into() } else { format!("cannot be reached: {cause}") };
        Failure::new(Code::NotReachable, format!("{} {what}", self.server()))
            .next_step("Is it running? `terrane up` starts one here; --server or a context names another.")
    }
}

pub struct Pages<'a> {
    client: &'a ApiClient,
    next: Option<String>,
    left: usize,
}

impl Pages<'_> {
    pub async fn next(&mut self) -> Result<Option<Vec<Value>>, Failure> {
        let Some(address) = self.next.take() else { return Ok(None) };
        let request = Request { method: Method::GET, path: &address, query: &[], body: None, key: None };
        let answer = self.client.ask(request).await?;
        self.next = answer.next_page.clone();
        let mut items: Vec<Value> = answer.json(self.client.server())?;
        items.truncate(self.left);
        self.left -= items.len();
        if self.left == 0 {
            self.next = None;
        }
        Ok(Some(items))
    }
}

fn tenant_header(tenant: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::try_from(tenant).map_err(|_| Failure::usage(format!("--tenant {tenant:?} is not a tenant's name")))
}

fn fresh_key() -> Result<String, Failure> {
    let key = getrandom::u64().and_then(|high| Ok((high, getrandom::u64()?)));
    let (high, low) = key.map_err(|error| Failure::failed(format!("no randomness to be had: {error}")))?;
    Ok(format!("cli-{high:016x}{low:016x}"))
}

/// Percent-encode what goes into a path or a query.
pub fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
