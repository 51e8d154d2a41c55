use serde_json::{Value, json};

use crate::harness::{Server, resource, stories};

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a bare array").iter().filter_map(|item| item["name"].as_str()).collect()
}

async fn pages_follow_the_link_header_to_the_end(server: Server) {
    server.with_type().await;
    for at in 0..25 {
        let mut body = resource(&format!("db-{at:02}"));
        body["labels"] = json!({"env": "prod"});
        server.post("/api/v1/resources", &body).await.expect(201);
    }
    let mut path = "/api/v1/resources?limit=10&label_selector=env%3Dprod".to_string();
    let mut seen = Vec::new();
    for pages in 1.. {
        assert!(pages <= 3, "three pages hold them all");
        let page = server.get(&path).await;
        seen.extend(names(&page.body).into_iter().map(String::from));
        let Some(next) = page.header("link").strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""))
        else {
            break;
        };
        assert!(next.contains("label_selector=env%3Dprod"), "{next}");
        path = next.to_string();
    }
    assert_eq!(seen, (0..25).map(|at| format!("db-{at:02}")).collect::<Vec<_>>());
    for wrong in ["limit=0", "limit=1001", "limit=x", "cursor=x", "unknown=1", "status=odd", "watch=maybe"] {
        assert_eq!(server.get(&format!("/api/v1/resources?{wrong}")).await.status, 400, "{wrong}");
    }
}

async fn filters_narrow_a_list(server: Server) {
    server.with_type().await;
    let other = json!({"name": "Bucket", "version": "v1", "schema": {"type": "object"}});
    server.post("/api/v1/resource-types", &other).await.expect(201);
    for (name, kind, plugin, labels) in [
        ("a", "DatabaseCluster", "noop", json!({"env": "prod", "tier": "gold"})),
        ("b", "DatabaseCluster", "github_actions", json!({"env": "dev"})),
        ("c", "Bucket", "noop", json!({})),
    ] {
        let mut body = resource(name);
        body["resource_type_name"] = json!(kind);
        body["action_plugin"] = json!(plugin);
        body["labels"] = labels;
        server.post("/api/v1/resources", &body).await.expect(201);
    }
    server.sql("UPDATE resources SET lifecycle = 'active' WHERE name = 'b'").await;
    server.sql("UPDATE resources SET lifecycle = 'updating' WHERE name = 'c'").await;
    for (query, expected) in [
        ("", vec!["a", "b", "c"]),
        ("status=pending", vec!["a"]),
        ("status=ready", vec!["b"]),
        ("status=reconciling", vec!["c"]),
        ("status=failed", vec![]),
        ("resource_type_name=Bucket", vec!["c"]),
        ("action_plugin=noop", vec!["a", "c"]),
        ("name=b", vec!["b"]),
        ("label_selector=env", vec!["a", "b"]),
        ("label_selector=env%3Dprod,tier", vec!["a"]),
        ("label_selector=env%20in%20(prod,dev),!tier", vec!["b"]),
        ("label_selector=env!%3Dprod", vec!["b", "c"]),
        ("label_selector=!env", vec!["c"]),
        ("action_plugin=noop&label_selector=env", vec!["a"]),
    ] {
        let list = server.get(&format!("/api/v1/resources?{query}")).await.expect(200);
        assert_eq!(names(&list), expected, "{query}");
    }
    let wrong = server.get("/api/v1/resources?label_selector=env%20in%20(a").await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.detail().contains("kubectl"), "{}", wrong.detail());
}

async fn history_is_newest_first(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    for generation in 1..=3 {
        let entry = store::NewHistoryEntry {
            generation,
            success: generation != 2,
            phase: "completed".into(),
            error_message: (generation == 2).then(|| "quota".into()),
            resources_created: 1,
            resources_updated: 0,
            resources_deleted: 0,
        };
        let scope = crate::harness::scope("default", 1);
        server
            .app
            .store
            .write(1, move |tx| {
                let (scope, entry) = (scope.clone(), entry.clone());
                Box::pin(async move { tx.record_attempt(&scope, model::ResourceId(1), &entry).await })
            })
            .await
            .expect("recorded");
    }
    let first = server.get("/api/v1/resources/1/history?limit=2").await;
    let generations = |list: &Value| -> Vec<_> {
        list.as_array().expect("a bare array").iter().map(|entry| entry["generation"].as_i64()).collect()
    };
    assert_eq!(generations(&first.body), [Some(3), Some(2)]);
    insta::assert_json_snapshot!(first.body[1], {".reconcile_time" => "[time]"}, @r#"
    {
      "id": 2,
      "resource_id": 1,
      "generation": 2,
      "success": false,
      "phase": "completed",
      "error_message": "quota",
      "resources_created": 1,
      "resources_updated": 0,
      "resources_deleted": 0,
      "reconcile_time": "[time]"
    }
    "#);
    let next = first.header("link").trim_start_matches('<').trim_end_matches(">; rel=\"next\"").to_string();
    assert_eq!(generations(&server.get(&next).await.expect(200)), [Some(1)]);
    server.delete("/api/v1/resources/1").await.expect(202);
    assert_eq!(generations(&server.get("/api/v1/resources/1/history").await.expect(200)).len(), 3, "history stays");
}

stories!(pages_follow_the_link_header_to_the_end, filters_narrow_a_list, history_is_newest_first);
