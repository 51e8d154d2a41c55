//! Google Cloud: labels of the provider, references by name, id or link, and a latch against deletion.

use serde_json::{Value as Json, json};

use crate::{
    provider::{Request, ResourceType, Session},
    value,
    world::{Action, Object},
};

use super::{Cloud, Refusal, network, tags, upgrade};

pub struct Google;

impl Cloud for Google {
    fn plan(&self, resource: ResourceType<'_>, session: &Session, _: &Json, planned: &mut Json) {
        let own = ["labels", "resource_labels"].into_iter().find(|name| resource.schema.block.has(name));
        if let Some(own) = own.filter(|_| resource.schema.block.has("effective_labels")) {
            let all = tags::merged(session.config.get("default_labels"), planned.get(own));
            planned["terraform_labels"] = all.clone();
            planned["effective_labels"] = all;
        }
    }

    /// A node pool names its cluster in short or in full.
    fn complete(&self, r#type: &str, session: &Session, planned: &mut Json) {
        if r#type != "google_container_node_pool" || !value::is_unknown(&planned["id"]) {
            return;
        }
        let known = |path: &str| value::text(planned, path).to_owned();
        let (cluster, project, location) = (known("cluster"), known("project"), known("location"));
        let parts: Vec<_> = cluster.split('/').collect();
        let (project_named, location_named, cluster) = match parts.as_slice() {
            ["projects", project, "locations", location, "clusters", name] => (*project, *location, *name),
            _ => ("", "", cluster.as_str()),
        };
        let or = |texts: [&str; 3]| texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned();
        let project = or([&project, project_named, &session.account]);
        let location = or([&location, location_named, &session.region]);
        if !value::is_unknown(&planned["name"]) {
            let name = value::text(planned, "name");
            planned["id"] =
                json!(format!("projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}"));
        }
        planned["project"] = json!(project);
        planned["location"] = json!(location);
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Refusal> {
        match (request.resource.name, request.action) {
            ("google_compute_subnetwork", Action::Create) => check_subnetwork(request),
            ("google_container_cluster", Action::Destroy) if request.values["deletion_protection"] == true => {
                Err(Refusal::Said(
                    "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with \
                     cluster deletion."
                        .to_owned(),
                ))
            }
            ("google_container_cluster", Action::Update) => {
                upgrade::check(request, "min_master_version", |was, wished| {
                    format!("googleapi: Error 400: Master cannot be upgraded to \"{wished}\" from {was}., badRequest")
                })
            }
            _ => Ok(()),
        }
    }

    fn data(&self, r#type: &str, request: &Request<'_>) -> Option<Result<Json, Refusal>> {
        let list = |of: &str, into: &str, each: fn(&Object) -> Json| {
            let objects = request.objects(of).map_err(Refusal::from);
            objects.map(|objects| json!({ into: objects.iter().map(each).collect::<Vec<_>>() }))
        };
        let region = value::text(request.values, "region");
        let region = if region.is_empty() { &request.session.region } else { region };
        Some(match r#type {
            "google_compute_zones" => {
                let zones = ["a", "b", "c"].map(|zone| format!("{region}-{zone}"));
                Ok(json!({ "names": zones }))
            }
            "google_compute_regions" => Ok(json!({ "names": request.provider.conduct.provider.regions })),
            "google_compute_networks" => list("google_compute_network", "networks", |o| json!(o.name())),
            "google_compute_subnetworks" => list("google_compute_subnetwork", "subnetworks", |o| o.attributes.clone()),
            "google_compute_addresses" => list("google_compute_address", "addresses", |o| o.attributes.clone()),
            "google_service_accounts" => list("google_service_account", "accounts", |o| o.attributes.clone()),
            "google_storage_buckets" => list("google_storage_bucket", "buckets", |o| o.attributes.clone()),
            "google_kms_key_rings" => {
                list("google_kms_key_ring", "key_rings", |o| json!({ "id": o.id, "name": o.name() }))
            }
            "google_kms_crypto_keys" => list("google_kms_crypto_key", "keys", |o| o.attributes.clone()),
            "google_cloud_asset_search_all_resources" => assets(request),
            _ => return None,
        })
    }
}

fn check_subnetwork(request: &Request<'_>) -> Result<(), Refusal> {
    let of = |values: &Json| value::text(values, "network").rsplit('/').next().unwrap_or_default().to_owned();
    let network = of(request.values);
    let ranges = network::networks(request.values, "ip_cidr_range");
    let mut siblings = request.objects("google_compute_subnetwork")?;
    siblings.retain(|sibling| of(&sibling.attributes) == network);
    match network::overlapping(&siblings, value::text(request.values, "id"), "ip_cidr_range", &ranges) {
        None => Ok(()),
        Some(other) => Err(Refusal::Said(format!(
            "googleapi: Error 400: Invalid IPCidrRange: {} conflicts with existing subnetwork '{}' in region '{}'., \
             badRequest",
            value::text(request.values, "ip_cidr_range"),
            other.name(),
            other.region
        ))),
    }
}

/// Everything whose labels or name the query asks for: `labels.KEY:VALUE`, `labels.KEY=VALUE`, `name:PREFIX*`.
fn assets(request: &Request<'_>) -> Result<Json, Refusal> {
    let query = value::text(request.values, "query").to_owned();
    let fits = |object: &Object| {
        query.split_whitespace().filter(|term| !term.eq_ignore_ascii_case("AND")).all(|term| {
            let Some((field, wanted)) = term.split_once([':', '=']) else { return true };
            let wanted = wanted.trim_matches('"');
            let is = match field.strip_prefix("labels.") {
                Some(key) => {
                    tags::of(&object.attributes).get(key).and_then(Json::as_str).unwrap_or_default().to_owned()
                }
                None => object.name().to_owned(),
            };
            wanted.strip_suffix('*').map_or(is == wanted, |prefix| is.starts_with(prefix))
        })
    };
    let all = request.world.of_account(request.name(), &request.session.account)?;
    let found = all.iter().filter(|object| object.gone_at.is_none() && fits(object)).map(|object| {
        json!({
            "name": format!("//googleapis.com/{}", object.id),
            "asset_type": object.address.r#type,
            "display_name": object.name(),
            "location": object.region,
            "labels": tags::of(&object.attributes),
            "project": format!("projects/{}", object.address.account),
            "state": "ACTIVE",
        })
    });
    Ok(json!({ "results": found.collect::<Vec<_>>() }))
}
