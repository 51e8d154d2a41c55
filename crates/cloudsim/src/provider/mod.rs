//! The provider: what Terraform may ask of it. Each request becomes values, is decided by one function, and goes back as
//! an answer; whatever goes wrong is a diagnostic, which Terraform shows to its user.

mod apply;
mod plan;

use std::{
    error::Error,
    iter,
    path::{self, PathBuf},
    sync::OnceLock,
};

use crate::{
    environment,
    protocol::{
        ApplyRequest, ApplyResponse, ConfigRequest, ConfigureRequest, Diagnostic, DiagnosticsResponse, DynamicValue,
        ImportRequest, ImportResponse, ImportedResource, PlanRequest, PlanResponse, ProviderSchema, ReadRequest,
        ReadResponse, StateResponse, UpgradeRequest, ValidateProviderRequest, ValidateProviderResponse,
    },
    schema::{ProviderType, ResourceType},
    value::{self, Fields},
    world::{Object, World},
};

pub struct Provider {
    r#type: &'static ProviderType,
    /// The world to use where the configuration names none.
    default_world: Option<PathBuf>,
    /// Known once Terraform has configured the provider.
    world: OnceLock<World>,
}

impl Provider {
    pub fn new(r#type: &'static ProviderType, default_world: Option<PathBuf>) -> Provider {
        Provider { r#type, default_world, world: OnceLock::new() }
    }

    pub fn schema(&self) -> ProviderSchema {
        self.r#type.to_protocol()
    }

    /// Nothing to say yet: a world may be named by the environment of the run that needs it.
    pub fn validate_config(&self, _: &ValidateProviderRequest) -> ValidateProviderResponse {
        ValidateProviderResponse::default()
    }

    pub fn configure(&self, request: &ConfigureRequest) -> DiagnosticsResponse {
        DiagnosticsResponse { diagnostics: self.try_configure(request).err().into_iter().collect() }
    }

    fn try_configure(&self, request: &ConfigureRequest) -> Result<(), Diagnostic> {
        let config = Fields::decode(request.config.as_ref()).map_err(diagnostic)?.unwrap_or_default();
        let named = config.get("world").as_str().map(PathBuf::from);
        let folder = named.or_else(|| self.default_world.clone()).ok_or_else(|| {
            let missing = format!("The provider needs a world: a folder, or {} in the environment", environment::WORLD);
            Diagnostic::error(missing).at("world")
        })?;
        let folder = path::absolute(folder).map_err(diagnostic)?;
        // A second configuration of one process would be Terraform's mistake; the first one holds.
        self.world.get_or_init(|| World::at(folder)).prepare().map_err(diagnostic)
    }

    pub fn validate(&self, request: &ConfigRequest) -> DiagnosticsResponse {
        let faults = self.resource(&request.type_name).and_then(|resource| {
            let config = Fields::decode(request.config.as_ref()).map_err(diagnostic)?.unwrap_or_default();
            Ok((resource.faults)(&config.known(resource.attributes).map_err(diagnostic)?))
        });
        DiagnosticsResponse { diagnostics: faults.unwrap_or_else(|error| vec![error]) }
    }

    /// The schema has one version so far, so what was stored is what it says.
    pub fn upgrade(&self, request: UpgradeRequest) -> StateResponse {
        let json = request.raw_state.map(|state| state.json).unwrap_or_default();
        StateResponse { state: Some(DynamicValue { json, msgpack: Vec::new() }), diagnostics: Vec::new() }
    }

    pub fn plan(&self, request: &PlanRequest) -> PlanResponse {
        self.resource(&request.type_name)
            .and_then(|resource| plan::answer(resource, request).map_err(diagnostic))
            .unwrap_or_else(|error| PlanResponse { diagnostics: vec![error], ..PlanResponse::default() })
    }

    pub async fn apply(&self, request: &ApplyRequest) -> ApplyResponse {
        let outcome = match (self.resource(&request.type_name), self.world()) {
            (Ok(resource), Ok(world)) => apply::answer(resource, world, request).await,
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        match outcome {
            Ok(state) => ApplyResponse { new_state: Some(state), diagnostics: Vec::new() },
            // Each effect happens whole or not at all: where one failed, what was before still is.
            Err(error) => ApplyResponse { new_state: request.prior_state.clone(), diagnostics: vec![error] },
        }
    }

    pub fn read(&self, request: &ReadRequest) -> ReadResponse {
        let (new_state, error) = match self.try_read(request) {
            Ok(state) => (Some(state), None),
            Err(error) => (request.current_state.clone(), Some(error)),
        };
        ReadResponse { new_state, diagnostics: error.into_iter().collect() }
    }

    fn try_read(&self, request: &ReadRequest) -> Result<DynamicValue, Diagnostic> {
        let resource = self.resource(&request.type_name)?;
        let Some(current) = Fields::decode(request.current_state.as_ref()).map_err(diagnostic)? else {
            return Ok(value::null());
        };
        let (id, name) = identity(&current)?;
        let found = self.world()?.lock().and_then(|world| world.find(resource.name, name)).map_err(diagnostic)?;
        // A namesake that came later is not the object that this state knew.
        match found.filter(|object| object.id == id) {
            Some(object) => state(resource, &object),
            None => Ok(value::null()),
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
        let objects = self.world()?.lock().and_then(|world| world.objects()).map_err(diagnostic)?;
        let mut candidates = objects.into_iter().filter(|object| object.r#type == resource.name);
        let object =
            candidates.find(|object| object.id == request.id || object.name == request.id).ok_or_else(|| {
                Diagnostic::error(format!("NoSuchEntity: no {} has the id or name {:?}", resource.noun, request.id))
            })?;
        Ok(ImportedResource { type_name: request.type_name.clone(), state: Some(state(resource, &object)?) })
    }

    fn resource(&self, name: &str) -> Result<&'static ResourceType, Diagnostic> {
        let found = self.r#type.resources.iter().find(|resource| resource.name == name);
        found.ok_or_else(|| Diagnostic::error(format!("{} has no resource type {name}", self.r#type.name)))
    }

    fn world(&self) -> Result<&World, Diagnostic> {
        self.world.get().ok_or_else(|| Diagnostic::error("The provider has not been configured"))
    }
}

/// How an object of the cloud looks to Terraform.
fn state(resource: &ResourceType, object: &Object) -> Result<DynamicValue, Diagnostic> {
    let mut values = object.attributes.clone();
    values.insert("id".to_owned(), object.id.as_str().into());
    values.insert("name".to_owned(), object.name.as_str().into());
    Ok(Fields::of(&values, resource.attributes).map_err(diagnostic)?.encode())
}

/// By what a state knows its object.
fn identity(state: &Fields) -> Result<(&str, &str), Diagnostic> {
    let text = |name: &str| {
        state.get(name).as_str().ok_or_else(|| Diagnostic::error(format!("The state of the resource has no {name}")))
    };
    Ok((text("id")?, text("name")?))
}

/// An error, with all that caused it.
fn diagnostic(error: impl Error) -> Diagnostic {
    let causes = iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
    Diagnostic { detail: causes.collect::<Vec<_>>().join(": "), ..Diagnostic::error(error.to_string()) }
}
