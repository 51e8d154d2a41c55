//! `github_actions`: what its users were promised.

use model::plugin::{Changes, Outcome, Step};
use model::{Class, Reason, Retry};
use plugins::Action;
use plugins::actions::github_actions::{GithubActions, GithubSettings};
use serde_json::{Value, json};

use crate::github_server::{Github, TOKEN, job};
use crate::journey::{Journey, Time};
use crate::stand::{Fault, Stand};

pub fn config() -> Value {
    json!({ "owner": "acme", "repo": "infra", "workflow": "deploy.yml", "ref": "main", "inputs": { "size": "${spec.size}" } })
}

pub fn with(more: Value) -> Value {
    let mut config = config();
    for (key, value) in more.as_object().expect("an object") {
        config[key] = value.clone();
    }
    config
}

pub fn journey(time: &Time, stand: &Stand<Github>, config: Value) -> Journey {
    let (url, clock) = (stand.url.clone(), time.clock());
    Journey::new(time, config, move || -> Box<dyn Action> {
        let settings = GithubSettings { token: Some(TOKEN.into()), api_url: url.clone() };
        Box::new(GithubActions::new(settings).with_clock(clock.clone()))
    })
}

/// How many dispatches had an effect.
pub fn dispatched(stand: &Stand<Github>) -> usize {
    stand.desk().forge.runs.len()
}

async fn start(change: impl FnOnce(&mut Github)) -> (Time, Stand<Github>) {
    let time = Time::new();
    let mut github = Github::new(&time);
    change(&mut github);
    let stand = Stand::start(github).await;
    (time, stand)
}

fn limited(headers: Vec<(&'static str, String)>) -> Fault {
    Fault::Instead(403, headers, json!({ "message": "API rate limit exceeded" }))
}

#[tokio::test]
async fn a_workflow_is_dispatched_with_the_spec_and_followed_to_its_end() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, config());
    journey.done(Step::Validate).await;
    assert_eq!(journey.done(Step::Plan).await.changes, Some(Changes { created: 1, ..Changes::default() }));
    let done = journey.done(Step::Apply).await;

    assert_eq!(done.changes, Some(Changes { created: 1, ..Changes::default() }));
    assert_eq!(
        done.outputs,
        Some(json!({
            "jobs": [{
                "name": "deploy", "status": "completed", "conclusion": "success",
                "started_at": "2024-01-15T10:30:00Z", "completed_at": "2024-01-15T10:35:00Z",
            }],
            "artifacts": [{ "name": "build-output", "size_in_bytes": 1234567 }],
        }))
    );
    assert_eq!(journey.holds, ["GitHub run https://github.com/acme/infra/actions/runs/1000"]);
    let desk = stand.desk();
    let run = &desk.forge.runs[0];
    assert_eq!((desk.forge.runs.len(), run.reference.as_str(), &run.inputs), (1, "main", &json!({ "size": "3" })));
}

#[tokio::test]
async fn the_intent_is_written_down_before_anything_is_sent() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, config());
    let Outcome::Wait(wait) = journey.once(Step::Apply).await else { panic!("it does not wait") };
    assert_eq!((wait.wake.after_seconds, &wait.checkpoint["at"]), (0, &json!("intent")));
    assert_eq!(stand.desk().requests.len(), 0);
}

#[tokio::test]
async fn without_a_ref_the_default_branch_is_used() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, with(json!({ "ref": null })));
    journey.done(Step::Apply).await;
    assert_eq!(stand.desk().forge.runs[0].reference, "trunk");
}

#[tokio::test]
async fn a_poll_that_finds_nothing_new_costs_nothing() {
    let (time, stand) = start(|github| {
        let running = std::iter::repeat_n(("in_progress", None), 5);
        github.script = running.chain([("completed", Some("success"))]).collect();
    })
    .await;
    let mut journey = journey(&time, &stand, config());
    journey.done(Step::Apply).await;
    assert_eq!(stand.desk().forge.unchanged, 4);
    let pauses: Vec<_> = journey.waits.iter().map(|wait| wait.wake.after_seconds).collect();
    assert_eq!(pauses, [0, 5, 10, 15, 20, 25, 30]);
}

#[tokio::test]
async fn with_a_webhook_it_waits_to_be_woken_and_looks_rarely() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, with(json!({ "webhook": true })));
    journey.done(Step::Apply).await;
    let wake = &journey.waits[1].wake;
    assert_eq!((wake.after_seconds, wake.signal.as_deref()), (300, Some("github:acme/infra:1000")));
}

#[tokio::test]
async fn a_github_that_is_down_while_the_run_goes_on_is_asked_again() {
    let (time, stand) = start(|_| ()).await;
    for end in ["runs/1000", "runs/1000", "jobs", "artifacts"] {
        stand.fail(end, Fault::Instead(502, Vec::new(), json!({})));
    }
    let mut journey = journey(&time, &stand, config());
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
    assert!(journey.said.iter().any(|said| said.contains("GitHub answered 502")), "{:?}", journey.said);
}

#[tokio::test]
async fn a_run_that_is_not_known_everywhere_yet_is_looked_for_again() {
    let (time, stand) = start(|_| ()).await;
    stand.fail("runs/1000", Fault::Instead(404, Vec::new(), json!({ "message": "Not Found" })));
    let mut journey = journey(&time, &stand, config());
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn a_run_that_somebody_deleted_is_not_started_again_by_itself() {
    let (time, stand) = start(|github| github.script = vec![("in_progress", None)]).await;
    let mut journey = journey(&time, &stand, config());
    journey.until(Step::Apply, "following").await;
    stand.desk().forge.runs.clear();
    assert_eq!(journey.failed(Step::Apply).await.class, Class::Uncertain);
    assert_eq!(stand.count("dispatches"), 1);
}

#[tokio::test]
async fn the_primary_rate_limit_is_waited_out() {
    let (time, stand) = start(|_| ()).await;
    let reset = (time.now() + 900).to_string();
    let spent = || vec![("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", reset.clone())];
    stand.fail("dispatches", limited(spent()));
    let mut journey = journey(&time, &stand, config());
    journey.once(Step::Apply).await;
    let Outcome::Failed(failure) = journey.once(Step::Apply).await else { panic!("it has not failed") };
    assert_eq!((failure.class, failure.retry_after_seconds), (Class::Throttle, Some(901)));

    // The quick retry comes with the same checkpoint, and to another process.
    journey.crash();
    time.pass(901);
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn the_secondary_rate_limit_is_waited_out_while_following() {
    let (time, stand) = start(|_| ()).await;
    stand.fail("runs/1000", limited(vec![("retry-after", "77".to_owned())]));
    stand.fail(
        "runs/1000",
        Fault::Instead(429, Vec::new(), json!({ "message": "You have exceeded a secondary rate limit" })),
    );
    let mut journey = journey(&time, &stand, config());
    journey.done(Step::Apply).await;
    let pauses: Vec<_> = journey.waits.iter().map(|wait| wait.wake.after_seconds).collect();
    assert_eq!(pauses[..4], [0, 5, 77, 60]);
}

#[tokio::test]
async fn a_run_that_never_starts_times_out_and_is_gone_on_with_later() {
    let (time, stand) = start(|github| github.script = vec![("queued", None)]).await;
    let mut journey = journey(&time, &stand, config());
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Timeout);
    assert!(failure.message.contains("did not start within 30 min"), "{failure}");
    assert!(failure.hint.contains("runner"), "{failure}");

    stand.desk().forge.runs[0].script = vec![("queued", None), ("completed", Some("success"))];
    journey.operation(Reason::Requested);
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn a_run_may_take_as_long_as_configured() {
    let (time, stand) = start(|github| github.script = vec![("in_progress", None)]).await;
    let mut journey = journey(&time, &stand, with(json!({ "timeout": "1h" })));
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Timeout);
    assert!(failure.message.contains("did not end within 60 min"), "{failure}");
}

#[tokio::test]
async fn a_run_that_waits_for_an_approval_says_so() {
    let (time, stand) = start(|github| {
        github.script = vec![("waiting", None), ("completed", Some("success"))];
    })
    .await;
    let mut journey = journey(&time, &stand, config());
    journey.done(Step::Apply).await;
    assert!(journey.said.iter().any(|said| said.contains("approve")), "{:?}", journey.said);
}

#[tokio::test]
async fn a_run_that_a_person_cancelled_is_not_started_again_by_itself() {
    let (time, stand) = start(|github| github.script = vec![("completed", Some("cancelled"))]).await;
    let mut journey = journey(&time, &stand, config());
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class.retry(), Retry::OnChange);
    assert!(failure.message.contains("was cancelled"), "{failure}");
}

#[tokio::test]
async fn a_run_that_failed_names_its_jobs_and_steps() {
    let (time, stand) = start(|github| {
        github.script = vec![("completed", Some("failure"))];
        github.jobs = vec![job("build", "success"), job("deploy", "failure")];
    })
    .await;
    let mut journey = journey(&time, &stand, config());
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Rejected);
    assert_eq!(
        failure.message,
        "The run https://github.com/acme/infra/actions/runs/1000 failed: job `deploy` at step `Apply`"
    );
    // The ladder comes back later, and it is dispatched anew.
    stand.desk().forge.script = vec![("completed", Some("success"))];
    journey.operation(Reason::Retried);
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 2);
}

#[tokio::test]
async fn what_is_unchanged_is_not_dispatched_again_unless_asked_for() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, config());
    journey.done(Step::Apply).await;

    journey.operation(Reason::Updated);
    assert_eq!(journey.done(Step::Plan).await.changes, Some(Changes::default()));
    journey.operation(Reason::Requested);
    assert_eq!(journey.done(Step::Plan).await.changes, Some(Changes { updated: 1, ..Changes::default() }));
    let done = journey.done(Step::Apply).await;
    assert_eq!(done.changes, Some(Changes { updated: 1, ..Changes::default() }));
    assert_eq!(dispatched(&stand), 2);

    journey.operation(Reason::Updated);
    journey.call.spec = json!({ "size": 4 });
    assert_eq!(journey.done(Step::Plan).await.changes, Some(Changes { updated: 1, ..Changes::default() }));
}

#[tokio::test]
async fn a_newer_spec_waits_for_the_run_of_the_older_one() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, config());
    journey.until(Step::Apply, "following").await;
    journey.operation(Reason::Updated);
    journey.call.spec = json!({ "size": 4 });
    journey.done(Step::Apply).await;
    let desk = stand.desk();
    let first_ended = desk.requests.iter().rposition(|made| made.ends_with("runs/1000")).unwrap();
    let second = desk.requests.iter().rposition(|made| made.ends_with("dispatches")).unwrap();
    assert!(first_ended < second);
    assert_eq!(desk.forge.runs[1].inputs, json!({ "size": "4" }));
}

#[tokio::test]
async fn an_operation_that_takes_over_follows_the_run_that_is_under_way() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, config());
    journey.until(Step::Apply, "following").await;
    journey.crash();
    journey.operation(Reason::Retried);
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn deleting_cancels_the_run_that_is_under_way() {
    let (time, stand) = start(|github| github.script = vec![("in_progress", None)]).await;
    let mut journey = journey(&time, &stand, config());
    journey.until(Step::Apply, "following").await;
    journey.operation(Reason::Deleted);
    let done = journey.done(Step::Destroy).await;
    assert_eq!(done.changes, Some(Changes { deleted: 1, ..Changes::default() }));
    assert_eq!((stand.count("/cancel"), stand.count("/force-cancel")), (1, 0));
    assert_eq!(journey.holds, [""; 0]);
}

#[tokio::test]
async fn a_run_that_does_not_heed_the_cancellation_is_cancelled_by_force() {
    let (time, stand) = start(|github| {
        github.script = vec![("in_progress", None)];
        github.ignores_cancel = true;
    })
    .await;
    let mut journey = journey(&time, &stand, config());
    journey.until(Step::Apply, "following").await;
    journey.operation(Reason::Deleted);
    journey.done(Step::Destroy).await;
    assert_eq!((stand.count("/cancel"), stand.count("/force-cancel")), (1, 1));
}

#[tokio::test]
async fn deleting_runs_the_destroy_workflow_and_follows_it() {
    let (time, stand) = start(|_| ()).await;
    let more = json!({ "destroy_workflow": "destroy.yml", "destroy_inputs": { "size": "${spec.size}" } });
    let mut journey = journey(&time, &stand, with(more));
    journey.done(Step::Apply).await;
    journey.operation(Reason::Deleted);
    journey.until(Step::Destroy, "following").await;
    // A retry of the operation goes on with the same run.
    journey.crash();
    journey.operation(Reason::Retried);
    journey.done(Step::Destroy).await;
    let desk = stand.desk();
    assert_eq!(
        desk.forge.runs.iter().map(|run| run.workflow.as_str()).collect::<Vec<_>>(),
        ["deploy.yml", "destroy.yml"]
    );
    assert_eq!(desk.requests.iter().filter(|made| made.ends_with("cancel")).count(), 0);
}

#[tokio::test]
async fn deleting_what_never_ran_asks_nobody() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, json!({ "destroy_workflow": "destroy.yml" }));
    journey.call.resource.tenant = "another".into();
    let done = journey.done(Step::Destroy).await;
    assert_eq!(done.changes, Some(Changes::default()));
    assert_eq!(stand.desk().requests.len(), 0);
}

#[tokio::test]
async fn the_operators_token_is_not_sent_to_an_address_of_somebody_elses_choice() {
    let (time, operators) = start(|_| ()).await;
    let (_, foreign) = start(|_| ()).await;
    let mut journey = journey(&time, &operators, with(json!({ "api_url": foreign.url })));
    for step in [Step::Validate, Step::Apply] {
        let failure = journey.failed(step).await;
        assert_eq!(failure.class, Class::Credentials);
        assert!(failure.message.contains("the operator's is only for"), "{failure}");
    }
    assert_eq!(foreign.desk().requests.len(), 0);
}

#[tokio::test]
async fn the_operators_token_is_not_used_for_another_tenant() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, config());
    journey.call.resource.tenant = "blue".into();
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Credentials);
    assert!(failure.message.contains("only for the tenant `default`"), "{failure}");
    assert_eq!(stand.desk().requests.len(), 0);
}

#[tokio::test]
async fn a_tenant_brings_a_token_of_its_own() {
    let (time, stand) = start(|github| github.tokens = vec!["ghp_blue".into()]).await;
    let config = with(json!({ "token": { "secret": "github" } }));
    let mut journey = journey(&time, &stand, config).with_secret("github", "ghp_blue");
    journey.call.resource.tenant = "blue".into();
    journey.done(Step::Validate).await;
    journey.done(Step::Apply).await;
}

#[tokio::test]
async fn a_missing_scope_is_named() {
    let (time, stand) = start(|_| ()).await;
    let scopes = vec![("x-oauth-scopes", "gist, read:org".to_owned()), ("x-accepted-oauth-scopes", "repo".to_owned())];
    stand.fail("dispatches", Fault::Instead(404, scopes, json!({ "message": "Not Found" })));
    let mut journey = journey(&time, &stand, config());
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Credentials);
    assert!(failure.message.contains("lacks the scope `repo`"), "{failure}");
}

#[tokio::test]
async fn what_is_not_found_may_also_not_be_seen() {
    let (time, stand) = start(|_| ()).await;
    let mut journey = journey(&time, &stand, with(json!({ "repo": "secret" })));
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::InvalidConfig);
    assert!(failure.message.contains("not found, or the token may not see it"), "{failure}");
}

#[tokio::test]
async fn a_token_that_is_not_taken_is_said_to_be_the_reason() {
    let (time, stand) = start(|github| github.tokens.clear()).await;
    let mut journey = journey(&time, &stand, config());
    assert_eq!(journey.failed(Step::Apply).await.class, Class::Credentials);
}

#[tokio::test]
async fn inputs_that_the_workflow_does_not_take_are_told() {
    let (time, stand) = start(|github| github.declared.clear()).await;
    let mut journey = journey(&time, &stand, config());
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::InvalidConfig);
    assert!(failure.message.contains("Unexpected inputs provided: [\"size\"]"), "{failure}");
}

#[tokio::test]
async fn a_configuration_without_owner_repo_or_workflow_says_where_to_set_them() {
    let (time, stand) = start(|_| ()).await;
    for missing in ["owner", "repo", "workflow"] {
        let mut journey = journey(&time, &stand, with(json!({ missing: null })));
        let failure = journey.failed(Step::Validate).await;
        assert_eq!(failure.class, Class::InvalidConfig);
        assert!(failure.message.contains(&format!("`{missing}`")), "{failure}");
        assert!(failure.hint.contains("`plugin_config` of the resource or of its type"), "{failure}");
    }
    let mut climbing = journey(&time, &stand, with(json!({ "repo": ".." })));
    assert_eq!(climbing.failed(Step::Validate).await.class, Class::InvalidConfig);
    let mut mistyped = journey(&time, &stand, with(json!({ "marker_imput": "x" })));
    assert!(mistyped.failed(Step::Validate).await.message.contains("marker_imput"));
}

#[tokio::test]
async fn jobs_are_read_to_the_last_page() {
    let (time, stand) = start(|github| {
        github.jobs = (0..230).map(|number| job(&format!("job-{number}"), "success")).collect();
    })
    .await;
    let mut journey = journey(&time, &stand, config());
    let outputs = journey.done(Step::Apply).await.outputs.unwrap();
    assert_eq!(outputs["jobs"].as_array().map(Vec::len), Some(230));
    assert_eq!(outputs["jobs"][229]["name"], "job-229");
    assert_eq!(stand.count("/jobs"), 3);
}
