use serde_json::json;

use crate::harness::{Server, resource, stories};

async fn a_resource_is_created_pending_with_its_defaults_filled_in(server: Server) {
    server.with_type().await;
    let created = server.with_resource("production-pg").await;
    insta::assert_json_snapshot!(created, {
        ".created_at" => "[time]", ".updated_at" => "[time]", ".resource_version" => "[version]",
        ".next_reconcile_at" => "[time]",
        ".conditions[].last_transition_time" => "[time]",
    }, @r#"
    {
      "id": 1,
      "name": "production-pg",
      "resource_type_name": "DatabaseCluster",
      "resource_type_version": "v1",
      "action_plugin": "noop",
      "status": "pending",
      "status_message": "Waiting for the first reconciliation",
      "generation": 1,
      "observed_generation": 0,
      "created_at": "[time]",
      "updated_at": "[time]",
      "last_reconcile_time": null,
      "lifecycle": "pending",
      "conditions": [
        {
          "type": "Ready",
          "status": "False",
          "reason": "NeverReconciled",
          "message": "Waiting for the first reconciliation",
          "last_transition_time": "[time]"
        },
        {
          "type": "Reconciling",
          "status": "False",
          "reason": "Queued",
          "message": "",
          "last_transition_time": "[time]"
        },
        {
          "type": "Stalled",
          "status": "False",
          "reason": "NoFailure",
          "message": "",
          "last_transition_time": "[time]"
        },
        {
          "type": "Drifted",
          "status": "Unknown",
          "reason": "NotObserved",
          "message": "",
          "last_transition_time": "[time]"
        }
      ],
      "spec": {
        "engine": "postgres",
        "storage_gb": 100,
        "backup": {
          "days": 7
        },
        "replicas": 0
      },
      "plugin_config": {},
      "labels": {},
      "annotations": {},
      "tenant": "default",
      "resource_version": "[version]",
      "deletion_requested_at": null,
      "reconcile_requested_at": null,
      "next_reconcile_at": "[time]",
      "operation_id": null,
      "drift_policy": "correct",
      "drift": null,
      "failure": null,
      "failures": 0,
      "finalizers": [],
      "holds": []
    }
    "#);
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200), created, "a read shows what the answer showed");
    let by_name = server.get("/api/v1/resources/by-name/DatabaseCluster/v1/production-pg").await.expect(200);
    assert_eq!(by_name, created);
    let other_version = server.get("/api/v1/resources/by-name/DatabaseCluster/v2/production-pg").await;
    assert_eq!(other_version.status, 404);
    assert!(other_version.detail().contains("at version v1"), "{}", other_version.detail());
}

async fn a_bad_spec_is_a_400_that_names_each_offending_field(server: Server) {
    server.with_type().await;
    let mut body = resource("production-pg");
    body["spec"] =
        json!({"engine": "oracle", "storage_gb": 5, "replicas": "two", "storag": 1, "backup": {"days": "x"}});
    let refused = server.post("/api/v1/resources", &body).await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.header("content-type"), "application/problem+json");
    let mut paths: Vec<_> = refused.body["violations"]
        .as_array()
        .expect("violations")
        .iter()
        .map(|violation| violation["path"].as_str().expect("a path").to_string())
        .collect();
    paths.sort();
    assert_eq!(paths, ["spec.backup.days", "spec.engine", "spec.replicas", "spec.storag", "spec.storage_gb"]);
    for path in paths {
        assert!(refused.detail().contains(&path), "{}", refused.detail());
    }
    body["spec"] = json!({});
    let refused = server.post("/api/v1/resources", &body).await.expect(400);
    assert_eq!(refused["violations"].as_array().expect("violations").len(), 2, "both missing fields: {refused}");
}

async fn a_put_that_changes_the_spec_makes_a_new_generation_and_one_that_does_not_changes_nothing(server: Server) {
    server.with_type().await;
    let created = server.with_resource("production-pg").await;
    let larger = json!({"spec": {"engine": "postgres", "storage_gb": 200}});
    let updated = server.put("/api/v1/resources/1", &larger).await.expect(200);
    assert_eq!(updated["generation"], 2);
    assert_ne!(updated["resource_version"], created["resource_version"]);
    assert_eq!(updated["spec"]["replicas"], 0, "defaults are filled in here too");
    let again = server.put("/api/v1/resources/1", &larger).await.expect(200);
    assert_eq!(again, updated);
    let labelled = json!({"spec": larger["spec"], "labels": {"env": "prod"}});
    let labelled = server.put("/api/v1/resources/1", &labelled).await.expect(200);
    assert_eq!(labelled["generation"], 2, "labels describe, they do not ask for other infrastructure");
    assert_ne!(labelled["resource_version"], updated["resource_version"]);
    let kept = server.put("/api/v1/resources/1", &larger).await.expect(200);
    assert_eq!(kept["labels"], json!({"env": "prod"}), "what a PUT does not name stays");
}

async fn a_patch_merges(server: Server) {
    server.with_type().await;
    let mut body = resource("production-pg");
    body["labels"] = json!({"env": "prod", "team": "data"});
    body["spec"]["replicas"] = json!(3);
    server.post("/api/v1/resources", &body).await.expect(201);
    let patch = json!({"spec": {"storage_gb": 300, "replicas": null}, "labels": {"team": null, "tier": "gold"}});
    let patched = server.patch("/api/v1/resources/1", &patch).await.expect(200);
    assert_eq!(patched["spec"], json!({"engine": "postgres", "storage_gb": 300, "replicas": 0, "backup": {"days": 7}}));
    assert_eq!(patched["labels"], json!({"env": "prod", "tier": "gold"}));
    assert_eq!(patched["generation"], 2);
    assert_eq!(server.patch("/api/v1/resources/1", &json!({})).await.expect(200), patched);
    assert_eq!(server.patch("/api/v1/resources/1", &json!({"labels": null})).await.expect(200)["labels"], json!({}));
    assert_eq!(server.patch("/api/v1/resources/1", &json!({"spec": {"storage_gb": 1}})).await.status, 400);
    assert_eq!(server.patch("/api/v1/resources/1", &json!({"name": "other"})).await.status, 422, "a name is for life");
    assert_eq!(server.patch("/api/v1/resources/1", &json!([1])).await.status, 422);
    assert_eq!(server.patch("/api/v1/resources/1", &json!({"action_plugin": null})).await.status, 422);
}

async fn a_drift_policy_says_what_to_do_and_makes_no_new_generation(server: Server) {
    server.with_type().await;
    let mut body = resource("production-pg");
    body["drift_policy"] = json!("report");
    assert_eq!(server.post("/api/v1/resources", &body).await.expect(201)["drift_policy"], "report");
    let spec = json!({"engine": "postgres", "storage_gb": 100});
    let put = server.put("/api/v1/resources/1", &json!({"spec": spec, "drift_policy": "ignore"})).await.expect(200);
    assert_eq!((put["drift_policy"].as_str(), put["generation"].as_i64()), (Some("ignore"), Some(1)));
    let kept = server.put("/api/v1/resources/1", &json!({"spec": spec})).await.expect(200);
    assert_eq!(kept, put, "what a PUT does not name stays");
    let patched = server.patch("/api/v1/resources/1", &json!({"drift_policy": "correct"})).await.expect(200);
    assert_eq!((patched["drift_policy"].as_str(), patched["generation"].as_i64()), (Some("correct"), Some(1)));
    for wrong in [json!("fix"), json!(null), json!(1)] {
        assert_eq!(server.patch("/api/v1/resources/1", &json!({"drift_policy": wrong})).await.status, 422, "{wrong}");
    }
}

async fn a_put_may_move_a_resource_to_another_version_of_its_type(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    let v2 = json!({"name": "DatabaseCluster", "version": "v2", "schema": {"type": "object", "required": ["size"],
        "properties": {"size": {"type": "string"}}}});
    server.post("/api/v1/resource-types", &v2).await.expect(201);
    let wrong = json!({"resource_type_version": "v2", "spec": {"engine": "postgres"}});
    assert_eq!(server.put("/api/v1/resources/1", &wrong).await.status, 400, "the new version's schema counts");
    let moved = json!({"resource_type_version": "v2", "spec": {"size": "large"}});
    let moved = server.put("/api/v1/resources/1", &moved).await.expect(200);
    assert_eq!((moved["resource_type_version"].as_str(), moved["generation"].as_i64()), (Some("v2"), Some(2)));
    assert_eq!(server.delete("/api/v1/resource-types/1").await.status, 204, "v1 has no users any more");
}

async fn a_name_is_taken_once_per_type_and_free_again_after_a_delete(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    let taken = server.post("/api/v1/resources", &resource("production-pg")).await;
    assert_eq!(taken.status, 409);
    assert!(taken.detail().contains("production-pg"), "{}", taken.detail());
    let gone = server.delete("/api/v1/resources/1").await.expect(202);
    assert_eq!(gone["lifecycle"], "deleted", "nothing was ever created, so there is nothing to wait for");
    assert_eq!(server.get("/api/v1/resources/1").await.status, 404);
    assert_eq!(server.delete("/api/v1/resources/1").await.status, 404);
    assert_ne!(server.with_resource("production-pg").await["id"], 1, "ids are never used again");
}

async fn what_may_exist_outside_stays_visible_while_it_goes(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    server.sql("UPDATE resources SET lifecycle = 'active', observed_generation = 1").await;
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200)["status"], "ready");
    let going = server.delete("/api/v1/resources/1").await.expect(202);
    assert_eq!((going["lifecycle"].as_str(), going["status"].as_str()), (Some("deleting"), Some("reconciling")));
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200), going);
    assert_eq!(server.delete("/api/v1/resources/1").await.expect(202), going, "asking twice is asking once");
    assert_eq!(server.post("/api/v1/resources", &resource("production-pg")).await.status, 409, "the name is not free");
    let change = json!({"spec": {"engine": "mysql", "storage_gb": 10}});
    assert_eq!(server.put("/api/v1/resources/1", &change).await.status, 409);
}

async fn a_reconcile_is_accepted_and_recorded(server: Server) {
    server.with_type().await;
    let created = server.with_resource("production-pg").await;
    let accepted = server.post("/api/v1/resources/1/reconcile", &json!(null)).await.expect(202);
    assert!(accepted["reconcile_requested_at"].is_string());
    assert_eq!(accepted["generation"], created["generation"]);
    assert_eq!(accepted["status"], "pending", "nothing fakes a transition");
    assert_eq!(server.post("/api/v1/resources/99/reconcile", &json!(null)).await.status, 404);
    assert_eq!(server.get("/api/v1/resources/1/history").await.expect(200), json!([]));
    assert_eq!(server.get("/api/v1/resources/1/outputs").await.expect(200), json!({"outputs": {}}));
    assert_eq!(server.get("/api/v1/resources/99/history").await.status, 404);
    assert_eq!(server.get("/api/v1/resources/99/outputs").await.status, 404);
}

async fn a_dry_run_answers_as_if_and_changes_nothing(server: Server) {
    server.with_type().await;
    let would_be = server.post("/api/v1/resources?dry_run=true", &resource("production-pg")).await.expect(201);
    assert_eq!(would_be["spec"]["replicas"], 0);
    assert_eq!(server.get("/api/v1/resources").await.expect(200), json!([]));
    assert_eq!(would_be["id"], 0, "what was only tried has no id");
    let created = server.with_resource("production-pg").await;
    assert_eq!(server.post("/api/v1/resources?dry_run=true", &resource("production-pg")).await.status, 409);
    let larger = json!({"spec": {"engine": "postgres", "storage_gb": 200}});
    let path = format!("/api/v1/resources/{}", created["id"]);
    assert_eq!(server.put(&format!("{path}?dry_run=true"), &larger).await.expect(200)["generation"], 2);
    assert_eq!(server.patch(&format!("{path}?dry_run=true"), &larger).await.expect(200)["generation"], 2);
    assert_eq!(server.delete(&format!("{path}?dry_run=true")).await.status, 202);
    assert_eq!(server.post(&format!("{path}/reconcile?dry_run=true"), &json!(null)).await.status, 202);
    assert_eq!(server.get(&path).await.expect(200), created);
    let before = server.get("/api/v1/events").await.expect(200).as_array().expect("events").len();
    assert_eq!(before, 2, "one for the type, one for the resource");
}

async fn sixty_four_puts_at_once_all_count_and_each_makes_one_generation(server: Server) {
    server.with_type().await;
    server.with_resource("production-pg").await;
    let puts = (0..64).map(|at| {
        let body = json!({"spec": {"engine": "postgres", "storage_gb": 1000 + at}});
        let server = &server;
        async move { server.put("/api/v1/resources/1", &body).await.expect(200) }
    });
    futures::future::join_all(puts).await;
    assert_eq!(server.get("/api/v1/resources/1").await.expect(200)["generation"], 65);
    let patches = (0..64).map(|at| {
        let (body, server) = (json!({"labels": {format!("key-{at}"): "x"}}), &server);
        async move { server.patch("/api/v1/resources/1", &body).await }
    });
    for answer in futures::future::join_all(patches).await {
        answer.expect(200);
    }
    let labels = server.get("/api/v1/resources/1").await.expect(200)["labels"].clone();
    assert_eq!(labels.as_object().expect("labels").len(), 64, "no patch was lost");
}

stories!(
    a_resource_is_created_pending_with_its_defaults_filled_in,
    a_bad_spec_is_a_400_that_names_each_offending_field,
    a_put_that_changes_the_spec_makes_a_new_generation_and_one_that_does_not_changes_nothing,
    a_patch_merges,
    a_drift_policy_says_what_to_do_and_makes_no_new_generation,
    a_put_may_move_a_resource_to_another_version_of_its_type,
    a_name_is_taken_once_per_type_and_free_again_after_a_delete,
    what_may_exist_outside_stays_visible_while_it_goes,
    a_reconcile_is_accepted_and_recorded,
    a_dry_run_answers_as_if_and_changes_nothing,
    sixty_four_puts_at_once_all_count_and_each_makes_one_generation,
);
