//! A controller of a few lines: calls a plugin, writes down what it answers and calls again. Time passes as asked for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use model::plugin::{Answer, CONTRACT, Call, CallOperation, CallResource, Done, Outcome, Step, Wait};
use model::{Failure, Reason, quick_retry};
use plugins::actions::forge::Clock;
use plugins::{Action, Door, DoorPolicy, Secret, Secrets, Until, World};
use serde_json::{Value, json};

/// Enough calls for anything that ends.
const MANY: usize = 2000;

/// The time, for the plugin and its server alike.
#[derive(Clone)]
pub struct Time(Arc<AtomicI64>);

impl Time {
    pub fn new() -> Time {
        Time(Arc::new(AtomicI64::new(1_800_000_000)))
    }

    pub fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    pub fn pass(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub fn pass_for(&self, seconds: u64) {
        self.pass(i64::try_from(seconds).expect("a time to live through"));
    }

    pub fn clock(&self) -> Clock {
        let time = self.clone();
        Clock::of(move || time.now())
    }
}

type Maker = Box<dyn Fn() -> Box<dyn Action>>;

pub struct Journey {
    make: Maker,
    plugin: Box<dyn Action>,
    pub time: Time,
    pub call: Call,
    pub secrets: Arc<Secrets>,
    pub holds: Vec<String>,
    /// What was said while waiting.
    pub said: Vec<String>,
    pub waits: Vec<Wait>,
}

impl Journey {
    pub fn new(time: &Time, config: Value, make: impl Fn() -> Box<dyn Action> + 'static) -> Journey {
        let call = Call {
            contract: CONTRACT.into(),
            step: Step::Validate,
            operation: CallOperation { id: 1, reason: Reason::Created, attempt: 1, started_at: time.now() },
            resource: CallResource {
                id: 7,
                name: "pg".into(),
                tenant: "default".into(),
                type_name: "Database".into(),
                type_version: "v1".into(),
                generation: 1,
                labels: BTreeMap::default(),
                annotations: BTreeMap::default(),
            },
            spec: json!({ "size": 3 }),
            config,
            outputs: json!({}),
            checkpoint: Value::Null,
            memory: Value::Null,
            superseded: false,
            job: None,
        };
        let (plugin, secrets) = (make(), Arc::default());
        let (holds, said, waits) = (Vec::new(), Vec::new(), Vec::new());
        Journey { make: Box::new(make), plugin, time: time.clone(), call, secrets, holds, said, waits }
    }

    pub fn with_secret(mut self, name: &str, value: &str) -> Journey {
        let secret = Secret { value: value.into(), hosts: Vec::new() };
        self.secrets = Arc::new(Secrets(BTreeMap::from([(name.to_owned(), secret)])));
        self
    }

    /// Another operation on the same resource.
    pub fn operation(&mut self, reason: Reason) {
        let id = self.call.operation.id + 1;
        self.call.operation = CallOperation { id, reason, attempt: 1, started_at: self.time.now() };
        self.call.checkpoint = Value::Null;
    }

    /// The process dies; another one takes over with what is written down.
    pub fn crash(&mut self) {
        self.plugin = (self.make)();
    }

    /// One call whose answer nobody writes down, for the process dies of it.
    pub async fn call_and_crash(&mut self, step: Step) {
        self.call.step = step;
        self.plugin.call(&self.call, &self.world()).await;
        self.crash();
    }

    /// One call.
    pub async fn once(&mut self, step: Step) -> Outcome {
        self.call.step = step;
        let answer = self.plugin.call(&self.call, &self.world()).await;
        self.write_down(answer)
    }

    /// From the first call of a step to its end, with the quick retries of a transient failure.
    pub async fn run(&mut self, step: Step) -> Outcome {
        for _ in 0..MANY {
            match self.once(step).await {
                Outcome::Wait(wait) => self.time.pass_for(wait.wake.after_seconds),
                Outcome::Failed(failure) => match quick_retry(&failure, self.call.operation.attempt) {
                    Some(pause) => {
                        self.time.pass_for(pause.as_secs());
                        self.call.operation.attempt += 1;
                    }
                    None => return self.end(Outcome::Failed(failure)),
                },
                done => return self.end(done),
            }
        }
        panic!("{} does not end: {:?}", step.as_str(), self.call.checkpoint)
    }

    pub async fn done(&mut self, step: Step) -> Done {
        match self.run(step).await {
            Outcome::Done(done) => done,
            other => panic!("{} is not done: {other:?}", step.as_str()),
        }
    }

    pub async fn failed(&mut self, step: Step) -> Failure {
        match self.run(step).await {
            Outcome::Failed(failure) => failure,
            other => panic!("{} has not failed: {other:?}", step.as_str()),
        }
    }

    /// Call until what is written down is at this place.
    pub async fn until(&mut self, step: Step, at: &str) {
        for _ in 0..MANY {
            if self.call.checkpoint.get("at").and_then(Value::as_str) == Some(at) {
                return;
            }
            match self.once(step).await {
                Outcome::Wait(wait) => self.time.pass_for(wait.wake.after_seconds),
                other => panic!("ended before it was {at}: {other:?}"),
            }
        }
        panic!("never {at}: {:?}", self.call.checkpoint)
    }

    fn end(&mut self, outcome: Outcome) -> Outcome {
        self.call.checkpoint = Value::Null;
        outcome
    }

    fn write_down(&mut self, answer: Answer) -> Outcome {
        if let Some(memory) = answer.memory {
            self.call.memory = memory;
        }
        if let Some(holds) = answer.holds {
            self.holds = holds;
        }
        match &answer.outcome {
            Outcome::Wait(wait) => {
                self.call.checkpoint = wait.checkpoint.clone();
                self.said.extend(wait.message.clone());
                self.waits.push(wait.clone());
            }
            Outcome::Done(done) => {
                if let Some(outputs) = &done.outputs {
                    self.call.outputs = outputs.clone();
                }
            }
            Outcome::Failed(_) => {}
        }
        answer.outcome
    }

    fn world(&self) -> World {
        // Every test is a process of its own, or has done so already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let door = Door::new(DoorPolicy::allowing(["127.0.0.1"]));
        World { door, secrets: Arc::clone(&self.secrets), until: Until::default() }
    }
}
