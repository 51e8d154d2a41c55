//! A request, rendered.

use reqwest::{Method, Url};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::config::{Config, Request};
use super::path::{as_text, render_path};
use crate::door::Outgoing;
use crate::expr::{Scope, render, render_with_secrets};
use crate::secrets::Secrets;

#[derive(Clone)]
pub struct Prepared {
    pub outgoing: Outgoing,
    /// Tells whether it differs from the last one. Secrets enter it by their names.
    pub digest: String,
    /// For people: the method and the URL, without query and secrets.
    pub said: String,
}

impl Prepared {
    /// The error is for the author of the configuration.
    pub fn of(config: &Config, request: &Request, scope: &Scope, secrets: &Secrets) -> Result<Prepared, String> {
        let method = request.method.as_deref().unwrap_or_default().to_ascii_uppercase();
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| format!("`{method}` is not a method"))?;
        let open = |value: &Value| render_with_secrets(value, scope, secrets).map_err(|error| error.to_string());
        let closed = |value: &Value| render(value, scope).map_err(|error| error.to_string());

        let mut url = address(config, request, scope, &open)?;
        for (name, value) in &request.query {
            url.query_pairs_mut().append_pair(name, &joined(open(value)?));
        }
        let mut outgoing = Outgoing::new(method.clone(), url.as_str());
        if let Some(body) = &request.body {
            outgoing = with_body(outgoing, open(body)?);
        }
        for (name, value) in config.headers.iter().chain(&request.headers) {
            outgoing.headers.retain(|(earlier, _)| !earlier.eq_ignore_ascii_case(name));
            outgoing = outgoing.header(name, joined(open(value)?));
        }

        let asked = json!({
            "method": method.as_str(),
            "url": address(config, request, scope, &closed).map(String::from)?,
            "query": closed(&Value::Object(request.query.clone()))?,
            "headers": closed(&json!([config.headers, request.headers]))?,
            "body": closed(&json!(request.body))?,
        });
        let digest = format!("{:x}", Sha256::digest(asked.to_string()));
        url.set_query(None);
        let said = secrets.redact(&format!("{method} {url}"));
        Ok(Prepared { outgoing, digest, said })
    }
}

fn address(
    config: &Config,
    request: &Request,
    scope: &Scope,
    rendered: &impl Fn(&Value) -> Result<Value, String>,
) -> Result<Url, String> {
    let text = match (&request.url, &request.path, &config.base_url) {
        (Some(url), None, _) => joined(rendered(url)?),
        (None, path, Some(base)) => {
            let path = match path {
                Some(Value::String(path)) => render_path(path, scope)?,
                Some(path) => joined(rendered(path)?),
                None => String::new(),
            };
            // A path may itself be a URL, as some servers say where to poll.
            if path.starts_with("http://") || path.starts_with("https://") {
                path
            } else {
                let base = joined(rendered(base)?);
                let slash = if path.is_empty() { "" } else { "/" };
                format!("{}{slash}{}", base.trim_end_matches('/'), path.trim_start_matches('/'))
            }
        }
        (Some(_), Some(_), _) => return Err("a request takes a `url` or a `path`, not both".to_owned()),
        (None, _, None) => return Err("a request needs a `url`, or a `path` and a `base_url`".to_owned()),
    };
    Url::parse(&text).map_err(|error| format!("the URL of a request is wrong: {error}"))
}

fn with_body(outgoing: Outgoing, body: Value) -> Outgoing {
    match body {
        Value::Null => outgoing,
        Value::String(text) => Outgoing { body: text.into_bytes(), ..outgoing },
        body => outgoing.json(&body),
    }
}

/// A list is joined: `["Bearer ", {"secret": "token"}]`.
fn joined(value: Value) -> String {
    match value {
        Value::Array(parts) => parts.into_iter().map(as_text).collect(),
        other => as_text(other),
    }
}

/// What expressions see of an answer.
///
/// A secret that the other side sends back is struck out before any expression sees it: taken to pieces, it could not be.
pub fn response(incoming: &crate::door::Incoming, secrets: &crate::secrets::Secrets) -> Value {
    let headers: Map<String, Value> = incoming
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into()))
        .collect();
    let body = incoming.json().unwrap_or_else(|_| Value::String(incoming.text()));
    let mut response = json!({ "status": incoming.status, "headers": headers, "body": body });
    secrets.redact_value(&mut response);
    response
}
