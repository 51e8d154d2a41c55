//! Jobs: taken by one runner at a time, their logs without gap or repetition, and nothing written by who has lost one.

use std::sync::Arc;
use std::time::Duration;

use model::job::{Approval, Goal, JobEnd, JobReport, JobRequest, JobState, Limits, Source, Terraform, Work};
use model::plugin::{Changes, Step};
use model::reconcile::{End, Report};
use model::state::{Corruption, StateVersion};
use model::state_lock::LockInfo;
use model::{Actor, JobId, Ladder, ResourceId, RunnerId};
use serde_json::{Map, Value};
use store::{Claim, Claimant, Conclusion, Error, LogPiece, NewState, Refusal, SealedPlan, Store, Succession};

use crate::acts::*;
use crate::db::{Db, eventually};

const LEASE: Duration = Duration::from_secs(30);

fn request() -> JobRequest {
    JobRequest {
        work: Work::Terraform(Terraform {
            goal: Goal::Apply,
            source: Source::Folder { path: "/module".into() },
            variables: Map::new(),
            environment: Default::default(),
            state: None,
            plan: None,
            import: None,
            approval: Approval::Auto,
        }),
        limits: Limits::default(),
        secrets: Default::default(),
        labels: Default::default(),
        imports: false,
        account: None,
        plan_of: None,
    }
}

/// A resource whose operation waits for a job.
pub async fn queued(store: &Store, name: &str) -> (ResourceId, JobId) {
    let kind = some_type(store, &home(), &format!("Type-of-{name}")).await;
    let id = create_resource(store, &home(), &new_resource(name, &kind)).await.expect("created").id;
    let claim = claim(store, id).await;
    conclude(store, claim, Some(Box::new(request()))).await;
    let job = store.jobs_of(&home(), id, 1).await.expect("jobs").remove(0);
    assert_eq!(job.state, JobState::Queued);
    (id, job.id)
}

async fn claim(store: &Store, id: ResourceId) -> Arc<Claim> {
    let claimant = Claimant { holder: "story".into(), lease: LEASE, trace_ids: vec!["trace".into()] };
    store.claim(vec![id], claimant).await.expect("claimed").remove(0)
}

/// It waits on, for this job if there is one.
async fn conclude(store: &Store, claim: Arc<Claim>, job: Option<Box<JobRequest>>) {
    let report = Report {
        step: Step::Apply,
        attempt: 1,
        changes: Changes::default(),
        checkpoint: Value::Null,
        end: End::Waits { after: Duration::from_secs(3600), signal: None, message: "Waiting for a runner".into() },
        outputs: None,
        memory: None,
        holds: None,
        job,
    };
    let (ladder, drift_interval) = (Ladder::default(), Duration::from_secs(300));
    let conclusion = Conclusion { claim, report, holder: "story".into(), ladder, drift_interval, chance: 0.5 };
    store.conclude(vec![conclusion]).await.expect("written");
}

pub async fn take(store: &Store, id: JobId, runner: &str) -> Option<i64> {
    let taken = store.take_jobs(vec![id], runner.into(), LEASE).await.expect("an answer");
    taken.first().map(|taken| taken.job.fencing_token)
}

async fn is_due(store: &Store, id: ResourceId) -> bool {
    store.due(store.now(), 10).await.expect("what is due").iter().any(|due| due.id == id)
}

async fn a_job_is_one_runners_and_its_end_wakes_the_operation(db: Db) {
    let store = &db.store;
    let (id, job) = queued(store, "orders").await;
    assert_eq!(store.offered_jobs(RunnerId::EMBEDDED, 10).await.expect("offers").len(), 1);
    let token = take(store, job, "first").await.expect("it is free");
    assert_eq!(take(store, job, "second").await, None, "it is taken");
    assert!(store.offered_jobs(RunnerId::EMBEDDED, 10).await.expect("offers").is_empty());
    assert!(!is_due(store, id).await);
    let report = JobReport::ended(JobEnd::Succeeded);
    assert!(!store.finish_job(job, token + 1, report.clone(), None).await.expect("an answer"), "another's token");
    assert!(store.finish_job(job, token, report.clone(), None).await.expect("an answer"));
    assert!(!store.finish_job(job, token, report, None).await.expect("an answer"), "it ends once");
    assert!(is_due(store, id).await);
}

async fn a_job_that_ends_while_its_operation_is_looked_at_is_not_waited_for_any_longer(db: Db) {
    let store = &db.store;
    let (id, job) = queued(store, "orders").await;
    let token = take(store, job, "first").await.expect("it is free");
    let look = async || {
        db.execute("UPDATE resources SET next_reconcile_at = 1").await;
        claim(store, id).await
    };
    conclude(store, look().await, None).await;
    assert!(!is_due(store, id).await, "nothing has happened to the job");
    let looked = look().await;
    assert!(store.finish_job(job, token, JobReport::ended(JobEnd::Succeeded), None).await.expect("an answer"));
    conclude(store, looked, None).await;
    assert!(is_due(store, id).await);
    conclude(store, look().await, None).await;
    assert!(!is_due(store, id).await, "it has heard of the end, and waits for something else");
}

async fn a_job_that_is_not_renewed_is_anothers_and_its_first_runner_writes_nothing(db: Db) {
    let store = &db.store;
    let (id, job) = queued(store, "orders").await;
    let token = take(store, job, "first").await.expect("it is free");
    assert_eq!(store.renew_jobs(vec![(job, token, LEASE)]).await.expect("an answer").len(), 1);
    db.execute("UPDATE jobs SET lease_until = 1").await;
    assert_eq!(store.renew_jobs(vec![(job, token, LEASE)]).await.expect("an answer").len(), 0, "too late");
    assert_eq!(store.offered_jobs(RunnerId::EMBEDDED, 10).await.expect("offers").len(), 1);
    let next = take(store, job, "second").await.expect("it is free again");
    assert!(next > token);
    let piece = LogPiece { start: 0, bytes: b"late".to_vec() };
    assert_eq!(store.append_log(job, token, piece).await.expect("an answer"), None);
    assert!(!store.put_state(job, token, state(id, 7)).await.expect("an answer"));
    assert!(store.put_state(job, next, state(id, 1)).await.expect("an answer"));
    let report = JobReport::ended(JobEnd::Succeeded);
    assert!(!store.finish_job(job, token, report, None).await.expect("an answer"));
}

async fn a_log_has_no_gap_and_no_repetition(db: Db) {
    let store = &db.store;
    let (_, job) = queued(store, "orders").await;
    let token = take(store, job, "first").await.expect("it is free");
    let append = async |start: i64, bytes: &str| {
        let piece = LogPiece { start, bytes: bytes.into() };
        store.append_log(job, token, piece).await.expect("an answer").expect("it is ours")
    };
    assert_eq!(append(0, "hello ").await, 6);
    assert_eq!(append(0, "hello world").await, 11, "what is known is not written again");
    assert_eq!(append(3, "lo").await, 11);
    assert_eq!(append(20, "far").await, 11, "no gap is left");
    assert_eq!(append(11, "!").await, 12);
    for (from, limit, expected) in [(0, 100, "hello world!"), (4, 3, "o w"), (11, 9, "!"), (12, 9, ""), (99, 9, "")] {
        let found = store.log(job, from, limit).await.expect("a log");
        assert_eq!(String::from_utf8_lossy(&found), expected, "from {from}, {limit} bytes");
    }
}

async fn a_log_ends_with_its_job_and_goes_on_with_its_next_runner(db: Db) {
    let store = &db.store;
    let (_, job) = queued(store, "orders").await;
    let token = take(store, job, "first").await.expect("it is free");
    let append = async |token, start: i64, bytes: &str| {
        store.append_log(job, token, LogPiece { start, bytes: bytes.into() }).await.expect("an answer")
    };
    assert_eq!(append(token, 0, "begun\n").await, Some(6));
    db.execute("UPDATE jobs SET lease_until = 1").await;
    let taken = store.take_jobs(vec![job], "second".into(), LEASE).await.expect("an answer").remove(0);
    assert_eq!(taken.job.log_bytes, 6, "where the next runner's log begins");
    let next = taken.job.fencing_token;
    assert_eq!(append(token, 6, "late\n").await, None);
    assert_eq!(append(next, 6, "anew\n").await, Some(11));
    let standing = store.log_standing(job).await.expect("an answer").expect("a job");
    assert_eq!((standing.fencing_token, standing.length, standing.is_over()), (next, 11, false));
    let report = JobReport::ended(JobEnd::Succeeded);
    assert!(store.finish_job(job, next, report, None).await.expect("an answer"));
    assert_eq!(append(next, 11, "after the end\n").await, None);
    let standing = store.log_standing(job).await.expect("an answer").expect("a job");
    assert_eq!((standing.length, standing.is_over()), (11, true));
    assert_eq!(store.log_standing(JobId(job.0 + 1)).await.expect("an answer"), None);
}

async fn what_is_added_to_a_log_wakes_only_those_who_read_logs(db: Db) {
    let store = &db.store;
    let (_, job) = queued(store, "orders").await;
    let token = take(store, job, "first").await.expect("it is free");
    let (mut bell, mut closely) = (store.bell().listen(), store.bell().listen_closely());
    for at in 0..3 {
        let piece = LogPiece { start: at, bytes: b"x".to_vec() };
        store.append_log(job, token, piece).await.expect("an answer");
        eventually("a murmur", closely.changed()).await.expect("the bell hangs");
    }
    // On PostgreSQL what was rung before may still be on its way.
    if !db.is_postgres() {
        assert!(!bell.has_changed().expect("the bell hangs"));
    }
    let report = JobReport::ended(JobEnd::Succeeded);
    store.finish_job(job, token, report, None).await.expect("an answer");
    eventually("a ring", bell.changed()).await.expect("the bell hangs");
    eventually("a ring", closely.changed()).await.expect("the bell hangs");
}

fn state(resource: ResourceId, serial: i64) -> NewState {
    NewState {
        tenant: home().id,
        resource,
        serial,
        lineage: "a".into(),
        sha256: serial.to_string(),
        objects: 1,
        sealed: vec![1, 2, 3],
        key_id: "key".into(),
    }
}

async fn bring(store: &Store, id: ResourceId, serial: i64, lock: Option<&'static str>) -> Result<StateVersion, Error> {
    store
        .write(0, move |tx| {
            Box::pin(async move {
                let held = tx.hold_resource(&home(), id).await?;
                tx.bring_state(&home(), &Actor::system(), &held, &state(id, serial), lock, Succession::GoesOn).await
            })
        })
        .await
}

async fn lock(store: &Store, id: ResourceId, with: &'static str) -> Result<(), Error> {
    store
        .write(0, move |tx| {
            Box::pin(async move {
                let held = tx.hold_resource(&home(), id).await?;
                let lock = LockInfo { id: with.into(), who: "someone@laptop".into(), ..LockInfo::default() };
                tx.lock_state(&home(), &Actor::system(), &held, &lock).await
            })
        })
        .await
}

async fn unlock(store: &Store, id: ResourceId, with: &'static str) -> Result<(), Error> {
    store
        .write(0, move |tx| {
            Box::pin(async move {
                let held = tx.hold_resource(&home(), id).await?;
                tx.unlock_state(&home(), &Actor::system(), &held, with).await
            })
        })
        .await
}

async fn a_state_never_follows_one_that_is_newer_or_of_something_else(db: Db) {
    let store = &db.store;
    let (id, job) = queued(store, "orders").await;
    let first = bring(store, id, 3, None).await.expect("kept");
    assert_eq!(bring(store, id, 3, None).await.expect("an answer").id, first.id, "the same once more changes nothing");
    let refused = |outcome: Result<StateVersion, Error>| match outcome {
        Err(Error::Refused(Refusal::UnfitState { why })) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(bring(store, id, 2, None).await), Corruption::SerialBackwards { old: 3, new: 2 });
    let token = take(store, job, "first").await.expect("it is free");
    let put = async |new: NewState| store.put_state(job, token, new).await.map(|_| first.clone());
    let other = NewState { sha256: "other".into(), ..state(id, 3) };
    assert_eq!(refused(put(other).await), Corruption::SameSerial { serial: 3 });
    let other = NewState { lineage: "b".into(), ..state(id, 9) };
    assert!(matches!(refused(put(other).await), Corruption::OtherLineage { .. }));
    assert!(store.put_state(job, token, state(id, 5)).await.expect("an answer"));
    assert_eq!(refused(put(state(id, 4)).await), Corruption::SerialBackwards { old: 5, new: 4 });
    let serials: Vec<_> = store.states(&home(), id, 9).await.expect("versions").iter().map(|it| it.serial).collect();
    assert_eq!(serials, [5, 3], "nothing was overwritten");
}

async fn a_state_is_written_by_a_job_or_by_who_has_locked_it_and_never_by_both(db: Db) {
    let store = &db.store;
    let (id, job) = queued(store, "orders").await;
    lock(store, id, "mine").await.expect("it is free");
    lock(store, id, "mine").await.expect("twice is once");
    assert!(matches!(lock(store, id, "yours").await, Err(Error::Refused(Refusal::Locked { .. }))));
    assert!(matches!(bring(store, id, 1, None).await, Err(Error::Refused(Refusal::Locked { .. }))));
    let taken = store.take_jobs(vec![job], "first".into(), LEASE).await.expect("an answer").remove(0);
    assert_eq!(taken.locked.expect("the job is told").lock.id, "mine");
    bring(store, id, 1, Some("mine")).await.expect("who has locked it writes on");
    assert!(matches!(unlock(store, id, "yours").await, Err(Error::Refused(Refusal::OtherLock { .. }))));
    let end = JobReport::ended(JobEnd::Succeeded);
    assert!(store.finish_job(job, taken.job.fencing_token, end, None).await.expect("an answer"));
    db.execute("UPDATE resources SET next_reconcile_at = next_reconcile_at + 3600000000").await;
    assert!(!is_due(store, id).await);
    unlock(store, id, "mine").await.expect("it is ours");
    assert!(is_due(store, id).await, "what waited for the lock is tried at once");

    let (id, job) = queued(store, "users").await;
    let taken = store.take_jobs(vec![job], "first".into(), LEASE).await.expect("an answer").remove(0);
    assert_eq!(taken.locked, None);
    let name = format!("terrane-job-{job}");
    match lock(store, id, "mine").await {
        Err(Error::Refused(Refusal::Locked { hold })) => assert_eq!((hold.job_id, hold.lock.id), (Some(job), name)),
        other => panic!("{other:?}"),
    }
    assert!(matches!(bring(store, id, 1, None).await, Err(Error::Refused(Refusal::Locked { .. }))));
    assert!(matches!(bring(store, id, 1, Some("terrane-job-1")).await, Err(Error::Refused(Refusal::Locked { .. }))));
}

async fn of_a_lock_and_a_job_that_come_together_one_gives_way(db: Db) {
    let store = &db.store;
    for round in 0..8 {
        let (id, job) = queued(store, &format!("orders-{round}")).await;
        let (taken, locked) =
            futures::join!(store.take_jobs(vec![job], "first".into(), LEASE), lock(store, id, "mine"));
        let taken = taken.expect("an answer").remove(0);
        assert_ne!(taken.locked.is_none(), locked.is_ok(), "both or neither may write");
    }
}

async fn a_job_has_one_version_of_the_state_and_others_stay(db: Db) {
    let store = &db.store;
    let (id, job) = queued(store, "orders").await;
    bring(store, id, 1, None).await.expect("kept");
    let token = take(store, job, "first").await.expect("it is free");
    for serial in [2, 3, 4] {
        assert!(store.put_state(job, token, state(id, serial)).await.expect("an answer"));
    }
    let serials: Vec<_> =
        store.states(&home(), id, 10).await.expect("versions").iter().map(|state| state.serial).collect();
    assert_eq!(serials, [4, 1]);
    let newest = store.newest_state(home().id, id).await.expect("an answer").expect("a state");
    assert_eq!((newest.version.serial, newest.sealed), (4, vec![1, 2, 3]));
}

async fn a_job_that_waits_is_cancelled_at_once_and_one_that_runs_is_told(db: Db) {
    let store = &db.store;
    let (id, waiting) = queued(store, "orders").await;
    assert_eq!(store.stop_job(waiting, "interrupt").await.expect("an answer"), Some(JobState::Cancelled));
    assert!(is_due(store, id).await);
    assert_eq!(take(store, waiting, "first").await, None);
    assert_eq!(store.stop_job(waiting, "kill").await.expect("an answer"), None, "it is over");
    let (_, running) = queued(store, "users").await;
    let token = take(store, running, "first").await.expect("it is free");
    assert_eq!(store.stop_job(running, "interrupt").await.expect("an answer"), Some(JobState::Running));
    let kept = store.renew_jobs(vec![(running, token, LEASE)]).await.expect("an answer").remove(0);
    assert_eq!(kept.stop.as_deref(), Some("interrupt"));
}

async fn consent_is_given_once_to_the_plan_that_is_meant(db: Db) {
    let store = &db.store;
    let (id, job) = queued(store, "orders").await;
    let token = take(store, job, "first").await.expect("it is free");
    let plan = SealedPlan { tenant: home().id, job, sha256: "ab".into(), sealed: vec![7], key_id: "key".into() };
    let report = JobReport::ended(JobEnd::AwaitsApproval);
    assert!(store.finish_job(job, token, report, Some(plan)).await.expect("an answer"));
    assert!(store.approved_plan(home().id, job).await.expect("an answer").is_none());
    let approve =
        async |sha: &str| store.approve_job(home(), job, sha.into(), "someone".into()).await.expect("an answer");
    assert!(!approve("cd").await, "another plan");
    db.execute("UPDATE resources SET generation = generation + 1").await;
    assert!(!approve("ab").await, "something else is wanted by now");
    db.execute("UPDATE resources SET generation = generation - 1").await;
    assert!(approve("ab").await);
    assert!(!approve("ab").await, "once");
    let approved = store.approved_plan(home().id, job).await.expect("an answer").expect("a plan");
    assert_eq!((approved.sha256.as_str(), approved.sealed), ("ab", vec![7]));
    assert!(is_due(store, id).await);
}

on_both!(
    a_job_is_one_runners_and_its_end_wakes_the_operation,
    a_job_that_ends_while_its_operation_is_looked_at_is_not_waited_for_any_longer,
    a_job_that_is_not_renewed_is_anothers_and_its_first_runner_writes_nothing,
    a_log_has_no_gap_and_no_repetition,
    a_log_ends_with_its_job_and_goes_on_with_its_next_runner,
    what_is_added_to_a_log_wakes_only_those_who_read_logs,
    a_job_has_one_version_of_the_state_and_others_stay,
    a_job_that_waits_is_cancelled_at_once_and_one_that_runs_is_told,
    consent_is_given_once_to_the_plan_that_is_meant,
    a_state_never_follows_one_that_is_newer_or_of_something_else,
    a_state_is_written_by_a_job_or_by_who_has_locked_it_and_never_by_both,
    of_a_lock_and_a_job_that_come_together_one_gives_way,
);
