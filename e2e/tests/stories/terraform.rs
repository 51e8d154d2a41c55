//! Terraform for real: the program itself, a provider whose cloud keeps a ledger, and nothing lost on the way.

use e2e::cloud::{Cloud, declare, jobs, log, stands};
use e2e::{Database, House, eventually, program, run, until};
use serde_json::json;

const THING: &str = r#"
variable "size" { type = number }
variable "seconds" {
  type    = number
  default = 0
}
resource "cloudsim_thing" "it" {
  name           = "it"
  size           = var.size
  create_seconds = var.seconds
}
output "endpoint" { value = cloudsim_thing.it.endpoint }
"#;

async fn what_is_declared_is_made_kept_so_changed_and_unmade(database: Database) {
    let cloud = Cloud::open();
    let module = cloud.module("thing", THING);
    let server = House::build(&cloud, &database, &["--drift-interval", "1s"]).await;
    let api = server.api();
    let id = declare(&api, "it", &module, json!({ "size": 3 }), json!({})).await;
    stands(&api, id, "ready", 1).await;
    assert_eq!(cloud.effects("it"), ["create"]);
    let first = jobs(&api, id).await.pop().expect("a job");
    assert!(log(&api, &first, 0).await.contains("Apply complete! Resources: 1 added"));
    assert_eq!(first["report"]["plan"]["creates"], 1);
    // Runners elsewhere do not say yet how far they are.
    if server.runners.is_empty() {
        let progress = &first["progress"];
        assert_eq!((&progress["step"], &progress["done"], &progress["total"]), (&json!("apply"), &json!(1), &json!(1)));
    }
    let outputs = api.get(&format!("/api/v1/resources/{id}/outputs")).await.ok();
    assert!(outputs["outputs"]["endpoint"].as_str().is_some_and(|url| url.starts_with("https://it.")), "{outputs}");

    cloud.edit("it", "size=9");
    until("the drift to be corrected", async || cloud.effects("it") == ["create", "update"]).await;
    until("the size that was asked for", async || cloud.objects()[0]["attributes"]["size"] == 3).await;

    stands(&api, id, "ready", 1).await;
    let patch = api.request(reqwest::Method::PATCH, &format!("/api/v1/resources/{id}"));
    let patch = patch.header("content-type", "application/merge-patch+json").body(r#"{"spec":{"size":5}}"#);
    api.send(patch).await.expect("an answer").ok();
    stands(&api, id, "ready", 2).await;
    assert_eq!(cloud.objects()[0]["attributes"]["size"], 5);
    assert_eq!(cloud.effects("it"), ["create", "update", "update"]);

    let delete = api.request(reqwest::Method::DELETE, &format!("/api/v1/resources/{id}"));
    assert_eq!(api.send(delete).await.expect("an answer").status, 202);
    until("it to be gone", async || api.get(&format!("/api/v1/resources/{id}")).await.status == 404).await;
    assert_eq!(cloud.effects("it"), ["create", "update", "update", "destroy"]);
    assert!(cloud.objects().is_empty());
    until("nothing to be left of its jobs", async || cloud.workspaces() == 0).await;
}

async fn a_run_goes_on_when_the_server_is_killed(database: Database) {
    let cloud = Cloud::open();
    let module = cloud.module("thing", THING);
    let mut server = House::build(&cloud, &database, &[]).await;
    let id = declare(&server.api(), "it", &module, json!({ "size": 3, "seconds": 4 }), json!({})).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    server.kill();
    server.restart().await;
    let api = server.api();
    stands(&api, id, "ready", 1).await;
    assert_eq!(cloud.effects("it"), ["create"], "nothing is done twice");
    let jobs = jobs(&api, id).await;
    assert_eq!(jobs.len(), 1, "it is the same job: {jobs:?}");
    let whole = log(&api, &jobs[0], 0).await;
    for line in ["cloudsim_thing.it: Creating...", "cloudsim_thing.it: Creation complete", "Apply complete!"] {
        assert_eq!(whole.matches(line).count(), 1, "{line}: {whole}");
    }
    assert_eq!(jobs[0]["report"]["log_bytes"], whole.len());
    for from in [1, whole.len() / 2, whole.len() - 1] {
        assert_eq!(log(&api, &jobs[0], from).await, whole[from..], "from byte {from}");
    }
}

async fn who_follows_a_log_gets_all_of_it_though_the_server_is_killed(database: Database) {
    let cloud = Cloud::open();
    let module = cloud.module("thing", THING);
    let mut server = cloud.server(&database, &[]).await;
    let id = declare(&server.api(), "it", &module, json!({ "size": 3, "seconds": 5 }), json!({})).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    let address = format!("http://127.0.0.1:{}", server.port);
    let printed = database.folder().join("printed");
    let file = std::fs::File::create(&printed).expect("a file");
    let arguments = ["logs", "thing/it", "-f", "--server", &address];
    let mut following = program(database.folder(), &arguments).stdout(file).spawn().expect("the program");
    let read = || std::fs::read_to_string(&printed).expect("what was printed");
    until("the log to be followed", async || read().contains("cloudsim_thing.it: Creating...")).await;
    server.kill();
    server.restart().await;
    let ended = eventually("the end of the log", async || following.try_wait().expect("a child can be asked")).await;
    assert!(ended.success(), "{ended}");
    let jobs = jobs(&server.api(), id).await;
    assert_eq!(read(), log(&server.api(), &jobs[0], 0).await);
    assert!(read().contains("Apply complete!"), "{}", read());
}

on_both!(
    what_is_declared_is_made_kept_so_changed_and_unmade,
    a_run_goes_on_when_the_server_is_killed,
    who_follows_a_log_gets_all_of_it_though_the_server_is_killed
);

const HALF: &str = r#"
resource "cloudsim_thing" "good" {
  name = "good"
}
resource "cloudsim_thing" "bad" {
  name       = "bad"
  fail       = "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows"
  depends_on = [cloudsim_thing.good]
}
"#;

#[tokio::test]
async fn a_failed_first_provision_is_taken_back_and_explained() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("half", HALF);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "half", &module, json!({}), json!({ "variables": {} })).await;
    let failed = stands(&api, id, "failed", 1).await;
    assert_eq!(failed["failure"]["class"], "quota", "{failed}");
    let message = failed["failure"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("cloudsim_thing.bad") && message.contains("removed again"), "{message}");
    assert!(!failed["failure"]["hint"].as_str().unwrap_or_default().is_empty());
    assert!(failed["next_reconcile_at"].is_null(), "it waits for a person: {failed}");
    assert_eq!(cloud.effects("good"), ["create", "destroy"]);
    assert!(cloud.objects().is_empty());
}

#[tokio::test]
async fn what_a_failed_provision_has_made_is_kept_where_its_owner_says_so() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("half", HALF);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "half", &module, json!({}), json!({ "variables": {}, "on_failure": "keep" })).await;
    let failed = stands(&api, id, "failed", 1).await;
    assert_eq!(cloud.effects("good"), ["create"]);
    let holds = failed["holds"].to_string();
    assert!(holds.contains("cloudsim_thing.good (thing-"), "{holds}");
}

#[tokio::test]
async fn a_plan_is_applied_only_after_its_approval_and_not_once_the_spec_has_changed() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("thing", THING);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let id = declare(&api, "it", &module, json!({ "size": 3 }), json!({ "approval": "manual" })).await;
    let planned = async |generation: i64| {
        eventually("a plan", async || {
            let job = jobs(&api, id).await.first().cloned()?;
            let newest = api.get(&format!("/api/v1/resources/{id}/operations?limit=1")).await.ok()[0].clone();
            let its = newest["generation"] == generation && newest["id"] == job["operation_id"];
            (job["plan_sha256"].is_string() && its).then_some(job)
        })
        .await
    };
    let approve = async |job: &serde_json::Value| {
        let sha = job["plan_sha256"].as_str().unwrap_or_default();
        api.post(&format!("/api/v1/jobs/{}/approve?plan_sha256={sha}", job["id"]), &json!({})).await
    };
    let old = planned(1).await;
    until("the resource to say so", async || {
        let waiting = api.get(&format!("/api/v1/resources/{id}")).await.ok();
        waiting["status_message"].as_str().is_some_and(|text| text.starts_with("Waiting for approval: 1 to create"))
    })
    .await;
    assert_eq!(api.post(&format!("/api/v1/jobs/{}/approve?plan_sha256=00", old["id"]), &json!({})).await.status, 409);

    let patch = api.request(reqwest::Method::PATCH, &format!("/api/v1/resources/{id}"));
    let patch = patch.header("content-type", "application/merge-patch+json").body(r#"{"spec":{"size":5}}"#);
    api.send(patch).await.expect("an answer").ok();
    assert_eq!(approve(&old).await.status, 409, "it is not what is wanted any more");

    let new = planned(2).await;
    assert!(cloud.objects().is_empty());
    approve(&new).await.ok();
    assert_eq!(approve(&new).await.status, 409, "consent is given once");
    stands(&api, id, "ready", 2).await;
    assert_eq!(cloud.objects()[0]["attributes"]["size"], 5);
    assert_eq!(cloud.effects("it"), ["create"]);
}

#[tokio::test]
async fn a_job_is_stopped_in_good_order_and_its_resource_waits() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("thing", THING);
    let server = cloud.server(&database, &[]).await;
    let api = server.api();
    let config = json!({ "on_failure": "keep" });
    let id = declare(&api, "it", &module, json!({ "size": 3, "seconds": 3 }), config).await;
    until("the cloud to be asked", async || cloud.effects("it") == ["create"]).await;
    let job = jobs(&api, id).await.remove(0);
    api.post(&format!("/api/v1/jobs/{}/cancel", job["id"]), &json!({})).await.ok();
    let stopped = stands(&api, id, "failed", 1).await;
    assert_eq!(stopped["failure"]["class"], "cancelled", "{stopped}");
    assert!(stopped["next_reconcile_at"].is_null(), "nobody tries it again but a person: {stopped}");
    assert!(stopped["holds"].to_string().contains("cloudsim_thing.it"), "{stopped}");
    assert_eq!(api.post(&format!("/api/v1/jobs/{}/cancel", job["id"]), &json!({})).await.status, 409);

    api.post(&format!("/api/v1/resources/{id}/reconcile"), &json!({})).await.ok();
    stands(&api, id, "ready", 1).await;
    assert_eq!(cloud.effects("it"), ["create"], "what was made is gone on with");
}

#[tokio::test]
async fn many_jobs_at_once_and_more_that_wait_all_come_to_their_end() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module(
        "named",
        r#"
variable "name" { type = string }
resource "cloudsim_thing" "it" {
  name           = var.name
  create_seconds = 2
}
"#,
    );
    // More at once than there are turns at the processors, and twice as many in all.
    let server = cloud.server(&database, &["--runner-capacity", "12"]).await;
    let api = server.api();
    let mut made = Vec::new();
    for number in 0..24 {
        let name = format!("thing-{number}");
        let config = json!({ "variables": { "name": "${resource.name}" } });
        made.push((declare(&api, &name, &module, json!({}), config).await, name));
    }
    for (id, name) in made {
        stands(&api, id, "ready", 1).await;
        assert_eq!(cloud.effects(&name), ["create"]);
    }
    until("nothing to be left of the jobs", async || cloud.workspaces() == 0).await;
}

#[tokio::test]
async fn an_apply_that_waits_tells_when_all_is_ready_and_nothing_else_where_it_shall_be_quiet() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("thing", THING);
    let server = cloud.server(&database, &[]).await;
    let address = format!("http://127.0.0.1:{}", server.port);
    let write = |name: &str, size: i64| {
        let document = json!({
            "name": name, "resource_type_name": "Thing", "resource_type_version": "v1", "action_plugin": "terraform",
            "plugin_config": { "source": { "path": module } }, "spec": { "size": size },
        });
        std::fs::write(database.folder().join("thing.json"), document.to_string()).expect("a file");
    };
    let apply = |more: &[&str]| {
        let arguments = [&["apply", "-f", "thing.json", "--wait", "--server", &address], more].concat();
        run(database.folder(), &arguments)
    };
    write("it", 1);
    let said = apply(&[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "thing/it created\nthing/it ready\n"), "{said:?}");
    assert!(said.stderr.contains("thing/it: "), "{said:?}");
    write("it", 2);
    let said = apply(&["--quiet"]);
    assert_eq!(said.stdout, "thing/it configured\nthing/it ready\n", "{said:?}");
    assert_eq!(said.stderr, "");
    assert_eq!(cloud.effects("it"), ["create", "update"]);
}

#[tokio::test]
async fn on_a_terminal_whoever_waits_sees_how_far_the_job_is() {
    let (cloud, database) = (Cloud::open(), Database::sqlite().await);
    let module = cloud.module("thing", THING);
    let server = cloud.server(&database, &[]).await;
    declare(&server.api(), "it", &module, json!({ "size": 1, "seconds": 5 }), json!({})).await;
    let wait = program(database.folder(), &["wait", "thing/it", "--server"]);
    let arguments = wait.get_args().map(|argument| argument.to_string_lossy());
    let line = [wait.get_program().to_string_lossy()].into_iter().chain(arguments).collect::<Vec<_>>().join(" ");
    let address = format!("http://127.0.0.1:{}", server.port);
    let seen = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &format!("{line} {address}"), "/dev/null"])
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("script is there");
    let text = String::from_utf8_lossy(&seen.stdout);
    assert!(seen.status.success(), "{text}");
    assert!(text.contains("apply 0/1  cloudsim_thing.it: create"), "{text}");
    assert!(text.contains("thing/it ready"), "{text}");
}
