//! A server that asks no token must not be reached through a browser on another site's behalf: the `Host` must be this
//! machine (against DNS rebinding), and an `Origin` must be the server itself (against cross-site requests).

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, header};

use crate::app::{Access, App};
use crate::problem::Problem;

pub fn guard(app: &App, request: &Request) -> Result<(), Problem> {
    if app.access == Access::Tokens {
        return Ok(());
    }
    check(request.method(), request.uri().authority().map(Authority::as_str), request.headers())
}

fn check(method: &Method, authority: Option<&str>, headers: &HeaderMap) -> Result<(), Problem> {
    // HTTP/2 names the host in the request's own line, HTTP/1 in a header, an odd client in both or twice: all must do.
    let named = headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or(""));
    let mut hosts = named.chain(authority);
    let host = hosts.next().filter(|host| is_this_machine(host) && hosts.all(is_this_machine));
    let Some(host) = host else {
        return Err(Problem::forbidden(
            "this server asks no token and answers only to localhost; start it with tokens required to reach it by another name",
        ));
    };
    if let Some(origin) = headers.get(header::ORIGIN) {
        let same = origin.to_str().ok().and_then(|origin| origin.split_once("://")).is_some_and(|(_, at)| at == host);
        if !same {
            return Err(Problem::forbidden("this server asks no token and refuses requests from other sites' pages"));
        }
    }
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    let harmless = method == Method::GET || method == Method::HEAD;
    if !harmless && matches!(site, Some("cross-site" | "same-site")) {
        return Err(Problem::forbidden("this server asks no token and refuses requests from other sites' pages"));
    }
    Ok(())
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host
            .rsplit_once(':')
            .map_or(host, |(name, port)| if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(authority: Option<&str>, headers: &[(&'static str, &'static str)]) -> bool {
        let headers =
            headers.iter().map(|(name, value)| ((*name).parse().expect("a name"), value.parse().expect("a value")));
        check(&Method::POST, authority, &headers.collect()).is_ok()
    }

    #[test]
    fn http_2_is_held_to_the_same_rules_as_http_1() {
        let at = Some("localhost:8000");
        assert!(allowed(at, &[]));
        assert!(allowed(at, &[("origin", "http://localhost:8000")]));
        assert!(!allowed(at, &[("origin", "http://localhost")]));
        assert!(!allowed(Some("evil.example"), &[]));
        assert!(!allowed(Some("evil.example"), &[("host", "localhost:8000")]));
        assert!(!allowed(None, &[]), "a request that names no host at all");
    }
}
