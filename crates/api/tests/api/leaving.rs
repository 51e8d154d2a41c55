use model::reconcile::End;
use serde_json::json;

use crate::harness::{Server, stories};

fn ready() -> End {
    End::Succeeded { message: "Reconciliation successful".into(), watch: true }
}

async fn a_finalizer_keeps_a_resource_until_it_is_taken_off(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    server.conclude(1, ready(), None).await;
    let path = "/api/v1/resources/1/finalizers";
    let veto = json!({"finalizers": ["backup.example/veto", "audit"]});
    let tried = server.put(&format!("{path}?dry_run=true"), &veto).await.expect(200);
    assert_eq!(tried["finalizers"], veto["finalizers"]);
    let set = server.put(path, &veto).await;
    assert_eq!(set.header("etag"), format!("\"{}\"", set.body["resource_version"]));
    assert_eq!(set.body["generation"], 1, "it asks for no other infrastructure");
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200), set.body);
    assert_eq!(server.put(path, &veto).await.expect(200), set.body, "the same again changes nothing");
    let going = server.delete("/api/v1/resources/1").await.expect(202);
    assert_eq!(going["status_message"], "Waiting for finalizers: backup.example/veto, audit");
    assert_eq!(going["next_reconcile_at"], json!(null));
    let more = server.put(path, &json!({"finalizers": ["audit", "late.example/veto"]})).await;
    assert_eq!(more.status, 409, "{}", more.text);
    let fewer = server.put(path, &json!({"finalizers": ["audit"]})).await.expect(200);
    assert_eq!(fewer["status_message"], "Waiting for finalizers: audit");
    let free = server.put(path, &json!({"finalizers": []})).await.expect(200);
    assert_eq!((free["lifecycle"].as_str(), free["finalizers"].as_array().map(Vec::len)), (Some("deleting"), Some(0)));
    assert!(free["next_reconcile_at"].is_string(), "it goes on at once");
}

async fn names_of_finalizers_follow_rules(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    let path = "/api/v1/resources/1/finalizers";
    let many: Vec<_> = (0..33).map(|at| format!("f{at}")).collect();
    let long = format!("{}example/veto", "a.".repeat(130));
    for wrong in [
        json!([""]),
        json!(["a b"]),
        json!(["Example.com/veto"]),
        json!(["a/b/c"]),
        json!(["/veto"]),
        json!(["a", "a"]),
        json!([long]),
        json!(many),
    ] {
        let refused = server.put(path, &json!({ "finalizers": wrong })).await;
        assert_eq!(refused.status, 400, "{wrong}");
        assert_eq!(refused.body["violations"][0]["path"], "finalizers");
    }
    assert_eq!(server.put(path, &json!({"finalizers": "a"})).await.status, 422);
    assert_eq!(server.put("/api/v1/resources/99/finalizers", &json!({"finalizers": []})).await.status, 404);
}

async fn a_forgotten_resource_is_gone_at_once_and_what_may_remain_is_told(server: Server) {
    server.with_type().await;
    for name in ["untouched", "silent", "telling"] {
        server.with_resource(name).await;
    }
    server.conclude(2, ready(), None).await;
    server.conclude(3, ready(), Some(vec!["database prod-1 in eu-central-1".into()])).await;
    server.put("/api/v1/resources/3/finalizers", &json!({"finalizers": ["backup.example/veto"]})).await.expect(200);
    let tried = server.delete("/api/v1/resources/3?forget=true&dry_run=true").await.expect(200);
    assert_eq!(tried["may_remain"], json!(["database prod-1 in eu-central-1"]));
    assert_eq!(server.get("/api/v1/resources/3").await.status, 200, "it was only tried");

    let telling = server.delete("/api/v1/resources/3?forget=true").await.expect(200);
    assert_eq!(telling["may_remain"], json!(["database prod-1 in eu-central-1"]));
    assert_eq!((&telling["resource"]["id"], &telling["resource"]["lifecycle"]), (&json!(3), &json!("deleted")));
    let silent = server.delete("/api/v1/resources/2?forget=true").await.expect(200);
    assert_eq!(
        silent["may_remain"],
        json!(["the plugin noop has not told what exists; look in the system behind noop for what belongs to silent"])
    );
    let untouched = server.delete("/api/v1/resources/1?forget=true").await.expect(200);
    assert_eq!(untouched["may_remain"], json!([]));
    assert_eq!(server.get("/api/v1/resources").await.expect(200), json!([]));
    assert_eq!(server.delete("/api/v1/resources/1?forget=true").await.status, 404);
    let events = server.get("/api/v1/events?kind=resource&object_id=3").await.expect(200);
    let last = events.as_array().and_then(|events| events.last()).expect("an event");
    assert_eq!((&last["action"], &last["actor"], &last["after"]), (&json!("forgotten"), &json!("local"), &json!(null)));
    server.with_resource("telling").await;
}

stories!(
    a_finalizer_keeps_a_resource_until_it_is_taken_off,
    names_of_finalizers_follow_rules,
    a_forgotten_resource_is_gone_at_once_and_what_may_remain_is_told,
);
