use reqwest::Method;

use crate::harness::{Server, resource, stories};

async fn a_server_without_tokens_answers_only_to_this_machine(server: Server) {
    for host in [
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "[::2]:80",
    ] {
        for path in ["/api/v1/resources", "/health", "/metrics", "/openapi.json", "/docs", "/nowhere"] {
            let request = server.request(Method::GET, path).header("host", host);
            assert_eq!(server.send(request).await.status, 403, "{host} {path}");
        }
    }
    for host in [
        "localhost",
        "localhost:1",
        "LOCALHOST:8000",
        "127.0.0.1",
        "127.0.0.1:8000",
        "127.9.9.9",
        "[::1]:8000",
        "[::1]",
    ] {
        let request = server.request(Method::GET, "/api/v1/resources").header("host", host);
        assert_eq!(server.send(request).await.status, 200, "{host}");
    }
}

async fn a_server_without_tokens_refuses_other_sites_pages(server: Server) {
    server.with_type().await;
    let own = format!("http://localhost:{}", server.address.port());
    for (origin, expected) in [
        ("https://evil.example", 403),
        ("http://localhost:1", 403),
        ("null", 403),
        ("http://127.0.0.1", 403),
        (own.as_str(), 201),
    ] {
        let request =
            server.request(Method::POST, "/api/v1/resources").header("origin", origin).json(&resource("production-pg"));
        assert_eq!(server.send(request).await.status, expected, "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        let request = server.request(Method::DELETE, "/api/v1/resources/1").header("sec-fetch-site", site);
        assert_eq!(server.send(request).await.status, 403, "{site}");
    }
    // A form or a script without leave can send only simple content types.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let request = server
            .request(Method::POST, "/api/v1/resources")
            .header("content-type", kind)
            .body(resource("x").to_string());
        assert_eq!(server.send(request).await.status, 415, "{kind}");
    }
    let preflight = server.request(Method::OPTIONS, "/api/v1/resources").header("origin", "https://evil.example");
    let preflight = server.send(preflight).await;
    assert_eq!(preflight.header("access-control-allow-origin"), "");
}

async fn a_wrong_token_is_refused_even_where_none_is_needed(server: Server) {
    let request = server.request(Method::GET, "/api/v1/resources").header("authorization", "Bearer trn_00_x");
    assert_eq!(server.send(request).await.status, 401);
}

stories!(
    a_server_without_tokens_answers_only_to_this_machine,
    a_server_without_tokens_refuses_other_sites_pages,
    a_wrong_token_is_refused_even_where_none_is_needed,
);
