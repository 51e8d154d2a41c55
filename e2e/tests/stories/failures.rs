//! When a provision fails: what is cleaned up, kept or asked, what a person can choose, and that nothing is lost on the way.

use e2e::cloud::{Cloud, declare, jobs, stands};
use e2e::{Answer, Api, Database, eventually, until};
use serde_json::{Value, json};

/// The second thing is refused once.
const LATE: &str = r#"
resource "cloudsim_thing" "good" {
  name = "good"
}
resource "cloudsim_thing" "late" {
  name       = "late"
  fail       = "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows"
  fail_times = 1
  depends_on = [cloudsim_thing.good]
}
"#;

async fn choose(api: &Api, id: i64, choice: &str) -> Answer {
    api.post(&format!("/api/v1/resources/{id}/{choice}"), &json!({})).await
}

fn choices(resource: &Value) -> String {
    let choices = resource["failure"]["choices"].as_array().cloned().unwrap_or_default();
    choices.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

async fn a_person_is_asked_and_what_was_made_is_gone_on_with(database: Database) {
    let cloud = Cloud::open();
    let module = cloud.module("late", LATE);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "late", &module, json!({}), json!({ "variables": {}, "on_failure": "ask" })).await;
    let asked = stands(&api, id, "failed", 1).await;
    assert_eq!(choices(&asked), "retry continue cleanup", "{asked}");
    let message = asked["status_message"].as_str().unwrap_or_default();
    for part in ["cloudsim_thing.late", "quota, during apply", "What can be done: retry, continue, cleanup"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(asked["next_reconcile_at"].is_null(), "{asked}");
    assert_eq!(cloud.effects("good"), ["create"]);

    let refused = choose(&api, id, "rollback").await;
    assert_eq!(refused.status, 409);
    let detail = refused.body["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("what can be done: retry, continue, cleanup"), "{detail}");

    choose(&api, id, "continue").await.ok();
    stands(&api, id, "ready", 1).await;
    assert_eq!((cloud.effects("good"), cloud.effects("late")), (vec!["create".to_owned()], vec!["create".to_owned()]));
    let refused = choose(&api, id, "retry").await;
    assert_eq!(refused.status, 409, "nothing has failed: {:?}", refused.body);
}

on_both!(a_person_is_asked_and_what_was_made_is_gone_on_with);

#[tokio::test]
async fn a_person_has_it_cleaned_up_and_later_tried_again() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("late", LATE);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "late", &module, json!({}), json!({ "variables": {}, "on_failure": "ask" })).await;
    stands(&api, id, "failed", 1).await;
    choose(&api, id, "cleanup").await.ok();
    until("it to be destroyed", async || cloud.effects("good") == ["create", "destroy"]).await;
    let cleaned = stands(&api, id, "failed", 1).await;
    assert_eq!(choices(&cleaned), "retry", "{cleaned}");
    assert_eq!(cleaned["holds"], json!([]));
    assert!(cleaned["next_reconcile_at"].is_null(), "nothing is provisioned by itself: {cleaned}");
    assert!(cloud.objects().is_empty());
    choose(&api, id, "retry").await.ok();
    stands(&api, id, "ready", 1).await;
    assert_eq!(cloud.objects().len(), 2);
}

const GROWING: &str = r#"
variable "size" { type = number }
resource "cloudsim_thing" "it" {
  name = "it"
  size = var.size
}
resource "cloudsim_thing" "more" {
  count      = var.size > 4 ? 1 : 0
  name       = "more"
  fail       = "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows"
  depends_on = [cloudsim_thing.it]
}
output "password" {
  value     = "hunter-${var.size}"
  sensitive = true
}
output "open" { value = var.size }
"#;

#[tokio::test]
async fn what_went_well_is_rolled_back_to_once_its_plan_is_approved() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("growing", GROWING);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "it", &module, json!({ "size": 3 }), json!({})).await;
    stands(&api, id, "ready", 1).await;
    let outputs = api.get(&format!("/api/v1/resources/{id}/outputs")).await.ok();
    assert_eq!(outputs, json!({ "outputs": { "open": 3 }, "sensitive": ["password"] }));
    let outputs = api.get(&format!("/api/v1/resources/{id}/outputs?reveal=true")).await.ok();
    assert_eq!(outputs["outputs"], json!({ "open": 3, "password": "hunter-3" }));

    let patch = api.request(reqwest::Method::PATCH, &format!("/api/v1/resources/{id}"));
    let patch = patch.header("content-type", "application/merge-patch+json").body(r#"{"spec":{"size":5}}"#);
    api.send(patch).await.expect("an answer").ok();
    let failed = stands(&api, id, "failed", 2).await;
    assert_eq!(choices(&failed), "retry continue rollback", "{failed}");
    assert_eq!(cloud.objects()[0]["attributes"]["size"], 5, "an update is not cleaned up");

    choose(&api, id, "rollback").await.ok();
    let planned = async || {
        eventually("the plan of the rollback", async || {
            let newest = api.get(&format!("/api/v1/resources/{id}/operations?limit=1")).await.ok()[0].clone();
            let job = jobs(&api, id).await.first().cloned()?;
            let its = newest["reason"] == "rolled_back" && newest["id"] == job["operation_id"];
            (its && newest["state"] == "waiting" && job["plan_sha256"].is_string()).then_some(job)
        })
        .await
    };
    // Who does not want the plan has changed nothing, and can choose again.
    let refused = planned().await;
    api.post(&format!("/api/v1/jobs/{}/cancel", refused["id"]), &json!({})).await.ok();
    let still = stands(&api, id, "failed", 2).await;
    assert!(choices(&still).contains("rollback"), "{still}");
    assert_eq!(cloud.objects()[0]["attributes"]["size"], 5);

    choose(&api, id, "rollback").await.ok();
    let job = eventually("another plan", async || Some(planned().await).filter(|job| job["id"] != refused["id"])).await;
    assert_eq!(job["report"]["plan"]["updates"], 1, "{job}");
    let sha = job["plan_sha256"].as_str().unwrap_or_default();
    api.post(&format!("/api/v1/jobs/{}/approve?plan_sha256={sha}", job["id"]), &json!({})).await.ok();
    let back = eventually("it to be as it was", async || {
        let resource = api.get(&format!("/api/v1/resources/{id}")).await.ok();
        (resource["status"] == "ready" && resource["operation_id"].is_null()).then_some(resource)
    })
    .await;
    assert_eq!((&back["generation"], &back["observed_generation"]), (&json!(2), &json!(1)));
    assert_eq!(back["status_message"], "Rolled back to generation 1; generation 2 is not applied");
    assert_eq!(cloud.objects()[0]["attributes"]["size"], 3);
}

const SLOW: &str = r#"
resource "cloudsim_thing" "it" {
  name           = "it"
  tags           = { owner = "ops" }
  create_seconds = 20
}
"#;

#[tokio::test]
async fn what_a_killed_run_began_is_found_again_and_imported() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("slow", SLOW);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "it", &module, json!({}), json!({ "variables": {} })).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    let job = jobs(&api, id).await.remove(0);
    api.post(&format!("/api/v1/jobs/{}/cancel?force=true", job["id"]), &json!({})).await.ok();
    let killed = stands(&api, id, "failed", 1).await;
    let holds = killed["holds"].to_string();
    assert!(holds.contains("cloudsim_thing.it (name it, tag owner=ops): perhaps"), "{killed}");
    assert!(choices(&killed).contains("import"), "{killed}");

    choose(&api, id, "retry").await.ok();
    let failed = eventually("the conflict", async || {
        let resource = stands(&api, id, "failed", 1).await;
        (resource["failure"]["class"] == "conflict").then_some(resource)
    })
    .await;
    let hint = failed["failure"]["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("terrane import Thing/it cloudsim_thing.it it"), "{hint}");
    assert!(failed["holds"].to_string().contains("perhaps"), "it is still a suspect: {failed}");

    let import = |address: &str, thing: &str| json!({ "address": address, "id": thing });
    let path = format!("/api/v1/resources/{id}/import");
    assert_eq!(api.post(&path, &import("cloudsim_thing.it", "${file(\"/etc/passwd\")}")).await.status, 400);
    assert_eq!(api.post(&path, &import("", "it")).await.status, 400);
    api.post(&path, &import("cloudsim_thing.it", "it")).await.ok();
    let ready = stands(&api, id, "ready", 1).await;
    assert!(!ready["holds"].to_string().contains("perhaps"), "{ready}");
    assert_eq!(cloud.effects("it"), ["create"], "it is the same thing");
}

#[tokio::test]
async fn a_delete_does_not_forget_what_may_exist_and_alerts_until_a_person_has_seen_to_it() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("slow", SLOW);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "it", &module, json!({}), json!({ "variables": {} })).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    let job = jobs(&api, id).await.remove(0);
    api.post(&format!("/api/v1/jobs/{}/cancel?force=true", job["id"]), &json!({})).await.ok();
    stands(&api, id, "failed", 1).await;
    assert_eq!(api.get("/api/v1/alerts").await.ok(), json!([]));
    let path = format!("/api/v1/resources/{id}");
    assert_eq!(api.send(api.request(reqwest::Method::DELETE, &path)).await.expect("an answer").status, 202);
    let alert = eventually("an alert", async || api.get("/api/v1/alerts").await.ok().get(0).cloned()).await;
    assert_eq!((&alert["resource_id"], &alert["failure"]["class"]), (&json!(id), &json!("uncertain")), "{alert}");
    let resource = api.get(&path).await.ok();
    assert_eq!(resource["lifecycle"], "deleting");
    let alerting = resource["conditions"].as_array().into_iter().flatten().find(|found| found["type"] == "Alerting");
    assert_eq!(alerting.map(|alerting| &alerting["status"]), Some(&json!("True")), "{resource}");
    let events = api.get(&format!("/api/v1/events?kind=resource&object_id={id}&limit=1000")).await.ok();
    assert!(events.as_array().into_iter().flatten().any(|event| event["action"] == "alerted"), "{events}");

    let forget = api.request(reqwest::Method::DELETE, &format!("{path}?forget=true"));
    let forgotten = api.send(forget).await.expect("an answer").ok();
    assert!(forgotten["may_remain"].to_string().contains("cloudsim_thing.it"), "{forgotten}");
    assert_eq!(api.get("/api/v1/alerts").await.ok(), json!([]));
}

const BRIEF: &str = r#"
resource "cloudsim_thing" "it" {
  name           = "it"
  create_seconds = 4
}
"#;

#[tokio::test]
async fn a_delete_in_the_middle_of_an_apply_waits_for_its_end_and_leaves_nothing_behind() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("brief", BRIEF);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "it", &module, json!({}), json!({ "variables": {} })).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    let path = format!("/api/v1/resources/{id}");
    assert_eq!(api.send(api.request(reqwest::Method::DELETE, &path)).await.expect("an answer").status, 202);
    until("it to be gone", async || api.get(&path).await.status == 404).await;
    assert_eq!(cloud.effects("it"), ["create", "destroy"]);
    assert!(cloud.objects().is_empty());
}
