//! What each kind of object looks like in a table.

use model::{Account, Resource, ResourceType, Runner, SecretInfo, Tenant, Token};
use serde_json::Value;

use super::address::{label, read};
use super::failure::Failure;
use super::output::{Layout, age_or_dash, pairs, text_of};
use super::time::age;

pub const RESOURCE: Layout = Layout {
    header: &["NAME", "TYPE", "STATUS", "GENERATION", "AGE"],
    wide: &["LIFECYCLE", "ID", "VERSION", "PLUGIN", "OBSERVED", "LABELS"],
    tail: &["MESSAGE"],
    cells: resource_cells,
    name: |object| read::<Resource>(object).map_or_else(|_| text_of(object, "name"), |resource| label(&resource)),
    none: "No resources found.",
};

fn resource_cells(object: &Value) -> Result<Vec<String>, Failure> {
    let resource: Resource = read(object)?;
    Ok(vec![
        resource.name,
        resource.resource_type_name,
        resource.status.as_str().into(),
        resource.generation.to_string(),
        age(resource.created_at),
        resource.lifecycle.as_str().into(),
        resource.id.to_string(),
        resource.resource_type_version,
        resource.action_plugin,
        resource.observed_generation.to_string(),
        pairs(&resource.labels),
        resource.status_message,
    ])
}

pub const TYPE: Layout = Layout {
    header: &["NAME", "VERSION", "TENANT", "AGE"],
    wide: &["ID", "DESCRIPTION"],
    tail: &[],
    cells: |object| {
        let kind: ResourceType = read(object)?;
        let age = age(kind.created_at);
        Ok(vec![kind.name, kind.version, kind.tenant, age, kind.id.to_string(), kind.description])
    },
    name: |object| format!("resourcetype/{}/{}", text_of(object, "name"), text_of(object, "version")),
    none: "No resource types found.",
};

pub const TENANT: Layout = Layout {
    header: &["NAME", "AGE", "DESCRIPTION"],
    wide: &["ID"],
    tail: &[],
    cells: |object| {
        let tenant: Tenant = read(object)?;
        Ok(vec![tenant.name, age(tenant.created_at), tenant.description, tenant.id.to_string()])
    },
    name: |object| format!("tenant/{}", text_of(object, "name")),
    none: "No tenants found.",
};

pub const TOKEN: Layout = Layout {
    header: &["NAME", "ROLE", "TENANT", "AGE", "EXPIRES", "USED"],
    wide: &["ID"],
    tail: &[],
    cells: |object| {
        let token: Token = read(object)?;
        Ok(vec![
            token.name,
            token.role.as_str().into(),
            token.tenant,
            age(token.created_at),
            token.expires_at.map_or("never".into(), |at| at.strftime("%Y-%m-%d").to_string()),
            age_or_dash(token.last_used_at),
            token.id.to_string(),
        ])
    },
    name: |object| format!("token/{}", text_of(object, "name")),
    none: "No tokens found.",
};

pub const ACCOUNT: Layout = Layout {
    header: &["NAME", "PROVIDER", "REGION", "CREDENTIALS", "AGE"],
    wide: &["ID"],
    tail: &[],
    cells: |object| {
        let account: Account = read(object)?;
        let credentials: Vec<_> = account.credentials.into_keys().collect();
        Ok(vec![
            account.name,
            account.provider.as_str().into(),
            account.region.unwrap_or_default(),
            credentials.join(","),
            age(account.created_at),
            account.id.to_string(),
        ])
    },
    name: |object| format!("account/{}", text_of(object, "name")),
    none: "No accounts found.",
};

pub const SECRET: Layout = Layout {
    header: &["NAME", "HOSTS", "AGE", "CHANGED"],
    wide: &["ID"],
    tail: &[],
    cells: |object| {
        let secret: SecretInfo = read(object)?;
        let hosts = if secret.hosts.is_empty() { "any".into() } else { secret.hosts.join(",") };
        Ok(vec![secret.name, hosts, age(secret.created_at), age(secret.updated_at), secret.id.to_string()])
    },
    name: |object| format!("secret/{}", text_of(object, "name")),
    none: "No secrets found.",
};

pub const RUNNER: Layout = Layout {
    header: &["NAME", "TENANTS", "LABELS", "JOBS", "AGE", "SEEN"],
    wide: &["ID"],
    tail: &[],
    cells: |object| {
        let runner: Runner = read(object)?;
        Ok(vec![
            runner.name,
            runner.tenants.join(","),
            pairs(&runner.labels),
            runner.jobs.to_string(),
            age(runner.created_at),
            age_or_dash(runner.last_seen_at),
            runner.id.to_string(),
        ])
    },
    name: |object| format!("runner/{}", text_of(object, "name")),
    none: "No runners are enrolled; the one inside of `terrane up` needs no enrolment.",
};
