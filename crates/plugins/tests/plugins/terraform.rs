//! What the action `terraform` makes of its jobs' ends: tries, clean-ups, choices, alerts, and what is remembered.

use std::sync::Arc;

use model::job::{Goal, JobEnd, JobProgress, JobReport, JobState, Made, Source, Suspect, Work};
use model::plugin::{Answer, Call, Outcome, Step};
use model::{Choice, Class, Failure, JobId, Reason, Retry};
use plugins::actions::terraform::Terraform;
use plugins::{Action, Door, DoorPolicy, Until, World};
use serde_json::{Value, json};

use crate::harness::{call, done, failed, waits};

/// A resource whose jobs end as they are told to.
pub struct Told {
    pub call: Call,
    jobs: i64,
}

impl Told {
    pub fn new(step: Step, config: Value) -> Told {
        let mut config = config;
        config["source"] = json!({ "git": "https://git.example/infra.git", "ref": "main" });
        Told { call: call(step, config, json!({ "size": 3 })), jobs: 0 }
    }

    pub async fn ask(&mut self) -> Answer {
        let world = World { door: Door::new(DoorPolicy::default()), secrets: Arc::default(), until: Until::default() };
        let answer = Terraform::default().call(&self.call, &world).await;
        self.call.memory = answer.memory.clone().unwrap_or(self.call.memory.clone());
        if let Outcome::Wait(wait) = &answer.outcome {
            self.call.checkpoint = wait.checkpoint.clone();
        }
        if answer.job.is_some() {
            self.jobs += 1;
            let id = JobId(self.jobs);
            self.call.job = Some(JobProgress { id, state: JobState::Queued, report: None, approved: false });
        }
        answer
    }

    /// The job that is queued ends so.
    pub async fn ends(&mut self, report: JobReport) -> Answer {
        let job = self.call.job.as_mut().expect("a job is queued");
        *job = JobProgress { state: JobState::Finished, report: Some(report), ..job.clone() };
        self.ask().await
    }

    /// Another operation.
    pub fn anew(&mut self, step: Step, reason: Reason) -> &mut Told {
        self.call.step = step;
        self.call.operation.reason = reason;
        self.call.checkpoint = Value::Null;
        self.call.job = None;
        self
    }
}

pub fn failure(class: Class) -> JobReport {
    let failure = Failure::new(class, Step::Apply, "aws_vpc.main: it is broken").with_hint("Mend it");
    JobReport::ended(JobEnd::Failed { failure: Failure { address: Some("aws_vpc.main".into()), ..failure } })
}

pub fn having(report: JobReport, addresses: &[&str]) -> JobReport {
    let made = |address: &&str| Made { address: address.to_string(), id: format!("id-of-{address}") };
    JobReport { objects: addresses.iter().map(made).collect(), ..report }
}

fn suspecting(report: JobReport, address: &str, id: Option<&str>) -> JobReport {
    let suspect = Suspect {
        address: address.into(),
        action: "create".into(),
        id: id.map(Into::into),
        name: Some("main".into()),
        tags: [("owner".to_owned(), "ops".to_owned())].into(),
    };
    JobReport { suspects: vec![suspect], ..report }
}

fn succeeded() -> JobReport {
    JobReport::ended(JobEnd::Succeeded)
}

fn goal(answer: &Answer) -> Goal {
    let Work::Terraform(terraform) = &answer.job.as_ref().expect("a job is asked for").work;
    terraform.goal
}

#[tokio::test]
async fn a_transient_failure_is_tried_five_times_more_and_then_left_to_the_ladder() {
    let mut told = Told::new(Step::Apply, json!({ "on_failure": "keep" }));
    told.ask().await;
    let mut pauses = vec![];
    let last = loop {
        let answer = told.ends(failure(Class::Network)).await;
        let Outcome::Wait(wait) = &answer.outcome else { break answer };
        pauses.push(wait.wake.after_seconds);
        assert!(answer.job.is_none(), "it pauses first");
        assert_eq!(goal(&told.ask().await), Goal::Apply);
        assert!(pauses.len() < 10, "it does not end");
    };
    assert_eq!(pauses, [10, 20, 40, 80, 160]);
    assert_eq!(failed(&last).retry(), Retry::Later, "the controller does not try it again by itself");
    assert_eq!(told.jobs, 6);
}

#[tokio::test]
async fn a_failed_first_provision_is_cleaned_up_and_says_that_nothing_follows_by_itself() {
    let mut told = Told::new(Step::Apply, json!({}));
    told.ask().await;
    let answer = told.ends(having(failure(Class::Quota), &["aws_vpc.main"])).await;
    assert_eq!(goal(&answer), Goal::Destroy);
    assert_eq!(answer.holds.as_deref(), Some(&["aws_vpc.main (id-of-aws_vpc.main)".to_owned()][..]));
    let answer = told.ends(succeeded()).await;
    let end = failed(&answer);
    assert_eq!((end.class, end.retry(), end.alert), (Class::Quota, Retry::OnChange, false));
    assert_eq!(end.choices, [Choice::Retry]);
    assert!(end.message.contains("it is broken") && end.message.contains("removed again"), "{end}");
    assert!(end.hint.contains("Mend it.") && end.hint.contains("until the spec changes"), "{end}");
    assert_eq!(answer.holds.as_deref(), Some(&[][..]));
    told.anew(Step::Destroy, Reason::Deleted);
    done(&told.ask().await);
}

#[tokio::test]
async fn where_nothing_was_made_there_is_nothing_to_clean_up() {
    let mut told = Told::new(Step::Apply, json!({}));
    told.ask().await;
    let answer = told.ends(failure(Class::Rejected)).await;
    assert_eq!((failed(&answer).retry(), &failed(&answer).choices), (Retry::Later, &vec![Choice::Retry]));
}

#[tokio::test]
async fn a_clean_up_is_tried_three_times_more_and_then_alerts_with_what_remains() {
    let mut told = Told::new(Step::Apply, json!({}));
    told.ask().await;
    let left = || having(failure(Class::Rejected), &["aws_vpc.main"]);
    told.ends(left()).await;
    for _ in 0..3 {
        let answer = told.ends(left()).await;
        waits(&answer);
        assert_eq!(goal(&told.ask().await), Goal::Destroy);
    }
    let answer = told.ends(left()).await;
    let end = failed(&answer);
    assert!(end.alert);
    assert_eq!(end.retry(), Retry::OnChange);
    assert_eq!(end.choices, [Choice::Cleanup, Choice::Continue, Choice::Retry]);
    assert_eq!(answer.holds.as_deref(), Some(&["aws_vpc.main (id-of-aws_vpc.main)".to_owned()][..]));
    // A person has it cleaned up after all.
    told.anew(Step::Apply, Reason::CleanedUp);
    assert_eq!(goal(&told.ask().await), Goal::Destroy);
    let answer = told.ends(succeeded()).await;
    assert_eq!((failed(&answer).class, &failed(&answer).choices), (Class::Cancelled, &vec![Choice::Retry]));
    assert!(!failed(&answer).alert);
}

#[tokio::test]
async fn kept_or_asked_nothing_is_destroyed_and_asked_nothing_is_tried() {
    for (on_failure, retry) in [("keep", Retry::Later), ("ask", Retry::OnChange)] {
        let mut told = Told::new(Step::Apply, json!({ "on_failure": on_failure }));
        told.ask().await;
        let answer = told.ends(having(failure(Class::Rejected), &["aws_vpc.main"])).await;
        assert_eq!(failed(&answer).retry(), retry, "{on_failure}");
        assert_eq!(failed(&answer).choices, [Choice::Retry, Choice::Continue, Choice::Cleanup], "{on_failure}");
    }
}

#[tokio::test]
async fn who_continues_keeps_what_there_is() {
    let mut told = Told::new(Step::Apply, json!({}));
    told.anew(Step::Apply, Reason::Continued).ask().await;
    let answer = told.ends(having(failure(Class::Quota), &["aws_vpc.main"])).await;
    assert_eq!(failed(&answer).choices, [Choice::Retry, Choice::Continue, Choice::Cleanup]);
}

#[tokio::test]
async fn a_crash_is_tried_once_more_and_then_alerts_and_keeps_everything() {
    let mut told = Told::new(Step::Apply, json!({}));
    told.ask().await;
    let crash = || having(failure(Class::Crash), &["aws_vpc.main"]);
    waits(&told.ends(crash()).await);
    told.ask().await;
    let answer = told.ends(crash()).await;
    assert_eq!((failed(&answer).retry(), failed(&answer).alert), (Retry::OnChange, true));
    assert!(answer.job.is_none(), "nothing is destroyed");
}

#[tokio::test]
async fn a_delete_is_tried_three_times_more_and_then_alerts() {
    let mut told = Told::new(Step::Destroy, json!({}));
    told.call.memory = json!({ "began": true });
    told.ask().await;
    for _ in 0..3 {
        waits(&told.ends(having(failure(Class::Credentials), &["aws_vpc.main"])).await);
        told.ask().await;
    }
    let answer = told.ends(having(failure(Class::Credentials), &["aws_vpc.main"])).await;
    assert!(failed(&answer).alert);
    assert_eq!(failed(&answer).choices, [Choice::Retry]);
}

#[tokio::test]
async fn a_rollback_takes_the_inputs_and_the_commit_that_went_well_and_asks_for_consent() {
    let mut told = Told::new(Step::Apply, json!({ "variables": { "size": "${spec.size}" } }));
    told.ask().await;
    let mut well = having(succeeded(), &["aws_vpc.main"]);
    well.versions.module_commit = Some("abc123".into());
    done(&told.ends(well).await);

    told.anew(Step::Apply, Reason::Updated);
    told.call.resource.generation += 1;
    told.call.spec = json!({ "size": 9 });
    let answer = told.ask().await;
    let Work::Terraform(update) = &answer.job.as_ref().expect("a job").work;
    assert!(matches!(&update.source, Source::Git { commit: None, .. }), "another generation, another commit");
    let answer = told.ends(having(failure(Class::Quota), &["aws_vpc.main"])).await;
    assert_eq!(failed(&answer).choices, [Choice::Retry, Choice::Continue, Choice::Rollback]);

    told.anew(Step::Apply, Reason::RolledBack);
    told.call.resource.generation -= 1;
    let answer = told.ask().await;
    let Work::Terraform(back) = &answer.job.as_ref().expect("a job").work;
    assert_eq!(back.variables.get("size"), Some(&json!(3)));
    assert!(matches!(&back.source, Source::Git { commit: Some(commit), .. } if commit == "abc123"), "{back:?}");
    assert_eq!(back.approval, model::job::Approval::Manual);
}

#[tokio::test]
async fn what_exists_already_is_matched_with_what_an_earlier_run_began() {
    let mut told = Told::new(Step::Apply, json!({}));
    told.ask().await;
    let answer = told.ends(suspecting(failure(Class::Uncertain), "aws_vpc.main", None)).await;
    assert_eq!((failed(&answer).alert, failed(&answer).retry()), (true, Retry::OnChange));
    assert_eq!(failed(&answer).choices, [Choice::Retry, Choice::Import]);
    let holds = answer.holds.clone().unwrap_or_default().join("\n");
    assert!(holds.starts_with("aws_vpc.main (name main, tag owner=ops): perhaps"), "{holds}");

    told.anew(Step::Apply, Reason::Requested).ask().await;
    let answer = told.ends(failure(Class::Conflict)).await;
    assert_eq!(failed(&answer).choices, [Choice::Retry, Choice::Import]);
    assert!(failed(&answer).hint.contains("terrane import Database/orders aws_vpc.main main"), "{}", failed(&answer));

    told.anew(Step::Apply, Reason::Imported);
    assert!(told.ask().await.job.expect("a job").imports);
    let answer = told.ends(having(succeeded(), &["aws_vpc.main"])).await;
    done(&answer);
    assert_eq!(answer.holds.as_deref(), Some(&["aws_vpc.main (id-of-aws_vpc.main)".to_owned()][..]), "it is settled");
}

#[tokio::test]
async fn what_may_exist_is_not_forgotten_by_a_clean_up_nor_by_a_delete() {
    let mut told = Told::new(Step::Apply, json!({}));
    told.ask().await;
    let half = suspecting(failure(Class::Quota), "aws_subnet.a", Some("subnet-7"));
    told.ends(having(half, &["aws_vpc.main"])).await;
    let answer = told.ends(succeeded()).await;
    assert!(failed(&answer).alert, "something may be left");
    assert!(answer.holds.clone().unwrap_or_default()[0].contains("subnet-7"), "{answer:?}");

    told.anew(Step::Destroy, Reason::Deleted).ask().await;
    let answer = told.ends(succeeded()).await;
    assert_eq!((failed(&answer).class, failed(&answer).alert), (Class::Uncertain, true));
    assert!(failed(&answer).message.contains("aws_subnet.a (subnet-7"), "{}", failed(&answer));
}

#[tokio::test]
async fn a_new_spec_does_not_wait_for_the_next_try() {
    let mut told = Told::new(Step::Apply, json!({}));
    told.ask().await;
    let answer = told.ends(failure(Class::Throttle)).await;
    assert_eq!(waits(&answer).wake.signal.as_deref(), Some(model::plugin::ON_CHANGE));
    told.call.superseded = true;
    assert_eq!(failed(&told.ask().await).class, Class::Conflict);
}
