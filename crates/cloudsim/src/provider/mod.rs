//! The provider: what Terraform may ask of it. Each request becomes values, is decided by one function, and goes back as
//! an answer; whatever goes wrong is a diagnostic, which Terraform shows to its user.

mod apply;
mod check;
mod data;
mod fill;
mod plan;
mod session;

use std::{
    error::Error,
    iter,
    path::{self, PathBuf},
    sync::{LazyLock, OnceLock},
};

use serde_json::{Value as Json, json};

pub use check::Request;
pub use session::Session;

use crate::{
    catalogue,
    clouds::{self, Cloud},
    conduct::Conduct,
    environment::{self, Environment},
    protocol::{
        ApplyRequest, ApplyResponse, ConfigRequest, ConfigureRequest, Diagnostic, DiagnosticsResponse, DynamicValue,
        ImportRequest, ImportResponse, ImportedResource, PlanRequest, PlanResponse, ProviderSchema, ReadRequest,
        ReadResponse, StateResponse, UpgradeRequest, ValidateProviderRequest, ValidateProviderResponse,
    },
    schema::Schema,
    template::{self, Scope},
    value,
    world::{Action, Address, LockedWorld, Object, World},
};

pub struct Provider {
    catalogue: catalogue::Provider,
    cloud: &'static dyn Cloud,
    environment: Environment,
    /// Known once Terraform has configured the provider.
    ready: OnceLock<(Session, World)>,
}

/// A type of resource: how it looks and how it behaves.
#[derive(Clone, Copy)]
pub struct ResourceType<'a> {
    pub name: &'a str,
    pub schema: &'a Schema,
    pub conduct: &'a Conduct,
}

/// What of a cloud's conduct nobody has written down.
static UNDESCRIBED: LazyLock<Conduct> = LazyLock::new(Conduct::default);

impl Provider {
    pub fn new(catalogue: catalogue::Provider, environment: Environment) -> Provider {
        let cloud = clouds::named(catalogue.schema.name());
        Provider { catalogue, cloud, environment, ready: OnceLock::new() }
    }

    pub fn schema(&self) -> ProviderSchema {
        self.catalogue.schema.to_protocol()
    }

    /// Nothing to say yet: a world may be named by the environment of the run that needs it.
    pub fn validate_config(&self, _: &ValidateProviderRequest) -> ValidateProviderResponse {
        ValidateProviderResponse::default()
    }

    pub fn configure(&self, request: &ConfigureRequest) -> DiagnosticsResponse {
        DiagnosticsResponse { diagnostics: self.try_configure(request).err().into_iter().collect() }
    }

    fn try_configure(&self, request: &ConfigureRequest) -> Result<(), Diagnostic> {
        let r#type = self.catalogue.schema.config.r#type();
        let config = value::decode(request.config.as_ref(), &r#type).map_err(diagnostic)?;
        let named = config.get("world").and_then(Json::as_str).map(PathBuf::from);
        let folder = named.or_else(|| self.environment.world.clone()).ok_or_else(|| {
            Diagnostic::error(format!(
                "The provider needs a world: a folder, or {} in the environment",
                environment::WORLD
            ))
        })?;
        let folder = path::absolute(folder).map_err(diagnostic)?;
        let mut session = Session::begin(&self.catalogue, config, self.environment.clouds.clone())?;
        self.cloud.begin(&mut session)?;
        // A second configuration of one process would be Terraform's mistake; the first one holds.
        let (_, world) = self.ready.get_or_init(|| (session, World::at(folder)));
        world.prepare().map_err(diagnostic)
    }

    pub fn validate(&self, request: &ConfigRequest) -> DiagnosticsResponse {
        let faults = self.resource(&request.type_name).and_then(|resource| {
            let config = value::decode(request.config.as_ref(), &resource.schema.block.r#type()).map_err(diagnostic)?;
            let config = value::known(config);
            let mut faults = check::rules(&self.catalogue.conduct.provider, resource.conduct, &config);
            faults.extend(self.cloud.faults(resource.name, &config));
            Ok(faults)
        });
        DiagnosticsResponse { diagnostics: faults.unwrap_or_else(|error| vec![error]) }
    }

    /// What was stored, as far as the schema still has it.
    pub fn upgrade(&self, request: &UpgradeRequest) -> StateResponse {
        let upgraded = self.resource(&request.type_name).and_then(|resource| {
            let stored = request.raw_state.as_ref().map(|state| state.json.as_slice()).unwrap_or_default();
            state(resource, &serde_json::from_slice(stored).map_err(diagnostic)?)
        });
        match upgraded {
            Ok(state) => StateResponse { state: Some(state), diagnostics: Vec::new() },
            Err(error) => StateResponse { state: None, diagnostics: vec![error] },
        }
    }

    pub fn plan(&self, request: &PlanRequest) -> PlanResponse {
        let planned = self.resource(&request.type_name).and_then(|resource| {
            let (session, _) = self.ready()?;
            plan::answer(resource, self.cloud, session, request).map_err(diagnostic)
        });
        planned.unwrap_or_else(|error| PlanResponse { diagnostics: vec![error], ..PlanResponse::default() })
    }

    pub async fn apply(&self, request: &ApplyRequest) -> ApplyResponse {
        let outcome = match self.resource(&request.type_name) {
            Ok(resource) => apply::answer(self, resource, request).await,
            Err(error) => Err(error.into()),
        };
        let (new_state, private, error) = match outcome {
            Ok(apply::Applied { state, private }) => (Some(state), private, None),
            Err(failure) => match *failure {
                apply::Failure { error, applied: Some(applied) } => (Some(applied.state), applied.private, Some(error)),
                // Where nothing happened, what was before still is.
                apply::Failure { error, applied: None } => {
                    (request.prior_state.clone(), request.planned_private.clone(), Some(error))
                }
            },
        };
        ApplyResponse { new_state, private, diagnostics: error.into_iter().collect(), legacy_type_system: true }
    }

    pub fn read(&self, request: &ReadRequest) -> ReadResponse {
        let (new_state, error) = match self.try_read(request) {
            Ok(state) => (Some(state), None),
            Err(error) => (request.current_state.clone(), Some(error)),
        };
        ReadResponse { new_state, diagnostics: error.into_iter().collect(), private: request.private.clone() }
    }

    fn try_read(&self, request: &ReadRequest) -> Result<DynamicValue, Diagnostic> {
        let resource = self.resource(&request.type_name)?;
        let r#type = resource.schema.block.r#type();
        let current = value::decode(request.current_state.as_ref(), &r#type).map_err(diagnostic)?;
        let (session, world) = self.ready()?;
        // Where it is not known yet which cluster is meant, nothing is known of what is in it.
        if current.is_null() || session.account.is_empty() {
            return request.current_state.clone().ok_or_else(|| Diagnostic::error("There is nothing to read"));
        }
        let world = world.lock().map_err(diagnostic)?;
        let asked = self.request(resource, Action::Read, &current, session, &world);
        asked.strike().map_err(|error| *error)?;
        self.cloud.reach(&asked).map_err(|error| asked.error(&error))?;
        let found = world.find(&self.address(resource, session, &request.private, &current)).map_err(diagnostic)?;
        match found {
            Some(object) => state(resource, &object.attributes),
            None => value::encode(&Json::Null, &r#type).map_err(diagnostic),
        }
    }

    pub fn read_data(&self, request: &ConfigRequest) -> StateResponse {
        match data::answer(self, request) {
            Ok(state) => StateResponse { state: Some(state), diagnostics: Vec::new() },
            Err(error) => StateResponse { state: None, diagnostics: vec![error] },
        }
    }

    pub fn import(&self, request: &ImportRequest) -> ImportResponse {
        match self.try_import(request) {
            Ok(imported) => ImportResponse { imported_resources: vec![imported], diagnostics: Vec::new() },
            Err(error) => ImportResponse { imported_resources: Vec::new(), diagnostics: vec![error] },
        }
    }

    fn try_import(&self, request: &ImportRequest) -> Result<ImportedResource, Diagnostic> {
        let resource = self.resource(&request.type_name)?;
        let (session, world) = self.ready()?;
        let world = world.lock().map_err(diagnostic)?;
        let objects = world.of_type(self.name(), &session.account, resource.name).map_err(diagnostic)?;
        let called = |object: &&Object| object.id == request.id || object.name() == request.id;
        let object = objects.iter().find(called).ok_or_else(|| {
            let noun = resource.conduct.noun(resource.name);
            Diagnostic::error(format!("NoSuchEntity: no {noun} has the id or name {:?}", request.id))
        })?;
        Ok(ImportedResource {
            type_name: request.type_name.clone(),
            state: Some(state(resource, &object.attributes)?),
            private: object.address.key.clone().into_bytes(),
        })
    }

    fn name(&self) -> &str {
        self.catalogue.schema.name()
    }

    fn resource<'a>(&'a self, name: &'a str) -> Result<ResourceType<'a>, Diagnostic> {
        let schema = self.catalogue.schema.resources.get(name);
        let schema = schema.ok_or_else(|| Diagnostic::error(format!("{} has no resource type {name}", self.name())))?;
        let conduct = self.catalogue.conduct.resource.get(name).unwrap_or(&UNDESCRIBED);
        Ok(ResourceType { name, schema, conduct })
    }

    fn ready(&self) -> Result<&(Session, World), Diagnostic> {
        self.ready.get().ok_or_else(|| Diagnostic::error("The provider has not been configured"))
    }

    fn request<'a>(
        &'a self,
        resource: ResourceType<'a>,
        action: Action,
        values: &'a Json,
        session: &'a Session,
        world: &'a LockedWorld<'a>,
    ) -> Request<'a> {
        Request { provider: &self.catalogue, resource, action, values, session, world }
    }

    /// Where the object is that a state speaks of. The state keeps the key; one that was written by hand may not.
    fn address(&self, resource: ResourceType<'_>, session: &Session, private: &[u8], values: &Json) -> Address {
        let key = String::from_utf8(private.to_vec()).ok().filter(|key| !key.is_empty());
        let template = resource.conduct.key.as_deref().unwrap_or("{id}");
        Address {
            provider: self.name().to_owned(),
            account: session.account.clone(),
            r#type: resource.name.to_owned(),
            key: key.unwrap_or_else(|| template::text(template, &Scope { values, session })),
        }
    }
}

/// How an object of the cloud looks to Terraform.
fn state(resource: ResourceType<'_>, attributes: &Json) -> Result<DynamicValue, Diagnostic> {
    let mut values = if attributes.is_object() { attributes.clone() } else { json!({}) };
    resource.schema.block.fill_absent_blocks(&mut values);
    value::encode(&values, &resource.schema.block.r#type()).map_err(diagnostic)
}

/// An error, with all that caused it.
fn diagnostic(error: impl Error) -> Diagnostic {
    let causes = iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
    Diagnostic { detail: causes.collect::<Vec<_>>().join(": "), ..Diagnostic::error(error.to_string()) }
}
