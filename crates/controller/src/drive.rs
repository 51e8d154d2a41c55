//! Drives one claim through its plugin's steps, until it is done, has to wait, or failed. Touches nothing but the plugin:
//! what comes out is a report, which the ledger writes down.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use model::job::JobRequest;
use model::plugin::{
    Answer, CONTRACT, Call, CallOperation, CallResource, Changes, Done, Observation, Outcome, Step, Wait,
};
use model::reconcile::{End, Report};
use model::{Choice, Class, Failure, OperationKind, Retry, quick_retry};
use plugins::{Action, Secret, Secrets, Until, World};
use serde_json::Value;
use store::Claim;

use crate::Controller;
use crate::desk::Deadline;

/// Checkpoints that may be written in a row without a pause, before it counts as a loop.
const MAX_NOTES: usize = 16;
/// Characters of a message or hint.
const MAX_TEXT: usize = 4096;
/// Bytes of checkpoint, memory, outputs and the like that one answer may leave behind.
const MAX_ANSWER: usize = 1 << 20;
/// The longest that an operation waits without being looked at.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

/// What has come of an operation so far.
pub(crate) struct Progress {
    step: Step,
    attempt: i64,
    changes: Changes,
    outputs: Option<Value>,
    memory: Option<Value>,
    holds: Option<Vec<String>>,
    job: Option<Box<JobRequest>>,
    checkpoint: Value,
    message: Option<String>,
    verdict: Option<Observation>,
}

/// Ends a drive early.
enum Stop {
    End(End),
    /// The claim is not ours any more: nothing is written.
    Lost,
}

impl Controller {
    /// What came of the claim; nothing where it was lost on the way.
    pub(crate) async fn drive(&self, claim: &Arc<Claim>, deadline: &Deadline) -> Option<Report> {
        let body = &claim.operation.body;
        let mut progress = Progress {
            step: body.step,
            attempt: body.attempt,
            changes: body.changes,
            outputs: None,
            memory: None,
            holds: None,
            job: None,
            checkpoint: claim.operation.checkpoint.clone(),
            message: None,
            verdict: None,
        };
        let end = match self.walk(claim, deadline, &mut progress).await {
            Ok(watch) => progress.end(body.kind, watch),
            Err(Stop::End(end)) => end,
            Err(Stop::Lost) => return None,
        };
        Some(progress.report(end))
    }

    /// Through the steps that are left. Whether the plugin can look for drift.
    async fn walk(&self, claim: &Arc<Claim>, deadline: &Deadline, progress: &mut Progress) -> Result<bool, Stop> {
        let resource = &claim.record.resource;
        let Some(plugin) = self.tools.registry.get(&resource.action_plugin) else {
            return Err(progress.fail(with_way_out(self.no_plugin(&resource.action_plugin, progress.step))));
        };
        let mut config = claim.type_config.clone();
        json_patch::merge(&mut config, &resource.plugin_config);
        let secrets = self.open_secrets(claim, &config, progress).await?;
        let limits = deadline.clone();
        let world = World {
            door: self.tools.door.clone(),
            secrets: secrets.clone(),
            until: Until::new(move || limits.until()),
        };
        let watch = plugin.observes(&config);
        let mut call = call(claim, config);
        let steps = body_steps(claim.operation.body.kind, progress.step);
        let mut nothing_to_apply = false;
        for step in steps {
            if !plugin.descriptor().takes(*step) || (*step == Step::Apply && nothing_to_apply) {
                continue;
            }
            if *step != progress.step {
                progress.step = *step;
                progress.checkpoint = Value::Null;
            }
            let done = self.ask(plugin.as_ref(), &mut call, claim, deadline, &world, progress).await?;
            nothing_to_apply |= *step == Step::Plan && done.changes.is_some_and(Changes::is_none);
            progress.take(*step, done);
        }
        Ok(watch)
    }

    /// Ask for one step until it is done. Checkpoints that ask for no pause are written down on the way.
    async fn ask(
        &self,
        plugin: &dyn Action,
        call: &mut Call,
        claim: &Arc<Claim>,
        deadline: &Deadline,
        world: &World,
        progress: &mut Progress,
    ) -> Result<Done, Stop> {
        for _ in 0..MAX_NOTES {
            call.step = progress.step;
            call.operation.attempt = progress.attempt;
            call.checkpoint = progress.checkpoint.clone();
            if deadline.is_over() {
                return Err(Stop::Lost);
            }
            let answer = self.call(plugin, call, world).await;
            let Answer { outcome, memory, holds, job } = bounded(redacted(answer, &world.secrets), progress.step);
            if let Some(memory) = memory {
                call.memory = memory.clone();
                progress.memory = Some(memory);
            }
            progress.holds = holds.or(progress.holds.take());
            progress.job = job;
            match outcome {
                Outcome::Done(done) => {
                    progress.attempt = 1;
                    return Ok(done);
                }
                Outcome::Failed(failure) => return Err(progress.fail(with_way_out(failure))),
                Outcome::Wait(wait) if wait.wake.after_seconds == 0 && wait.wake.signal.is_none() => {
                    progress.attempt = 1;
                    progress.checkpoint = wait.checkpoint;
                    let report = progress.report(End::Noted);
                    if !self.note(claim, report, deadline).await {
                        return Err(Stop::Lost);
                    }
                }
                Outcome::Wait(wait) => {
                    progress.attempt = 1;
                    progress.checkpoint = wait.checkpoint.clone();
                    return Err(Stop::End(waits(wait)));
                }
            }
        }
        let failure = Failure::new(Class::Plugin, progress.step, "the plugin asks to be called again without end");
        Err(progress.fail(failure.with_hint("A plugin that waits for something says how long.")))
    }

    /// One call, whatever the plugin does to us.
    async fn call(&self, plugin: &dyn Action, call: &Call, world: &World) -> Answer {
        let step = call.step;
        let name = &plugin.descriptor().name;
        let limit = self.settings.step_timeout;
        let started = std::time::Instant::now();
        let answer = match tokio::time::timeout(limit, AssertUnwindSafe(plugin.call(call, world)).catch_unwind()).await
        {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Failure::new(Class::Plugin, step, format!("the plugin {name} panicked"))
                .with_hint("This is a defect of the plugin; the server's log has the details.")
                .into(),
            Err(_) => {
                Failure::new(Class::Network, step, format!("the plugin {name} gave no answer within {limit:?}")).into()
            }
        };
        self.metrics.called(name, step, started.elapsed());
        answer
    }

    async fn open_secrets(&self, claim: &Claim, config: &Value, progress: &mut Progress) -> Result<Arc<Secrets>, Stop> {
        let mut names = plugins::references(config);
        names.extend(plugins::references(&claim.record.resource.spec));
        let mut opened = BTreeMap::new();
        for name in names {
            match self.open_secret(claim, &name).await {
                Ok(Some(secret)) => {
                    opened.insert(name, secret);
                }
                Ok(None) => {
                    let failure = Failure::new(
                        Class::Credentials,
                        progress.step,
                        format!("the secret {name} does not exist, or cannot be opened"),
                    );
                    let hint = format!("Set it: terrane secret set {name}");
                    return Err(progress.fail(failure.with_hint(hint)));
                }
                // Our own trouble is no failure of the resource's.
                Err(_) => return Err(Stop::End(End::HandedBack)),
            }
        }
        Ok(Arc::new(Secrets(opened)))
    }

    async fn open_secret(&self, claim: &Claim, name: &str) -> Result<Option<Secret>, store::Error> {
        let Some(sealed) = self.store.sealed_secret(claim.tenant, name).await? else { return Ok(None) };
        let opened = self.tools.keyring.as_ref().map(|keyring| keyring.open(&sealed));
        match opened {
            Some(Ok(value)) => Ok(Some(Secret { value, hosts: sealed.hosts })),
            Some(Err(error)) => {
                tracing::error!(%error, secret = name, tenant = %claim.tenant, "a secret cannot be opened");
                Ok(None)
            }
            None => Ok(None),
        }
    }

    fn no_plugin(&self, name: &str, step: Step) -> Failure {
        let names = self.tools.registry.names().join(", ");
        Failure::new(Class::InvalidConfig, step, format!("there is no action plugin {name}"))
            .with_hint(format!("There are: {names}. Set action_plugin to one of them."))
    }
}

impl Progress {
    fn take(&mut self, step: Step, done: Done) {
        if matches!(step, Step::Apply | Step::Destroy)
            && let Some(changes) = done.changes
        {
            let count = |count: i64| count.clamp(0, 1_000_000_000);
            self.changes = Changes {
                created: count(changes.created),
                updated: count(changes.updated),
                deleted: count(changes.deleted),
            };
        }
        self.outputs = done.outputs.or(self.outputs.take());
        self.message = done.message.or(self.message.take());
        self.verdict = done.observation.or(self.verdict.take());
        self.checkpoint = Value::Null;
    }

    /// Try again soon where that may help; else it failed.
    fn fail(&mut self, failure: Failure) -> Stop {
        let Some(pause) = quick_retry(&failure, self.attempt) else {
            return Stop::End(End::Failed { failure });
        };
        self.attempt += 1;
        let message = format!("{failure}. Trying again in {} s", pause.as_secs());
        Stop::End(End::Waits { after: pause, signal: None, message })
    }

    fn end(&mut self, kind: OperationKind, watch: bool) -> End {
        match kind {
            OperationKind::Reconcile => {
                let message = self.message.take().unwrap_or_else(|| "Reconciliation successful".into());
                End::Succeeded { message, watch }
            }
            OperationKind::Destroy => End::Destroyed,
            OperationKind::Observe => {
                let nothing = Observation::CannotTell { why: "the plugin did not say".into() };
                End::Observed { verdict: self.verdict.take().unwrap_or(nothing), watch }
            }
        }
    }

    fn report(&self, end: End) -> Report {
        Report {
            step: self.step,
            attempt: self.attempt,
            changes: self.changes,
            checkpoint: self.checkpoint.clone(),
            end,
            outputs: self.outputs.clone(),
            memory: self.memory.clone(),
            holds: self.holds.clone(),
            job: self.job.clone(),
        }
    }
}

fn waits(wait: Wait) -> End {
    let Wait { wake, message, .. } = wait;
    End::Waits {
        after: Duration::from_secs(wake.after_seconds).min(LONGEST_WAIT),
        signal: wake.signal,
        message: message.unwrap_or_else(|| "Waiting".into()),
    }
}

fn body_steps(kind: OperationKind, from: Step) -> &'static [Step] {
    let steps = kind.steps();
    let at = steps.iter().position(|step| *step == from).unwrap_or(0);
    &steps[at..]
}

fn call(claim: &Claim, config: Value) -> Call {
    let (resource, operation) = (&claim.record.resource, &claim.operation.body);
    Call {
        contract: CONTRACT.into(),
        step: operation.step,
        operation: CallOperation {
            id: operation.id.0,
            reason: operation.reason,
            attempt: operation.attempt,
            started_at: operation.started_at.as_second(),
        },
        resource: CallResource {
            id: resource.id.0,
            name: resource.name.clone(),
            tenant: resource.tenant.clone(),
            type_name: resource.resource_type_name.clone(),
            type_version: resource.resource_type_version.clone(),
            generation: operation.generation,
            labels: resource.labels.clone(),
            annotations: resource.annotations.clone(),
        },
        spec: resource.spec.clone(),
        config,
        outputs: claim.record.outputs.clone(),
        checkpoint: claim.operation.checkpoint.clone(),
        memory: claim.record.memory.clone(),
        superseded: claim.record.resource.generation > claim.record.begun_generation,
        job: claim.job.clone(),
    }
}

/// A destroy that only a change could mend cannot be changed any more: a person has to know the way out.
fn with_way_out(failure: Failure) -> Failure {
    if failure.step != Step::Destroy || failure.retry() != Retry::OnChange {
        return failure;
    }
    let hint = format!("{} If there is nothing left to destroy: terrane delete --forget.", failure.hint);
    failure.with_hint(hint.trim_start())
}

/// What is written down of an answer is bounded: a plugin that says too much has failed.
fn bounded(mut answer: Answer, step: Step) -> Answer {
    let texts = match &mut answer.outcome {
        Outcome::Done(done) => [done.message.as_mut(), None, None],
        Outcome::Wait(wait) => [wait.message.as_mut(), None, None],
        Outcome::Failed(failure) => {
            failure.choices.truncate(Choice::ALL.len());
            [Some(&mut failure.message), Some(&mut failure.hint), failure.address.as_mut()]
        }
    };
    for text in texts.into_iter().flatten() {
        if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
            text.truncate(end);
            text.push('…');
        }
    }
    let values = match &answer.outcome {
        Outcome::Done(done) => [answer.memory.as_ref(), done.outputs.as_ref()],
        Outcome::Wait(wait) => [answer.memory.as_ref(), Some(&wait.checkpoint)],
        Outcome::Failed(_) => [answer.memory.as_ref(), None],
    };
    let bytes: usize = values.into_iter().flatten().map(|value| value.to_string().len()).sum();
    let held: usize = answer.holds.iter().flatten().map(String::len).sum();
    if bytes + held <= MAX_ANSWER {
        return answer;
    }
    let message = format!("the plugin answered with {} bytes to keep, and may with {MAX_ANSWER} at most", bytes + held);
    Failure::new(Class::Plugin, step, message).into()
}

/// No secret leaves a call: it is struck out of everything that is written down.
fn redacted(mut answer: Answer, secrets: &Secrets) -> Answer {
    if secrets.0.is_empty() {
        return answer;
    }
    if let Some(memory) = &mut answer.memory {
        secrets.redact_value(memory);
    }
    for held in answer.holds.iter_mut().flatten() {
        *held = secrets.redact(held);
    }
    match &mut answer.outcome {
        Outcome::Done(done) => {
            if let Some(outputs) = &mut done.outputs {
                secrets.redact_value(outputs);
            }
            if let Some(message) = &mut done.message {
                *message = secrets.redact(message);
            }
            if let Some(Observation::Drifted { attributes }) = &mut done.observation {
                for attribute in attributes {
                    secrets.redact_value(&mut attribute.expected);
                    secrets.redact_value(&mut attribute.found);
                }
            }
        }
        Outcome::Wait(wait) => {
            secrets.redact_value(&mut wait.checkpoint);
            if let Some(message) = &mut wait.message {
                *message = secrets.redact(message);
            }
        }
        Outcome::Failed(failure) => {
            failure.message = secrets.redact(&failure.message);
            failure.hint = secrets.redact(&failure.hint);
            failure.address = failure.address.take().map(|address| secrets.redact(&address));
        }
    }
    answer
}
