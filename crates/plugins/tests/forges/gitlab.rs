//! `gitlab_pipeline`: what its users were promised.

use model::plugin::{Changes, Outcome, Step};
use model::{Class, Reason, Retry};
use plugins::Action;
use plugins::actions::gitlab_pipeline::{GitlabPipeline, GitlabSettings};
use serde_json::{Value, json};

use crate::gitlab_server::{Gitlab, TOKEN, TRIGGER, job};
use crate::journey::{Journey, Time};
use crate::stand::{Fault, Stand};

fn with(more: Value) -> Value {
    let mut config = json!({ "project": "acme/infra", "ref": "main", "variables": { "SIZE": "${spec.size}" } });
    for (key, value) in more.as_object().expect("an object") {
        config[key] = value.clone();
    }
    config
}

fn journey(time: &Time, stand: &Stand<Gitlab>, config: Value) -> Journey {
    let (url, clock) = (stand.url.clone(), time.clock());
    Journey::new(time, config, move || -> Box<dyn Action> {
        let settings = GitlabSettings { token: Some(TOKEN.into()), api_url: format!("{url}/api/v4") };
        Box::new(GitlabPipeline::new(settings).with_clock(clock.clone()))
    })
}

/// How many pipelines there are.
fn created(stand: &Stand<Gitlab>) -> usize {
    stand.desk().forge.pipelines.len()
}

async fn start(change: impl FnOnce(&mut Gitlab)) -> (Time, Stand<Gitlab>) {
    let time = Time::new();
    let mut gitlab = Gitlab::new(&time);
    change(&mut gitlab);
    let stand = Stand::start(gitlab).await;
    (time, stand)
}

#[tokio::test]
async fn a_pipeline_is_created_with_the_spec_and_followed_to_its_end() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, with(json!({ "inputs": { "level": "${spec.size}" } })));
    journey.done(Step::Validate).await;
    let done = journey.done(Step::Apply).await;
    assert_eq!(done.changes, Some(Changes { created: 1, ..Changes::default() }));
    assert_eq!(
        done.outputs,
        Some(json!({
            "jobs": [{
                "name": "deploy", "stage": "deploy", "status": "success",
                "started_at": "2024-01-15T10:30:00Z", "completed_at": "2024-01-15T10:35:00Z",
            }],
            "artifacts": [{ "name": "artifacts.zip", "size_in_bytes": 1000, "job": "deploy" }],
        }))
    );
    assert_eq!(journey.holds, ["GitLab pipeline https://gitlab.com/acme/infra/-/pipelines/60"]);
    let desk = stand.desk();
    let pipeline = &desk.forge.pipelines[0];
    assert_eq!(pipeline.variables[0], ("SIZE".to_owned(), "3".to_owned()));
    assert_eq!(pipeline.inputs, json!({ "level": 3 }));
}

#[tokio::test]
async fn a_trigger_token_starts_pipelines_of_a_public_project_by_itself() {
    let (time, stand) = start(|gitlab| gitlab.is_public = true).await;
    let config = with(json!({ "trigger_token": { "secret": "trigger" }, "ref": null }));
    let mut journey = journey(&time, &stand, config).with_secret("trigger", TRIGGER);
    journey.call.resource.tenant = "blue".into();
    journey.done(Step::Validate).await;
    journey.done(Step::Apply).await;
    let desk = stand.desk();
    assert_eq!((desk.forge.pipelines[0].source, desk.forge.pipelines[0].reference.as_str()), ("trigger", "trunk"));
}

#[tokio::test]
async fn a_lost_answer_is_made_up_for_by_the_marker() {
    for token in [json!(null), json!({ "secret": "trigger" })] {
        let (time, stand) = start(|_| ()).await;
        stand.fail("/pipeline", Fault::After(502));
        let mut journey =
            journey(&time, &stand, with(json!({ "trigger_token": token }))).with_secret("trigger", TRIGGER);
        journey.done(Step::Apply).await;
        assert_eq!((created(&stand), stand.count("POST")), (1, 1));
    }
}

#[tokio::test]
async fn a_process_that_died_of_creating_a_pipeline_is_made_up_for() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, with(json!({})));
    journey.until(Step::Apply, "intent").await;
    journey.call_and_crash(Step::Apply).await;
    journey.done(Step::Apply).await;
    assert_eq!(created(&stand), 1);
}

#[tokio::test]
async fn not_found_after_the_settling_time_it_is_created_exactly_once_more() {
    let (time, stand) = start(|_| ()).await;
    stand.fail("/pipeline", Fault::Instead(502, Vec::new(), json!({})));
    let mut journey = journey(&time, &stand, with(json!({})));
    journey.done(Step::Apply).await;
    assert_eq!((created(&stand), stand.count("POST")), (1, 2));
}

#[tokio::test]
async fn a_pipeline_whose_variables_may_not_be_seen_may_be_ours() {
    let (time, stand) = start(|gitlab| gitlab.shows_variables = false).await;
    stand.fail("/pipeline", Fault::BreaksOff);
    let mut journey = journey(&time, &stand, with(json!({})));
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Uncertain);
    assert_eq!(created(&stand), 1);
}

#[tokio::test]
async fn without_a_marker_it_stops_and_asks() {
    let (time, stand) = start(|_| ()).await;
    stand.fail("/pipeline", Fault::After(502));
    let mut journey = journey(&time, &stand, with(json!({ "marker_variable": null })));
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Uncertain);
    assert!(failure.hint.contains("marker_variable"), "{failure}");
    assert_eq!(stand.desk().forge.pipelines[0].variables.len(), 1);
}

#[tokio::test]
async fn a_pipeline_that_waits_for_a_manual_job_is_waited_for_and_says_so() {
    let (time, stand) = start(|gitlab| gitlab.script = vec!["running", "manual", "running", "success"]).await;
    let mut journey = journey(&time, &stand, with(json!({})));
    journey.done(Step::Apply).await;
    assert!(journey.said.iter().any(|said| said.contains("manual job")), "{:?}", journey.said);
}

#[tokio::test]
async fn a_pipeline_that_failed_names_its_jobs() {
    let (time, stand) = start(|gitlab| {
        gitlab.script = vec!["failed"];
        gitlab.jobs = vec![job("deploy", "failed"), job("build", "success")];
    })
    .await;
    let mut journey = journey(&time, &stand, with(json!({})));
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Rejected);
    assert!(failure.message.ends_with("pipelines/60 failed: job `deploy` (script_failure)"), "{failure}");
}

#[tokio::test]
async fn a_pipeline_that_a_person_cancelled_is_not_started_again_by_itself() {
    let (time, stand) = start(|gitlab| gitlab.script = vec!["canceled"]).await;
    let mut journey = journey(&time, &stand, with(json!({})));
    assert_eq!(journey.failed(Step::Apply).await.class.retry(), Retry::OnChange);
}

#[tokio::test]
async fn a_pipeline_that_never_starts_times_out() {
    let (time, stand) = start(|gitlab| gitlab.script = vec!["pending"]).await;
    let mut journey = journey(&time, &stand, with(json!({ "start_timeout": 600 })));
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Timeout);
    assert!(failure.message.contains("did not start within 10 min"), "{failure}");
}

#[tokio::test]
async fn the_rate_limit_is_waited_out() {
    let (time, stand) = start(|_| ()).await;
    let reset = (time.now() + 30).to_string();
    let limited = |headers| Fault::Instead(429, headers, json!({ "message": "Too Many Requests" }));
    stand.fail("/pipeline", limited(vec![("ratelimit-reset", reset)]));
    stand.fail("pipelines/60", limited(vec![("retry-after", "45".to_owned())]));
    let mut journey = journey(&time, &stand, with(json!({})));
    journey.once(Step::Apply).await;
    let Outcome::Failed(failure) = journey.once(Step::Apply).await else { panic!("it has not failed") };
    assert_eq!((failure.class, failure.retry_after_seconds), (Class::Throttle, Some(31)));
    journey.done(Step::Apply).await;
    assert!(journey.waits.iter().any(|wait| wait.wake.after_seconds == 45));
    assert_eq!(created(&stand), 1);
}

#[tokio::test]
async fn what_is_unchanged_is_not_run_again_unless_asked_for() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, with(json!({})));
    journey.done(Step::Apply).await;
    journey.operation(Reason::Updated);
    assert_eq!(journey.done(Step::Plan).await.changes, Some(Changes::default()));
    journey.operation(Reason::Requested);
    assert_eq!(journey.done(Step::Plan).await.changes, Some(Changes { updated: 1, ..Changes::default() }));
}

#[tokio::test]
async fn deleting_cancels_what_is_under_way_and_runs_the_destroying_pipeline() {
    let (time, stand) = start(|_| ()).await;
    let config = with(json!({ "destroy": true, "destroy_variables": { "GONE": "${resource.name}" } }));
    let mut journey = journey(&time, &stand, config);
    journey.until(Step::Apply, "following").await;
    journey.operation(Reason::Deleted);
    let done = journey.done(Step::Destroy).await;
    assert_eq!(done.changes, Some(Changes { deleted: 1, ..Changes::default() }));
    let desk = stand.desk();
    assert_eq!(desk.requests.iter().filter(|made| made.ends_with("60/cancel")).count(), 1);
    assert_eq!(desk.forge.pipelines[1].variables[0], ("GONE".to_owned(), "pg".to_owned()));
}

#[tokio::test]
async fn the_operators_token_goes_to_the_operators_gitlab_for_the_default_tenant_only() {
    let (time, operators) = start(|_| ()).await;
    let (_, foreign) = start(|_| ()).await;
    let mut elsewhere = journey(&time, &operators, with(json!({ "api_url": format!("{}/api/v4", foreign.url) })));
    assert_eq!(elsewhere.failed(Step::Apply).await.class, Class::Credentials);
    assert_eq!(foreign.desk().requests.len(), 0);

    let mut other_tenant = journey(&time, &operators, with(json!({})));
    other_tenant.call.resource.tenant = "blue".into();
    assert_eq!(other_tenant.failed(Step::Apply).await.class, Class::Credentials);
    assert_eq!(operators.desk().requests.len(), 0);
}

#[tokio::test]
async fn a_missing_scope_is_named() {
    let (time, stand) = start(|_| ()).await;
    let body =
        json!({ "error": "insufficient_scope", "error_description": "higher privileges needed", "scope": "api" });
    stand.fail("/pipeline", Fault::Instead(403, Vec::new(), body));
    let mut journey = journey(&time, &stand, with(json!({})));
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Credentials);
    assert!(failure.message.contains("`api`"), "{failure}");
}

#[tokio::test]
async fn what_gitlab_does_not_take_is_told() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, with(json!({ "ref": "nowhere" })));
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::InvalidConfig);
    assert!(failure.message.contains("Reference not found"), "{failure}");
}

#[tokio::test]
async fn a_configuration_without_a_project_says_where_to_set_it() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, with(json!({ "project": null })));
    let failure = journey.failed(Step::Validate).await;
    assert_eq!(failure.class, Class::InvalidConfig);
    assert!(failure.hint.contains("`plugin_config` of the resource or of its type"), "{failure}");
}

#[tokio::test]
async fn jobs_are_read_to_the_last_page() {
    let (time, stand) = start(|gitlab| {
        gitlab.jobs = (0..100).map(|number| job(&format!("job-{number}"), "success")).collect();
    })
    .await;
    let mut journey = journey(&time, &stand, with(json!({ "webhook": true })));
    let outputs = journey.done(Step::Apply).await.outputs.unwrap();
    assert_eq!(outputs["jobs"].as_array().map(Vec::len), Some(100));
    assert_eq!(stand.count("/jobs"), 2);
    assert_eq!(journey.waits[1].wake.signal.as_deref(), Some("gitlab:1:60"));
}
