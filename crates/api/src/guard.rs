//! A server that asks no token must not be reached through a browser on another site's behalf: the `Host` must be this
//! machine (against DNS rebinding), and an `Origin` must be the server itself (against cross-site requests).

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};

use crate::app::{Access, App};
use crate::problem::Problem;

pub fn guard(app: &App, request: &Request) -> Result<(), Problem> {
    if app.access == Access::Tokens {
        return Ok(());
    }
    check(request.method(), request.uri().host(), request.headers())
}

fn check(method: &Method, authority: Option<&str>, headers: &HeaderMap) -> Result<(), Problem> {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).or(authority);
    let Some(host) = host.filter(|host| is_this_machine(host)) else {
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
