//! What follows from failures: what only the holder of a job may keep, and what a person asked for last.

use std::time::Duration;

use model::job::Import;
use model::plugin::{Changes, Step};
use model::reconcile::{End, Report};
use model::{Choice, Class, Failure, Ladder, ResourceId, RunnerId};
use serde_json::Value;
use store::{Claimant, Conclusion, Error, Refusal, SealedOutputs, Store};

use crate::acts::*;
use crate::db::Db;
use crate::jobs::{queued, take};

on_both!(
    sensitive_outputs_are_kept_only_from_whoever_has_the_job,
    the_last_import_that_was_asked_for_is_the_one_that_is_done,
    what_a_job_that_waits_for_consent_would_do_can_be_refused_and_then_not_approved,
    a_resource_has_one_job_at_a_time,
    what_is_superseded_is_not_begun_and_what_runs_for_it_is_interrupted,
);

async fn sensitive_outputs_are_kept_only_from_whoever_has_the_job(db: Db) {
    let store = &db.store;
    let (resource, job) = queued(store, "orders").await;
    let token = take(store, job, "first").await.expect("it is free");
    let sealed = |byte: u8| SealedOutputs {
        tenant: home().id,
        resource,
        names: vec!["password".into()],
        sealed: vec![byte],
        key_id: "key".into(),
    };
    let put = async |token: i64, outputs: Option<SealedOutputs>| {
        store.put_sealed_outputs(job, token, resource, outputs).await.expect("an answer")
    };
    let kept = async || store.sealed_outputs(&home(), resource).await.expect("an answer").map(|found| found.sealed);
    assert!(!put(token + 1, Some(sealed(1))).await, "another's token");
    assert_eq!(kept().await, None);
    assert!(put(token, Some(sealed(1))).await);
    assert!(put(token, Some(sealed(2))).await);
    assert_eq!(kept().await, Some(vec![2]));
    let other = tenant(store, "rival").await;
    assert!(store.sealed_outputs(&other, resource).await.expect("an answer").is_none());
    assert!(put(token, None).await);
    assert_eq!(kept().await, None);
}

async fn the_last_import_that_was_asked_for_is_the_one_that_is_done(db: Db) {
    let store = &db.store;
    let id = failed(store, &[Choice::Retry, Choice::Import]).await;
    let import = |id: &str| Import { address: "aws_vpc.main".into(), id: id.into() };
    for name in ["vpc-1", "vpc-2"] {
        let import = import(name);
        let asked = store.write(
            0,
            work!([import], |tx| {
                let held = tx.hold_resource(&home(), id).await?;
                tx.choose(&home(), &actor(), &held, Choice::Import, Some(&import)).await
            }),
        );
        asked.await.expect("it can be chosen");
    }
    assert_eq!(store.import(home().id, id).await.expect("an answer"), Some(import("vpc-2")));
    let other = tenant(store, "rival").await;
    assert_eq!(store.import(other.id, id).await.expect("an answer"), None);
    let refused = store.write(
        0,
        work!([], |tx| {
            let held = tx.hold_resource(&home(), id).await?;
            tx.choose(&home(), &actor(), &held, Choice::Cleanup, None).await
        }),
    );
    assert!(matches!(refused.await, Err(Error::Refused(Refusal::NoChoice { .. }))));
}

/// A resource whose only operation has failed.
async fn failed(store: &Store, choices: &[Choice]) -> ResourceId {
    let kind = some_type(store, &home(), "Database").await;
    let id = create_resource(store, &home(), &new_resource("orders", &kind)).await.expect("created").id;
    let claimant = Claimant { holder: "story".into(), lease: Duration::from_secs(30), trace_ids: vec!["trace".into()] };
    let claim = store.claim(vec![id], claimant).await.expect("claimed").remove(0);
    let failure = Failure { choices: choices.to_vec(), ..Failure::new(Class::Conflict, Step::Apply, "it is there") };
    let report = Report {
        step: Step::Apply,
        attempt: 1,
        changes: Changes::default(),
        checkpoint: Value::Null,
        end: End::Failed { failure },
        outputs: None,
        memory: None,
        holds: None,
        job: None,
    };
    let (ladder, drift_interval) = (Ladder::default(), Duration::from_secs(300));
    let conclusion = Conclusion { claim, report, holder: "story".into(), ladder, drift_interval, chance: 0.5 };
    store.conclude(vec![conclusion]).await.expect("written");
    id
}

async fn what_a_job_that_waits_for_consent_would_do_can_be_refused_and_then_not_approved(db: Db) {
    let store = &db.store;
    let (resource, job) = queued(store, "orders").await;
    let token = take(store, job, "first").await.expect("it is free");
    let report = model::job::JobReport::ended(model::job::JobEnd::AwaitsApproval);
    let plan =
        store::SealedPlan { tenant: home().id, job, sha256: "feed".into(), sealed: vec![1], key_id: "key".into() };
    assert!(store.finish_job(job, token, report, Some(plan)).await.expect("an answer"));
    assert!(store.stop_job(job, "interrupt").await.expect("an answer").is_some(), "it waits, and is refused");
    assert!(!store.approve_job(home(), job, "feed".into(), "ana".into()).await.expect("an answer"), "too late");
    assert_eq!(store.stop_job(job, "interrupt").await.expect("an answer"), None, "it is over");
    assert!(store.due(store.now(), 10).await.expect("what is due").iter().any(|due| due.id == resource));
}

async fn a_resource_has_one_job_at_a_time(db: Db) {
    let store = &db.store;
    let (_, first) = queued(store, "orders").await;
    db.execute(
        "INSERT INTO jobs (tenant_id, resource_id, operation_id, state, request, created_at) \
         SELECT tenant_id, resource_id, operation_id, state, request, created_at FROM jobs",
    )
    .await;
    let second = store.jobs_of(&home(), store.any_job(first).await.expect("read").expect("a job").resource, 1).await;
    let second = second.expect("jobs").remove(0).id;
    assert!(second > first);
    let offered = async || {
        store.offered_jobs(RunnerId::EMBEDDED, 10).await.expect("offers").iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(offered().await, [first]);
    assert_eq!(take(store, second, "hasty").await, None, "not before the first");
    let token = take(store, first, "one").await.expect("it is free");
    assert_eq!((offered().await, take(store, second, "hasty").await), (vec![], None), "nor beside it");
    let report = model::job::JobReport::ended(model::job::JobEnd::Succeeded);
    assert!(store.finish_job(first, token, report, None).await.expect("an answer"));
    assert_eq!(offered().await, [second]);
    assert!(take(store, second, "two").await.is_some());
}

async fn what_is_superseded_is_not_begun_and_what_runs_for_it_is_interrupted(db: Db) {
    let store = &db.store;
    let (waiting, queued_job) = queued(store, "waiting").await;
    let (running, running_job) = queued(store, "running").await;
    let token = take(store, running_job, "one").await.expect("it is free");
    for id in [waiting, running] {
        let delete = store.write(
            0,
            work!([], |tx| {
                let held = tx.hold_resource(&home(), id).await?;
                tx.request_delete(&home(), &actor(), &held).await
            }),
        );
        delete.await.expect("it goes");
    }
    let claimant = Claimant {
        holder: "story".into(),
        lease: Duration::from_secs(30),
        trace_ids: vec!["trace-1".into(), "trace-2".into()],
    };
    assert_eq!(store.claim(vec![waiting, running], claimant).await.expect("claimed").len(), 2);
    let state = async |job| store.any_job(job).await.expect("read").expect("a job").state;
    assert_eq!(state(queued_job).await, model::job::JobState::Cancelled);
    assert_eq!(state(running_job).await, model::job::JobState::Running);
    let kept = store.renew_jobs(vec![(running_job, token, Duration::from_secs(30))]).await.expect("kept");
    assert_eq!(kept[0].stop.as_deref(), Some("interrupt"));
}
