//! The action plugin `github_actions`: a workflow is dispatched with what its owner wants as inputs, and followed to its
//! end. How a dispatch is made neither twice nor not at all is told in `forge`; here is what is GitHub's own.

mod api;
mod config;
mod explain;
mod github;
mod runs;
mod schema;
pub mod webhook;

use futures::FutureExt;
use futures::future::BoxFuture;
use model::Failure;
use model::plugin::{Answer, Call, Changes, Descriptor, Done, Step};
use secrecy::SecretString;

use self::api::Api;
use self::config::{Config, Work};
use self::github::Github;
use super::forge::{self, Clock, Errand, Goal, Memory, Operator, Unsent};
use crate::action::{Action, World};

/// The operator's defaults.
#[derive(Clone)]
pub struct GithubSettings {
    /// Sent to `api_url` only, and for the tenant `default` only.
    pub token: Option<SecretString>,
    pub api_url: String,
}

impl Default for GithubSettings {
    fn default() -> Self {
        GithubSettings { token: None, api_url: "https://api.github.com".into() }
    }
}

pub struct GithubActions {
    settings: GithubSettings,
    descriptor: Descriptor,
    clock: Clock,
    unsent: Unsent,
}

impl GithubActions {
    pub fn new(settings: GithubSettings) -> GithubActions {
        GithubActions { settings, descriptor: schema::descriptor(), clock: Clock::system(), unsent: Unsent::default() }
    }

    pub fn with_clock(self, clock: Clock) -> GithubActions {
        GithubActions { clock, ..self }
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
                let message = changes.is_none().then(|| "The last run was of the same inputs".to_owned());
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
        let github = Github { api, work, marked: config.marker_input.is_some() };
        let errand = Errand { call, goal, digest, pace: config.pace(), clock: &self.clock, unsent: &self.unsent };
        Ok(forge::drive(&github, &errand).await)
    }

    fn api<'a>(&self, call: &Call, world: &'a World, config: &Config) -> Result<Api<'a>, Failure> {
        let api_url = config.api_url.as_deref().unwrap_or(&self.settings.api_url).trim_end_matches('/');
        let operator = Operator {
            token: self.settings.token.as_ref(),
            api_url: &self.settings.api_url,
            token_setting: "GITHUB_TOKEN",
        };
        let token = forge::credential(call, config.token.as_ref(), api_url, &operator, &world.secrets)?;
        Ok(Api { world, step: call.step, base: api_url.to_owned(), token, clock: self.clock.clone() })
    }
}

impl Action for GithubActions {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn call<'a>(&'a self, call: &'a Call, world: &'a World) -> BoxFuture<'a, Answer> {
        async move { self.answer(call, world).await.unwrap_or_else(Answer::from) }.boxed()
    }
}
