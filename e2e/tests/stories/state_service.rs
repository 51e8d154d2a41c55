//! A person with plain Terraform, beside Terrane: the same state, one at a time.

use std::path::Path;

use e2e::cloud::{Cloud, declare, jobs, stands};
use e2e::{Api, Database, Server, until};
use serde_json::json;

const THING: &str = r#"
variable "size" { type = number }
variable "slow" {
  type    = number
  default = 0
}
resource "cloudsim_thing" "it" {
  name = "it"
  size = var.size
}
resource "cloudsim_thing" "slow" {
  count          = var.slow
  name           = "slow"
  create_seconds = 20
}
"#;

fn block(server: &Server, folder: &Path) -> String {
    let printed = e2e::run(folder, &["state", "backend", "thing/it", "--server", &server.url()]);
    assert_eq!(printed.code, Some(0), "{}", printed.said());
    printed.stdout
}

async fn change(api: &Api, id: i64, patch: &'static str) {
    let request = api.request(reqwest::Method::PATCH, &format!("/api/v1/resources/{id}"));
    let request = request.header("content-type", "application/merge-patch+json").body(patch);
    api.send(request).await.expect("an answer").ok();
}

async fn plain_terraform_goes_on_where_terrane_was_and_back(database: Database) {
    let cloud = Cloud::open();
    let module = cloud.module("thing", THING);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "it", &module, json!({ "size": 3 }), json!({})).await;
    stands(&api, id, "ready", 1).await;

    let own = cloud.module("own", THING);
    std::fs::write(own.join("backend.tf"), block(&server, &own)).expect("a backend");
    cloud.terraform(&own, &["init"]).expect("initialised");
    let planned = cloud.terraform(&own, &["plan", "-detailed-exitcode", "-var", "size=3"]).expect("no changes");
    assert!(planned.contains("No changes"), "{planned}");

    cloud.terraform(&own, &["apply", "-auto-approve", "-var", "size=8"]).expect("applied");
    let versions = api.get(&format!("/api/v1/resources/{id}/state/versions")).await.ok();
    assert!(versions[0]["job_id"].is_null() && versions[0]["author"] == "local", "{versions}");
    api.post(&format!("/api/v1/resources/{id}/reconcile"), &json!({})).await.ok();
    until("Terrane to make it what was declared", async || cloud.objects()[0]["attributes"]["size"] == 3).await;
    assert_eq!(cloud.effects("it"), ["create", "update", "update"]);
    stands(&api, id, "ready", 1).await;

    let restore = e2e::run(
        &own,
        &["state", "restore", "thing/it", &versions[0]["id"].to_string(), "--yes", "--server", &server.url()],
    );
    assert_eq!(restore.code, Some(0), "{}", restore.said());
    let shown = e2e::run(&own, &["state", "show", "thing/it", "cloudsim_thing.it", "--server", &server.url()]);
    assert!(shown.stdout.contains("size: 8"), "{}", shown.said());
}

async fn only_one_of_terrane_and_plain_terraform_writes_at_a_time(database: Database) {
    let cloud = Cloud::open();
    let module = cloud.module("thing", THING);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "it", &module, json!({ "size": 3 }), json!({})).await;
    stands(&api, id, "ready", 1).await;
    let own = cloud.module("own", THING);
    std::fs::write(own.join("backend.tf"), block(&server, &own)).expect("a backend");
    cloud.terraform(&own, &["init"]).expect("initialised");
    change(&api, id, r#"{"spec":{"slow":1}}"#).await;
    until("the cloud to be asked", async || cloud.effects("slow") == ["create"]).await;
    let refused = cloud.terraform(&own, &["plan", "-var", "size=3"]).expect_err("a job is under way");
    assert!(refused.contains("Error acquiring the state lock"), "{refused}");
    assert!(refused.contains("ID=terrane-job-"), "{refused}");
    stands(&api, id, "ready", 2).await;

    let address = format!("/api/v1/resources/{id}/state");
    let lock = reqwest::Method::from_bytes(b"LOCK").expect("a method");
    let mine = json!({ "ID": "mine", "Operation": "OperationTypeApply", "Who": "someone@laptop", "Created": "now" });
    let locked = api.request(lock, &format!("{address}/http")).json(&mine);
    assert_eq!(api.send(locked).await.expect("an answer").status, 200);
    change(&api, id, r#"{"spec":{"size":5}}"#).await;
    until("the job to be refused", async || {
        let newest = jobs(&api, id).await.first().cloned().unwrap_or_default();
        let failure = &newest["report"]["end"]["failure"];
        failure["class"] == "state_lock" && failure["message"].as_str().is_some_and(|it| it.contains("someone@laptop"))
    })
    .await;
    assert_eq!(cloud.effects("it"), ["create"]);
    let unlocked = e2e::run(&own, &["state", "unlock", "thing/it", "mine", "--server", &server.url()]);
    assert_eq!(unlocked.code, Some(0), "{}", unlocked.said());
    stands(&api, id, "ready", 3).await;
    assert_eq!(cloud.effects("it"), ["create", "update"]);
}

on_both!(plain_terraform_goes_on_where_terrane_was_and_back, only_one_of_terrane_and_plain_terraform_writes_at_a_time);
