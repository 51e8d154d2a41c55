//! The action plugin `gitlab_pipeline`: a pipeline is created with what its owner wants as variables or inputs, and followed
//! to its end. How that is done neither twice nor not at all is told in `forge`; here is what is GitLab's own.

mod api;
mod config;
mod explain;
mod gitlab;
mod pipelines;
mod schema;
pub mod webhook;

use futures::FutureExt;
use futures::future::BoxFuture;
use model::Failure;
use model::plugin::{Answer, Call, Changes, Descriptor, Done, Step};
use secrecy::SecretString;

use self::api::Api;
use self::config::{Config, Work};
use self::gitlab::Gitlab;
use super::forge::{self, Clock, Errand, Goal, Memory, Operator, Unsent};
use crate::action::{Action, World};

/// The operator's defaults.
#[derive(Clone)]
pub struct GitlabSettings {
    /// Sent to `api_url` only, and for the tenant `default` only.
    pub token: Option<SecretString>,
    pub api_url: String,
}

impl Default for GitlabSettings {
    fn default() -> Self {
        GitlabSettings { token: None, api_url: "https://gitlab.com/api/v4".into() }
    }
}

pub struct GitlabPipeline {
    settings: GitlabSettings,
    descriptor: Descriptor,
    clock: Clock,
    unsent: Unsent,
}

impl GitlabPipeline {
    pub fn new(settings: GitlabSettings) -> GitlabPipeline {
        GitlabPipeline { settings, descriptor: schema::descriptor(), clock: Clock::system(), unsent: Unsent::default() }
    }

    pub fn with_clock(self, clock: Clock) -> GitlabPipeline {
        GitlabPipeline { clock, ..self }
    }

    async fn answer(&self, call: &Call, world: &World) -> Result<Answer, Failure> {
        match call.step {
            Step::Validate => {
                let config = Config::read(call)?;
                config.work(call, world)?;
                self.api(call, world, &config)?;
                Ok(Answer::nothing())
            }
            Step::Plan => {
                let work = Config::read(call)?.work(call, world)?;
                let changes = Memory::of(&call.memory).plan(&work.digest, call.operation.reason);
                let message = changes.is_none().then(|| "The last pipeline was of the same values".to_owned());
                Ok(Answer::done(Done { changes: Some(changes), message, ..Done::default() }))
            }
            Step::Apply => {
                let config = Config::read(call)?;
                let work = config.work(call, world)?;
                self.drive(call, world, &config, Some(work), Goal::Apply).await
            }
            Step::Destroy => self.destroy(call, world).await,
            Step::Outputs | Step::Observe => Ok(Answer::nothing()),
        }
    }

    async fn destroy(&self, call: &Call, world: &World) -> Result<Answer, Failure> {
        let memory = Memory::of(&call.memory);
        if !memory.touched() && call.checkpoint.is_null() {
            return Ok(Answer::done(Done { changes: Some(Changes::default()), ..Done::default() }));
        }
        let config = Config::read(call)?;
        let work = config.destroy_work(call, world)?;
        if work.is_none() && memory.is_settled() {
            let changes = Changes { deleted: 1, ..Changes::default() };
            let done = Done { changes: Some(changes), ..Done::default() };
            return Ok(Answer::done(done).remembering(serde_json::json!({})).holding(Vec::new()));
        }
        let goal = Goal::Destroy { dispatches: work.is_some() };
        self.drive(call, world, &config, work, goal).await
    }

    async fn drive(
        &self,
        call: &Call,
        world: &World,
        config: &Config,
        work: Option<Work>,
        goal: Goal,
    ) -> Result<Answer, Failure> {
        let api = self.api(call, world, config)?;
        let digest = work.as_ref().map(|work| work.digest.clone()).unwrap_or_default();
        let marked = config.marker().is_some();
        let gitlab = Gitlab { api, work, marked, trigger: config.trigger(call, world)? };
        let errand = Errand { call, goal, digest, pace: config.pace(), clock: &self.clock, unsent: &self.unsent };
        Ok(forge::drive(&gitlab, &errand).await)
    }

    fn api<'a>(&self, call: &Call, world: &'a World, config: &Config) -> Result<Api<'a>, Failure> {
        let api_url = config.api_url.as_deref().unwrap_or(&self.settings.api_url).trim_end_matches('/');
        let operator = Operator {
            token: self.settings.token.as_ref(),
            api_url: &self.settings.api_url,
            token_setting: "GITLAB_TOKEN",
        };
        let token = match forge::credential(call, config.token.as_ref(), api_url, &operator, &world.secrets) {
            Ok(token) => Some(token),
            // A trigger token starts a pipeline; that of a public project can be followed without any.
            Err(_) if config.token.is_none() && config.trigger(call, world)?.is_some() => None,
            Err(failure) => return Err(failure),
        };
        Ok(Api { world, step: call.step, base: api_url.to_owned(), token, clock: self.clock.clone() })
    }
}

impl Action for GitlabPipeline {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn call<'a>(&'a self, call: &'a Call, world: &'a World) -> BoxFuture<'a, Answer> {
        async move { self.answer(call, world).await.unwrap_or_else(Answer::from) }.boxed()
    }
}
