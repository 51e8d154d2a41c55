use serde_json::Value;

use crate::harness::{Server, stories};

async fn the_description_is_openapi_3_1_and_names_every_operation(server: Server) {
    let document = server.get("/openapi.json").await.expect(200);
    assert_eq!(document["openapi"], "3.1.0");
    let mut count = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            count += 1;
            for field in ["summary", "operationId", "tags", "responses"] {
                assert!(!operation[field].is_null(), "{method} {path} has no {field}");
            }
        }
    }
    assert_eq!(count, 74);
}

async fn the_documentation_page_needs_no_other_site(server: Server) {
    let page = server.get("/docs").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").starts_with("text/html"));
    for outside in ["src=\"http", "href=\"http", "//cdn", "@import", "url(http"] {
        assert!(!page.text.contains(outside), "{outside}");
    }
    assert!(page.header("content-security-policy").contains("default-src 'self'"));
}

async fn metrics_count_requests_by_route_never_by_path(server: Server) {
    server.with_type().await;
    server.get("/api/v1/resources/123456").await.expect(404);
    server.get("/no/such/path-654321").await.expect(404);
    let text = server.get("/metrics").await.text;
    assert!(
        text.contains(r#"terrane_http_requests_total{method="GET",route="/api/v1/resources/{id}",status="404"} 1"#),
        "{text}"
    );
    assert!(text.contains("terrane_store_writes_total 1"), "{text}");
    assert!(text.contains("terrane_http_request_duration_seconds_bucket"), "{text}");
    assert!(!text.contains("123456") && !text.contains("654321"), "{text}");
    assert!(text.ends_with("# EOF\n"));
}

async fn health_and_readiness_answer(server: Server) {
    let health: Value = server.get("/health").await.expect(200);
    assert_eq!(health["status"], "healthy");
    assert_eq!(server.get("/ready").await.expect(200)["status"], "ready");
}

stories!(
    the_description_is_openapi_3_1_and_names_every_operation,
    the_documentation_page_needs_no_other_site,
    metrics_count_requests_by_route_never_by_path,
    health_and_readiness_answer,
);
