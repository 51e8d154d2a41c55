//! `github_actions`, when the answer to a dispatch is lost: it is neither forgotten nor made twice.

use model::plugin::{Outcome, Step};
use model::{Class, Reason};
use serde_json::{Value, json};

use crate::github::{config, dispatched, journey, with};
use crate::github_server::Github;
use crate::journey::Time;
use crate::stand::{Fault, Stand};

fn marked() -> Value {
    with(json!({ "marker_input": "terrane_marker" }))
}

async fn start_marked() -> (Time, Stand<Github>) {
    let time = Time::new();
    let stand = Stand::start(Github::new(&time).shows("terrane_marker")).await;
    (time, stand)
}

async fn start_unmarked() -> (Time, Stand<Github>) {
    let time = Time::new();
    let stand = Stand::start(Github::new(&time)).await;
    (time, stand)
}

#[tokio::test]
async fn the_run_is_found_by_its_marker_and_not_dispatched_again() {
    for lost in [Fault::After(502), Fault::BreaksOff] {
        let (time, stand) = start_marked().await;
        stand.fail("dispatches", lost);
        let mut journey = journey(&time, &stand, marked());
        journey.done(Step::Apply).await;
        assert_eq!((dispatched(&stand), stand.count("dispatches")), (1, 1));
    }
}

#[tokio::test]
async fn the_run_is_found_after_the_process_died_of_dispatching_it() {
    let (time, stand) = start_marked().await;
    let mut journey = journey(&time, &stand, marked());
    journey.until(Step::Apply, "intent").await;
    journey.call_and_crash(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn not_found_after_the_settling_time_it_is_dispatched_exactly_once_more() {
    let (time, stand) = start_marked().await;
    stand.fail("dispatches", Fault::Instead(502, Vec::new(), json!({})));
    let mut journey = journey(&time, &stand, marked());
    let begun = time.now();
    journey.done(Step::Apply).await;
    assert_eq!((dispatched(&stand), stand.count("dispatches")), (1, 2));
    assert!(time.now() - begun >= 60, "a run may take a minute to show up");
}

#[tokio::test]
async fn a_process_that_died_before_dispatching_is_made_up_for_once() {
    let (time, stand) = start_marked().await;
    let mut journey = journey(&time, &stand, marked());
    journey.until(Step::Apply, "intent").await;
    journey.crash();
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn a_github_that_keeps_failing_is_left_alone_and_looked_at_first_the_next_time() {
    let (time, stand) = start_marked().await;
    stand.fail("dispatches", Fault::Instead(502, Vec::new(), json!({})));
    stand.fail("dispatches", Fault::After(502));
    let mut journey = journey(&time, &stand, marked());
    // It does not show up in time either.
    let started = loop {
        match journey.once(Step::Apply).await {
            Outcome::Wait(wait) => time.pass_for(wait.wake.after_seconds),
            Outcome::Failed(failure) => break failure,
            Outcome::Done(_) => panic!("it cannot be done"),
        }
        let mut desk = stand.desk();
        if let Some(run) = desk.forge.runs.first_mut() {
            run.workflow = "not yet listed".into();
        }
    };
    assert_eq!(started.class, Class::Outage);
    stand.desk().forge.runs[0].workflow = "deploy.yml".into();

    journey.operation(Reason::Retried);
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn without_a_marker_it_stops_and_asks() {
    let (time, stand) = start_unmarked().await;
    stand.fail("dispatches", Fault::After(502));
    let mut journey = journey(&time, &stand, config());
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Uncertain);
    assert!(failure.hint.contains("terrane reconcile") && failure.hint.contains("`marker_input`"), "{failure}");
    assert_eq!(dispatched(&stand), 1);

    // A person looked, and wants another.
    journey.operation(Reason::Requested);
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 2);
}

#[tokio::test]
async fn without_a_marker_a_process_that_died_stops_and_asks_whether_it_had_sent_or_not() {
    for sent in [true, false] {
        let (time, stand) = start_unmarked().await;
        let mut journey = journey(&time, &stand, config());
        journey.until(Step::Apply, "intent").await;
        if sent {
            journey.call_and_crash(Step::Apply).await;
        } else {
            journey.crash();
        }
        assert_eq!(journey.failed(Step::Apply).await.class, Class::Uncertain);
        assert_eq!(dispatched(&stand), usize::from(sent));
    }
}

#[tokio::test]
async fn without_a_marker_the_same_intent_is_sent_once_in_one_process_too() {
    let (time, stand) = start_unmarked().await;
    let mut journey = journey(&time, &stand, config());
    journey.until(Step::Apply, "intent").await;
    let (checkpoint, memory) = (journey.call.checkpoint.clone(), journey.call.memory.clone());
    journey.once(Step::Apply).await;
    // The answer could not be written down.
    (journey.call.checkpoint, journey.call.memory) = (checkpoint, memory);
    assert_eq!(journey.failed(Step::Apply).await.class, Class::Uncertain);
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn a_github_that_was_not_reached_was_not_told_either() {
    let (time, stand) = start_unmarked().await;
    let mut journey =
        journey(&time, &stand, with(json!({ "api_url": "http://127.0.0.1:1", "token": { "secret": "t" } })))
            .with_secret("t", "ghp_mine");
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Network);
    assert_eq!(journey.call.operation.attempt, 6);
}

#[tokio::test]
async fn a_run_that_shows_no_marker_may_be_ours_so_a_person_is_asked() {
    let (time, stand) = start_marked().await;
    stand.desk().forge.run_name = None;
    stand.fail("dispatches", Fault::After(502));
    let mut journey = journey(&time, &stand, marked());
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::Uncertain);
    assert!(failure.message.contains("shows no marker"), "{failure}");
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn an_older_server_that_does_not_tell_the_run_is_searched_for_the_marker() {
    let (time, stand) = start_marked().await;
    stand.desk().forge.knows_run_details = false;
    let mut journey = journey(&time, &stand, marked());
    journey.done(Step::Apply).await;
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn what_an_older_server_accepted_is_never_dispatched_again_by_a_later_operation_either() {
    let (time, stand) = start_marked().await;
    stand.desk().forge.knows_run_details = false;
    let mut journey = journey(&time, &stand, marked());
    journey.until(Step::Apply, "searching").await;
    stand.desk().forge.runs[0].title = "Deploy".into();
    journey.operation(Reason::Retried);
    assert_eq!(journey.failed(Step::Apply).await.class, Class::Uncertain);
    assert_eq!(dispatched(&stand), 1);
}

#[tokio::test]
async fn an_older_server_is_not_used_without_a_marker() {
    let (time, stand) = start_unmarked().await;
    stand.desk().forge.knows_run_details = false;
    let mut journey = journey(&time, &stand, config());
    let failure = journey.failed(Step::Apply).await;
    assert_eq!(failure.class, Class::InvalidConfig);
    assert!(failure.hint.contains("`marker_input`"), "{failure}");
    assert_eq!(dispatched(&stand), 0);
}

#[tokio::test]
async fn deleting_finds_and_cancels_a_run_whose_answer_was_lost() {
    let (time, stand) = start_marked().await;
    stand.desk().forge.script = vec![("in_progress", None)];
    stand.fail("dispatches", Fault::After(502));
    let mut journey = journey(&time, &stand, marked());
    journey.until(Step::Apply, "searching").await;
    journey.crash();
    journey.operation(Reason::Deleted);
    journey.done(Step::Destroy).await;
    assert_eq!(stand.count("runs/1000/cancel"), 1);
}

#[tokio::test]
async fn deleting_asks_once_about_a_dispatch_that_nobody_can_find() {
    let (time, stand) = start_unmarked().await;
    let mut journey = journey(&time, &stand, config());
    journey.until(Step::Apply, "intent").await;
    journey.crash();
    journey.operation(Reason::Deleted);
    assert_eq!(journey.failed(Step::Destroy).await.class, Class::Uncertain);
    journey.operation(Reason::Requested);
    journey.done(Step::Destroy).await;
    assert_eq!(dispatched(&stand), 0);
}
