//! `http`: something that is made, read, changed and deleted by HTTP requests, each a template. What was made is remembered
//! by its id; a request that makes something carries a key that was written down before it was sent, so that a server
//! which knows idempotency keys makes it once.

mod apply;
mod config;
mod destroy;
mod held;
mod observe;
mod path;
mod poll;
mod request;
mod schema;
mod status;

use futures::future::BoxFuture;
use model::plugin::{Answer, CONTRACT, Call, Changes, Descriptor, Done, Step};
use model::{Class, Failure, Reason};
use serde_json::Value;

use crate::action::{Action, World};
use crate::expr::Scope;
use config::Config;
use held::Held;
use request::Prepared;

pub struct Http {
    descriptor: Descriptor,
}

impl Default for Http {
    fn default() -> Http {
        Http {
            descriptor: Descriptor {
                name: "http".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                contracts: vec![CONTRACT.to_owned()],
                description: "Makes, reads, changes and deletes something by templated HTTP requests.".to_owned(),
                steps: vec![Step::Validate, Step::Plan, Step::Apply, Step::Observe, Step::Destroy],
                config_schema: schema::schema(),
            },
        }
    }
}

impl Action for Http {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn observes(&self, config: &Value) -> bool {
        config.get("read").is_some_and(Value::is_object)
    }

    fn call<'a>(&'a self, call: &'a Call, world: &'a World) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let asked = match Asked::read(call, world) {
                Ok(asked) => asked,
                Err(failure) => return failure.into(),
            };
            let answer = match call.step {
                Step::Validate => asked.prepare(asked.config.making(&asked.held)).map(|_| Answer::nothing()),
                Step::Plan => asked.plan(),
                Step::Apply => apply::apply(&asked).await,
                Step::Outputs => Ok(Answer::nothing()),
                Step::Observe => observe::observe(&asked).await,
                Step::Destroy => destroy::destroy(&asked).await,
            };
            answer.unwrap_or_else(Answer::from)
        })
    }
}

/// A call, with its configuration and memory read.
struct Asked<'a> {
    call: &'a Call,
    world: &'a World,
    config: Config,
    held: Held,
    scope: Scope,
}

impl<'a> Asked<'a> {
    fn read(call: &'a Call, world: &'a World) -> Result<Asked<'a>, Failure> {
        let config = Config::read(&call.config).map_err(|error| {
            Failure::new(Class::InvalidConfig, call.step, format!("the configuration of `http` is wrong: {error}"))
        })?;
        let held = Held::read(&call.memory);
        Ok(Asked { call, world, config, held, scope: Scope::of(call) })
    }

    fn prepare(&self, request: &config::Request) -> Result<Prepared, Failure> {
        Prepared::of(&self.config, request, &self.scope, &self.world.secrets)
            .map_err(|why| self.failure(Class::InvalidConfig, why))
    }

    fn failure(&self, class: Class, message: impl Into<String>) -> Failure {
        Failure::new(class, self.call.step, message)
    }

    /// Nothing is to be done if the request would be the one that was answered last, unless somebody asks for it or the
    /// thing has changed meanwhile.
    fn plan(&self) -> Result<Answer, Failure> {
        let prepared = self.prepare(self.config.making(&self.held))?;
        let again = matches!(self.call.operation.reason, Reason::Requested | Reason::Drifted);
        let unchanged = self.held.exists && self.held.digest == prepared.digest && !again;
        let changes = Changes {
            created: i64::from(!self.held.exists),
            updated: i64::from(self.held.exists && !unchanged),
            deleted: 0,
        };
        Ok(Answer::done(Done { changes: Some(changes), ..Done::default() }))
    }
}
