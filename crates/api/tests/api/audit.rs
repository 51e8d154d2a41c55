use model::Role;
use reqwest::Method;
use serde_json::json;

use crate::harness::{Server, resource, stories};

async fn every_change_leaves_who_when_what_before_and_after(server: Server) {
    let guarded = server.asking_for_tokens().await;
    server.with_type().await;
    let token = server.token("default", "ci-deploy", Role::Editor).await;
    let send = async |method: Method, path: &str, body| {
        let request = guarded.request(method, path).bearer_auth(&token).header("x-request-id", "req-1");
        guarded.send(request.json(&body)).await
    };
    send(Method::POST, "/api/v1/resources", resource("production-pg")).await.expect(201);
    send(Method::PUT, "/api/v1/resources/1", json!({"spec": {"engine": "mysql", "storage_gb": 10}})).await.expect(200);
    send(Method::POST, "/api/v1/resources/1/reconcile", json!(null)).await.expect(202);
    send(Method::DELETE, "/api/v1/resources/1", json!(null)).await.expect(202);
    let events = server.get("/api/v1/events?kind=resource&object_id=1").await.expect(200);
    let events = events.as_array().expect("a list");
    let actions: Vec<_> = events.iter().map(|event| event["action"].as_str().expect("an action")).collect();
    assert_eq!(actions, ["created", "updated", "reconcile_requested", "deleted"]);
    for event in events {
        assert_eq!(event["actor"], "token:ci-deploy");
        assert_eq!(event["request_id"], "req-1");
        assert_eq!(event["tenant"], "default");
        assert!(event["time"].as_str().is_some_and(|time| time.ends_with('Z')));
    }
    assert_eq!(events[0]["before"], json!(null));
    assert_eq!(events[1]["before"], events[0]["after"], "each begins where the last one ended");
    assert_eq!(events[1]["before"]["spec"]["engine"], "postgres");
    assert_eq!(events[1]["after"]["spec"]["engine"], "mysql");
    assert_eq!(events[3]["after"], json!(null));
}

async fn refused_changes_leave_nothing(server: Server) {
    server.with_type().await;
    server.post("/api/v1/resources", &resource("Bad Name")).await.expect(400);
    server.put("/api/v1/resources/1", &json!({"spec": {}})).await.expect(404);
    assert_eq!(server.get("/api/v1/events").await.expect(200).as_array().expect("a list").len(), 1);
}

async fn events_are_paged_in_order(server: Server) {
    server.with_type().await;
    for at in 0..5 {
        server.with_resource(&format!("db-{at}")).await;
    }
    let mut path = "/api/v1/events?limit=4".to_string();
    let mut seqs = Vec::new();
    loop {
        let page = server.get(&path).await;
        seqs.extend(page.body.as_array().expect("a list").iter().filter_map(|event| event["seq"].as_i64()));
        let link = page.header("link").to_string();
        if link.is_empty() {
            break;
        }
        path = link.trim_start_matches('<').trim_end_matches(">; rel=\"next\"").to_string();
    }
    assert_eq!(seqs.len(), 6);
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
}

stories!(every_change_leaves_who_when_what_before_and_after, refused_changes_leave_nothing, events_are_paged_in_order);
