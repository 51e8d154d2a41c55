//! Runners apart from the control plane: one dies, freezes, leaves or is turned away, and nothing is lost or done twice.

use e2e::cloud::{Cloud, declare, jobs, log, stands};
use e2e::{Broker, Database, House, Postgres, until};
use serde_json::{Value, json};

/// The first run that comes by here stays, until it is killed; later ones find the way open.
fn gated(cloud: &Cloud) -> std::path::PathBuf {
    let world = cloud.world().display().to_string();
    let gate = format!("touch {world}/waiting; test -e {world}/open || sleep 600");
    let contents = format!(
        "resource \"terraform_data\" \"gate\" {{\n  provisioner \"local-exec\" {{\n    command = {gate:?}\n  }}\n}}\n\
         resource \"cloudsim_thing\" \"it\" {{\n  name       = \"it\"\n  depends_on = [terraform_data.gate]\n}}\n"
    );
    cloud.module("gated", &contents)
}

async fn is_waiting(cloud: &Cloud) {
    let note = cloud.world().join("waiting");
    until("a run to be at the gate", async || note.exists()).await;
}

fn open_the_gate(cloud: &Cloud) {
    std::fs::write(cloud.world().join("open"), "").expect("the gate can be opened");
}

fn all() -> Value {
    json!({ "tenants": ["default"] })
}

/// Long enough for a busy machine to renew in time, short enough to be waited for.
const SHORT: [&str; 4] = ["--job-lease", "12s", "--apply-lease", "12s"];

async fn the_job_of_a_dead_runner_is_taken_over_by_another_once_its_lease_is_over(database: Database) {
    let cloud = Cloud::open();
    let module = gated(&cloud);
    let mut house = House::apart(&cloud, &database, &SHORT).await;
    house.hire(&cloud, "first", all(), &[]).await;
    let api = house.api();
    let id = declare(&api, "it", &module, json!({}), json!({ "variables": {} })).await;
    is_waiting(&cloud).await;
    let begun = "terraform_data.gate: Creating...";
    let job = jobs(&api, id).await.remove(0);
    until("its log to be there", async || log(&api, &job, 0).await.contains(begun)).await;
    house.runners[0].kill();
    open_the_gate(&cloud);
    house.hire(&cloud, "second", all(), &[]).await;
    stands(&api, id, "ready", 1).await;
    assert_eq!(cloud.effects("it"), ["create"], "by one of them alone");
    let jobs = jobs(&api, id).await;
    assert_eq!(jobs.len(), 1, "it is the same job: {jobs:?}");
    assert_eq!(jobs[0]["runner"], "second");
    let whole = log(&api, &jobs[0], 0).await;
    assert_eq!(whole.matches(begun).count(), 2, "what both have printed: {whole}");
    assert_eq!(whole.matches("Apply complete!").count(), 1, "{whole}");
    assert_eq!(jobs[0]["report"]["log_bytes"], whole.len());

    // The first comes back, and finds what it had to be another's.
    house.runners[0].run_again();
    until("nothing to be left of the job", async || cloud.workspaces() == 0).await;
    assert_eq!(cloud.effects("it"), ["create"]);
    stands(&api, id, "ready", 1).await;
}

async fn a_runner_that_was_frozen_changes_nothing_when_it_wakes(database: Database) {
    let cloud = Cloud::open();
    let module = gated(&cloud);
    let mut house = House::apart(&cloud, &database, &SHORT).await;
    house.hire(&cloud, "first", all(), &[]).await;
    let api = house.api();
    let id = declare(&api, "it", &module, json!({}), json!({ "variables": {} })).await;
    is_waiting(&cloud).await;
    house.runners[0].signal("STOP");
    open_the_gate(&cloud);
    house.hire(&cloud, "second", all(), &[]).await;
    stands(&api, id, "ready", 1).await;
    let before = jobs(&api, id).await;
    let printed = log(&api, &before[0], 0).await;
    house.runners[0].signal("CONT");
    until("it to have understood", async || cloud.workspaces() == 0).await;
    stands(&api, id, "ready", 1).await;
    assert_eq!(jobs(&api, id).await, before);
    assert_eq!(log(&api, &before[0], 0).await, printed);
    assert_eq!(cloud.effects("it"), ["create"]);
}

async fn a_runner_that_is_asked_to_stop_leaves_its_job_to_its_successor(database: Database) {
    let cloud = Cloud::open();
    let module = cloud
        .module("slow", "resource \"cloudsim_thing\" \"it\" {\n  name           = \"it\"\n  create_seconds = 3\n}\n");
    let mut house = House::apart(&cloud, &database, &[]).await;
    house.hire(&cloud, "first", all(), &[]).await;
    let api = house.api();
    let id = declare(&api, "it", &module, json!({}), json!({ "variables": {} })).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    house.runners[0].signal("TERM");
    assert_eq!(house.runners[0].end().await.code(), Some(0), "{}", house.runners[0].log());
    house.runners[0].run_again();
    stands(&api, id, "ready", 1).await;
    assert_eq!(cloud.effects("it"), ["create"]);
    let jobs = jobs(&api, id).await;
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    let whole = log(&api, &jobs[0], 0).await;
    assert_eq!(whole.matches("Apply complete!").count(), 1, "{whole}");
    assert_eq!(jobs[0]["report"]["log_bytes"], whole.len());
}

async fn a_job_waits_for_a_runner_of_its_tenant_with_its_labels_and_a_revoked_one_gets_none(database: Database) {
    let cloud = Cloud::open();
    let module = cloud.module("thing", "resource \"cloudsim_thing\" \"it\" {\n  name = \"it\"\n}\n");
    let mut house = House::apart(&cloud, &database, &SHORT).await;
    let api = house.api();
    api.post("/api/v1/tenants", &json!({ "name": "acme" })).await.ok();
    house.hire(&cloud, "theirs", json!({ "tenants": ["acme"], "labels": { "region": "eu-1" } }), &[]).await;
    house.hire(&cloud, "bare", all(), &[]).await;
    let config = json!({ "variables": {}, "runner": { "region": "eu-1" } });
    let id = declare(&api, "it", &module, json!({}), config).await;
    until("the resource to say what it waits for", async || {
        let resource = api.get(&format!("/api/v1/resources/{id}")).await.ok();
        resource["status_message"] == "Waiting for a runner with region=eu-1"
    })
    .await;
    let right = json!({ "tenants": ["default"], "labels": { "region": "eu-1", "cloud": "sim" } });
    let token = house.enrol("revoked", right.clone()).await;
    assert_eq!(api.delete("/api/v1/runners/revoked").await.status, 204);
    let mut revoked = house.start(&cloud, "revoked", &token, &[]);
    assert_eq!(revoked.end().await.code(), Some(1));
    assert!(revoked.log().contains("terrane runners enrol"), "{}", revoked.log());
    assert_eq!(jobs(&api, id).await[0]["state"], "queued");

    house.hire(&cloud, "right", right, &[]).await;
    stands(&api, id, "ready", 1).await;
    assert_eq!(jobs(&api, id).await[0]["runner"], "right");
}

on_both!(
    the_job_of_a_dead_runner_is_taken_over_by_another_once_its_lease_is_over,
    a_runner_that_was_frozen_changes_nothing_when_it_wakes,
    a_runner_that_is_asked_to_stop_leaves_its_job_to_its_successor,
    a_job_waits_for_a_runner_of_its_tenant_with_its_labels_and_a_revoked_one_gets_none,
);

/// A run that takes longer than what happens meanwhile.
fn slow(cloud: &Cloud) -> std::path::PathBuf {
    let thing = "resource \"cloudsim_thing\" \"it\" {\n  name           = \"it\"\n  create_seconds = 8\n}\n";
    cloud.module("slow", thing)
}

/// It is made once, by one job, and every byte of its log is there.
async fn is_made_once(cloud: &Cloud, house: &House, id: i64) {
    let api = house.api();
    stands(&api, id, "ready", 1).await;
    assert_eq!(cloud.effects("it"), ["create"]);
    let jobs = jobs(&api, id).await;
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    assert_eq!(jobs[0]["report"]["end"]["end"], "succeeded", "{jobs:?}");
    let whole = log(&api, &jobs[0], 0).await;
    for line in ["cloudsim_thing.it: Creating...", "cloudsim_thing.it: Creation complete", "Apply complete!"] {
        assert_eq!(whole.matches(line).count(), 1, "{line}: {whole}");
    }
    assert_eq!(jobs[0]["report"]["log_bytes"], whole.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_absence_of_the_database_interrupts_no_run() {
    let postgres = Postgres::start().await;
    let (cloud, database) = (Cloud::open(), Database::on(&postgres.url).await);
    let module = slow(&cloud);
    let mut house = House::apart(&cloud, &database, &[]).await;
    house.hire(&cloud, "one", all(), &[]).await;
    let id = declare(&house.api(), "it", &module, json!({}), json!({ "variables": {} })).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    postgres.stop();
    until("the thing to be there", async || cloud.objects().iter().any(|thing| thing["status"] == "ready")).await;
    postgres.restart();
    let api = house.api();
    until("the server to be ready again", async || api.ready().await == Some(200)).await;
    is_made_once(&cloud, &house, id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_absence_of_the_broker_interrupts_no_run_and_what_comes_meanwhile_is_done() {
    let broker = Broker::start().await;
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = slow(&cloud);
    let mut house = House::apart(&cloud, &database, &["--broker", &broker.url]).await;
    house.hire(&cloud, "one", all(), &["--broker", &broker.url]).await;
    let api = house.api();
    let id = declare(&api, "it", &module, json!({}), json!({ "variables": {} })).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    broker.stop();
    let other = cloud.module("other", "resource \"cloudsim_thing\" \"other\" {\n  name = \"other\"\n}\n");
    let second = declare(&api, "other", &other, json!({}), json!({ "variables": {} })).await;
    stands(&api, second, "ready", 1).await;
    is_made_once(&cloud, &house, id).await;
    broker.start_again();
    let third = cloud.module("third", "resource \"cloudsim_thing\" \"third\" {\n  name = \"third\"\n}\n");
    let third = declare(&api, "third", &third, json!({}), json!({ "variables": {} })).await;
    stands(&api, third, "ready", 1).await;
    assert_eq!(house.runners.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_over_the_broker_in_a_runners_name_is_not_believed() {
    let broker = Broker::of_its_own();
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = slow(&cloud);
    let mut house = House::apart(&cloud, &database, &["--broker", &broker]).await;
    let token = house.enrol("one", all()).await;
    let runner = house.start(&cloud, "one", &token, &["--broker", &broker]);
    house.runners.push(runner);
    let api = house.api();
    let id = declare(&api, "it", &module, json!({}), json!({ "variables": {} })).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    let job = jobs(&api, id).await.remove(0);
    let public = token.split('_').nth(1).expect("a public part");
    // Longer than the log is: its end would be taken, were it believed.
    let forged =
        json!({ "note": "log", "job": job["id"], "fencing_token": 1, "start": 0, "base64": "Zm9yZ2Vk".repeat(4000) });
    for signature in ["", "Zm9yZ2Vk"] {
        let headers = [("runner", public), ("signature", signature)];
        Broker::say(&broker, "terrane.notes", &headers, &forged.to_string()).await;
    }
    Broker::say(&broker, "terrane.notes", &[], "no JSON, no runner").await;
    is_made_once(&cloud, &house, id).await;
    assert!(!log(&api, &job, 0).await.contains("forged"));
}
