use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Server, resource, stories};

/// A watch stream, line by line.
struct Watch {
    bytes: futures::stream::BoxStream<'static, reqwest::Result<axum::body::Bytes>>,
    buffer: String,
}

impl Watch {
    async fn open(server: &Server, path: &str) -> Watch {
        let response = server.request(Method::GET, path).send().await.expect("the server answers");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        Watch { bytes: response.bytes_stream().boxed(), buffer: String::new() }
    }

    /// The next line; none when the stream ends.
    async fn line(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.buffer.split_once('\n') {
                let value = serde_json::from_str(line).expect("a line of JSON");
                self.buffer = rest.to_string();
                return Some(value);
            }
            let bytes = self.bytes.next().await?.expect("the stream goes on");
            self.buffer.push_str(std::str::from_utf8(&bytes).expect("text"));
        }
    }

    /// The next line that is not a bookmark.
    async fn change(&mut self) -> Value {
        loop {
            let line = self.line().await.expect("the stream goes on");
            if line["type"] != "BOOKMARK" {
                return line;
            }
        }
    }
}

fn told(line: &Value) -> (&str, &str) {
    (line["type"].as_str().expect("a type"), line["object"]["name"].as_str().unwrap_or(""))
}

async fn a_watch_tells_each_change_once_and_goes_on_where_it_was_left(server: Server) {
    server.with_type().await;
    server.with_resource("before").await;
    let mut watch = Watch::open(&server, "/api/v1/resources?watch=true").await;
    assert_eq!(told(&watch.line().await.expect("a line")), ("ADDED", "before"));
    let bookmark = watch.line().await.expect("a line");
    assert_eq!(bookmark["type"], "BOOKMARK");
    server.with_resource("during").await;
    let added = watch.change().await;
    assert_eq!(told(&added), ("ADDED", "during"));
    drop(watch);

    server.put("/api/v1/resources/1", &json!({"spec": {"engine": "mysql", "storage_gb": 10}})).await.expect(200);
    server.delete("/api/v1/resources/2").await.expect(202);
    let path = format!("/api/v1/resources?watch=true&since={}", added["seq"]);
    let mut watch = Watch::open(&server, &path).await;
    let modified = watch.change().await;
    assert_eq!(told(&modified), ("MODIFIED", "before"));
    assert_eq!(modified["object"], server.get("/api/v1/resources/1").await.expect(200));
    assert_eq!(told(&watch.change().await), ("DELETED", "during"));
    server.with_resource("after").await;
    assert_eq!(told(&watch.change().await), ("ADDED", "after"));

    let mut all = Watch::open(&server, "/api/v1/resources?watch=true&since=0").await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        let line = all.change().await;
        seen.push((line["seq"].as_i64().expect("a seq"), told(&line).0.to_string()));
    }
    assert!(seen.is_sorted_by(|a, b| a.0 < b.0), "{seen:?}");
    assert_eq!(
        seen.iter().map(|(_, kind)| kind.as_str()).collect::<Vec<_>>(),
        ["ADDED", "ADDED", "MODIFIED", "DELETED", "ADDED"]
    );
}

async fn a_watch_with_a_filter_tells_of_what_enters_and_leaves_it(server: Server) {
    server.with_type().await;
    let mut watch = Watch::open(&server, "/api/v1/resources?watch=true&label_selector=env%3Dprod&since=0").await;
    let mut body = resource("production-pg");
    body["labels"] = json!({"env": "dev"});
    server.post("/api/v1/resources", &body).await.expect(201);
    server.patch("/api/v1/resources/1", &json!({"labels": {"env": "prod"}})).await.expect(200);
    assert_eq!(told(&watch.change().await), ("ADDED", "production-pg"));
    server.patch("/api/v1/resources/1", &json!({"labels": {"team": "data"}})).await.expect(200);
    assert_eq!(told(&watch.change().await), ("MODIFIED", "production-pg"));
    server.patch("/api/v1/resources/1", &json!({"labels": {"env": null}})).await.expect(200);
    assert_eq!(told(&watch.change().await), ("DELETED", "production-pg"));
}

async fn types_and_events_can_be_watched_too(server: Server) {
    let mut types = Watch::open(&server, "/api/v1/resource-types?watch=true").await;
    assert_eq!(types.line().await.expect("a line")["type"], "BOOKMARK");
    let mut events = Watch::open(&server, "/api/v1/events?watch=true&since=0").await;
    server.with_type().await;
    assert_eq!(told(&types.change().await), ("ADDED", "DatabaseCluster"));
    assert_eq!(told(&events.change().await), ("ADDED", "DatabaseCluster"));
    server.with_resource("production-pg").await;
    assert_eq!(told(&events.change().await), ("ADDED", "production-pg"));
}

async fn a_browser_gets_server_sent_events_and_resumes_by_their_id(server: Server) {
    server.with_type().await;
    server.with_resource("one").await;
    server.with_resource("two").await;
    let first = server.get("/api/v1/events?kind=resource").await.expect(200)[0]["seq"].clone();
    let request = server
        .request(Method::GET, "/api/v1/resources?watch=true&timeout_seconds=0")
        .header("accept", "text/event-stream")
        .header("last-event-id", first.to_string());
    let answer = server.send(request).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let data: Vec<_> = answer.text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let change: Value = serde_json::from_str(data[0]).expect("JSON");
    assert_eq!(told(&change), ("ADDED", "two"));
    assert!(answer.text.contains(&format!("id: {}", change["seq"])), "{}", answer.text);
}

async fn a_watch_ends_when_asked_and_when_the_server_drains(server: Server) {
    let mut asked = Watch::open(&server, "/api/v1/resources?watch=true&timeout_seconds=0").await;
    while asked.line().await.is_some() {}
    let mut drained = Watch::open(&server, "/api/v1/resources?watch=true").await;
    assert_eq!(drained.line().await.expect("a line")["type"], "BOOKMARK");
    server.app.drain();
    while drained.line().await.is_some() {}
    assert_eq!(server.get("/ready").await.status, 503);
    assert_eq!(server.get("/health").await.status, 200);
}

async fn a_watch_from_where_nothing_can_have_been_is_refused(server: Server) {
    server.with_type().await;
    for query in ["since=-1", "since=x", "since=9000000000000000000", "timeout_seconds=3601"] {
        assert_eq!(server.get(&format!("/api/v1/resources?watch=true&{query}")).await.status, 400, "{query}");
    }
    let request = server.request(Method::GET, "/api/v1/resources?watch=true").header("last-event-id", "x");
    assert_eq!(server.send(request).await.status, 400);
}

async fn many_writers_are_each_told_once_to_every_watcher(server: Server) {
    server.with_type().await;
    let mut watches = Vec::new();
    for _ in 0..4 {
        watches.push(Watch::open(&server, "/api/v1/resources?watch=true&since=0").await);
    }
    let bodies: Vec<_> = (0..200).map(|at| resource(&format!("db-{at}"))).collect();
    let writes = futures::stream::iter(&bodies).map(|body| server.post("/api/v1/resources", body)).buffer_unordered(32);
    let reads = futures::future::join_all(watches.iter_mut().map(|watch| async {
        let mut seen = Vec::new();
        while seen.len() < 200 {
            let line = watch.change().await;
            seen.push((
                line["seq"].as_i64().expect("a seq"),
                line["object"]["name"].as_str().expect("a name").to_string(),
            ));
        }
        seen
    }));
    let (answers, seen) = tokio::join!(writes.collect::<Vec<_>>(), reads);
    assert!(answers.iter().all(|answer| answer.status == 201));
    for seen in seen {
        assert!(seen.is_sorted_by(|a, b| a.0 < b.0), "in order, none twice");
        let names: std::collections::BTreeSet<_> = seen.into_iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), 200);
    }
}

stories!(
    a_watch_tells_each_change_once_and_goes_on_where_it_was_left,
    a_watch_with_a_filter_tells_of_what_enters_and_leaves_it,
    types_and_events_can_be_watched_too,
    a_browser_gets_server_sent_events_and_resumes_by_their_id,
    a_watch_ends_when_asked_and_when_the_server_drains,
    a_watch_from_where_nothing_can_have_been_is_refused,
    many_writers_are_each_told_once_to_every_watcher,
);
