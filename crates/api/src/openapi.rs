//! The API's description. Handlers describe what they do; what holds for all of them is added here.

use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, HttpMethod, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required,
    Response, ResponseBuilder, Type,
};
use utoipa::{PartialSchema, ToSchema};

use crate::problem::{Problem, Violation};

const ABOUT: &str = "Declare resources; Terrane makes reality match, and keeps it so.\n\n\
    Lists are arrays; the next page's address is in the `Link` header. Every object has a `resource_version`, which is its \
    `ETag`: send it back as `If-Match` to change only what you have seen. Errors are RFC 9457 problems whose `detail` says \
    what to do.";

pub fn base() -> OpenApi {
    let info = InfoBuilder::new().title("Terrane").version(env!("CARGO_PKG_VERSION")).description(Some(ABOUT)).build();
    OpenApiBuilder::new().info(info).build()
}

/// The whole description, as `/openapi.json` serves it.
pub fn document() -> OpenApi {
    finish(crate::routes::documented().into_openapi())
}

pub fn finish(mut document: OpenApi) -> OpenApi {
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token from `terrane token create`. A server on the loopback interface may ask none."))
        .build();
    let components = document.components.get_or_insert_with(Components::new);
    components.add_security_scheme("token", SecurityScheme::Http(bearer));
    let runner = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "A runner's token from `terrane runners enrol`. It opens what runners ask, and nothing else.",
        ))
        .build();
    components.add_security_scheme("runner", SecurityScheme::Http(runner));
    for (name, schema) in [(Problem::name(), Problem::schema()), (Violation::name(), Violation::schema())] {
        components.schemas.insert(name.into_owned(), schema);
    }
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in [
            (HttpMethod::Get, &mut item.get),
            (HttpMethod::Post, &mut item.post),
            (HttpMethod::Put, &mut item.put),
            (HttpMethod::Patch, &mut item.patch),
            (HttpMethod::Delete, &mut item.delete),
        ] {
            if let Some(operation) = operation {
                complete(path, &method, operation);
            }
        }
    }
    document
}

fn complete(path: &str, method: &HttpMethod, operation: &mut Operation) {
    if path == "/api/v1/runner" || path.starts_with("/api/v1/runner/") {
        operation.security = Some(vec![SecurityRequirement::new("runner", Vec::<String>::new())]);
        add_problems(operation, &[400, 401, 403, 503]);
        if operation.request_body.is_some() {
            add_problems(operation, &[408, 409, 413, 415, 422]);
        }
        return;
    }
    let open = operation.security.is_some();
    let reads = *method == HttpMethod::Get;
    if open {
        add_problems(operation, &[403, 503]);
        if !reads {
            add_problems(operation, &[401, 408, 409, 413]);
        }
        return;
    }
    operation.security = Some(vec![SecurityRequirement::new("token", Vec::<String>::new())]);
    add_header(operation, "Terrane-Tenant", "For operators: the tenant to act in; `fleet` for what is every tenant's.");
    add_problems(operation, &[400, 401, 403, 404, 503]);
    if reads {
        if has_version(path) {
            let unchanged = Response::new("Still at the version that `If-None-Match` names");
            operation.responses.responses.insert("304".into(), RefOr::T(unchanged));
        }
        return;
    }
    add_problems(operation, &[409]);
    if operation.request_body.is_some() {
        add_problems(operation, &[408, 413, 415, 422]);
    }
    if has_version(path) {
        add_header(operation, "If-Match", "An `ETag`: change only that version; 412 where the object has moved on.");
        add_problems(operation, &[412]);
    }
    if *method == HttpMethod::Post {
        add_header(
            operation,
            "Idempotency-Key",
            "Sent again with the same key, the request is answered as the first time.",
        );
        add_problems(operation, &[422]);
    }
}

/// Whether the path names one object that has an `ETag`.
fn has_version(path: &str) -> bool {
    let parts = ["/history", "/outputs", "/operations"];
    let versioned = path.contains("/resource") || path.contains("/secrets") || path.contains("/accounts");
    versioned && path.contains('{') && !path.contains("/state") && !parts.iter().any(|part| path.ends_with(part))
}

fn add_header(operation: &mut Operation, name: &str, description: &str) {
    let header: Parameter = ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).build()))
        .build();
    operation.parameters.get_or_insert_with(Vec::new).push(RefOr::T(header));
}

fn add_problems(operation: &mut Operation, statuses: &[u16]) {
    for status in statuses {
        let title = axum::http::StatusCode::from_u16(*status).ok().and_then(|status| status.canonical_reason());
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build();
        let response = ResponseBuilder::new()
            .description(title.unwrap_or("A problem"))
            .content("application/problem+json", content)
            .build();
        operation.responses.responses.entry(status.to_string()).or_insert(RefOr::T(response));
    }
}
