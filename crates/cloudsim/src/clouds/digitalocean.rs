//! DigitalOcean: networks that must not overlap, and lists of what an account has.

use serde_json::{Value as Json, json};

use crate::{provider::Request, value, world::Action};

use super::{Cloud, Refusal, network, upgrade};

pub struct DigitalOcean;

/// Slug, vCPUs, memory in MB, disk in GB.
const SIZES: [(&str, u32, u32, u32); 8] = [
    ("s-1vcpu-2gb", 1, 2048, 50),
    ("s-2vcpu-2gb", 2, 2048, 60),
    ("s-2vcpu-4gb", 2, 4096, 80),
    ("s-4vcpu-8gb", 4, 8192, 160),
    ("s-8vcpu-16gb", 8, 16384, 320),
    ("c-2", 2, 4096, 25),
    ("g-2vcpu-8gb", 2, 8192, 25),
    ("g-4vcpu-16gb", 4, 16384, 50),
];

impl Cloud for DigitalOcean {
    fn check(&self, request: &Request<'_>) -> Result<(), Refusal> {
        match (request.resource.name, request.action) {
            ("digitalocean_vpc", Action::Create) => check_range(request),
            ("digitalocean_kubernetes_cluster", Action::Update) => upgrade::check(request, "version", |was, wished| {
                format!("422 validation error: cluster cannot be upgraded from {was} to {wished}")
            }),
            _ => Ok(()),
        }
    }

    fn data(&self, r#type: &str, request: &Request<'_>) -> Option<Result<Json, Refusal>> {
        let regions = &request.provider.conduct.provider.regions;
        let region = |slug: &str| json!({ "slug": slug, "name": slug, "available": true, "features": ["kubernetes", "vpc"], "sizes": SIZES.map(|size| size.0) });
        Some(match r#type {
            "digitalocean_kubernetes_versions" => {
                let prefix = value::text(request.values, "version_prefix");
                let versions = request.provider.conduct.provider.versions.iter();
                let valid: Vec<_> = versions.filter(|version| version.starts_with(prefix)).collect();
                Ok(json!({ "latest_version": valid.first(), "valid_versions": valid }))
            }
            "digitalocean_regions" => {
                Ok(json!({ "regions": regions.iter().map(|slug| region(slug)).collect::<Vec<_>>() }))
            }
            "digitalocean_region" => Ok(region(value::text(request.values, "slug"))),
            "digitalocean_sizes" => Ok(json!({ "sizes": SIZES.map(|(slug, vcpus, memory, disk)| json!({
                "slug": slug, "available": true, "vcpus": vcpus, "memory": memory, "disk": disk, "regions": regions,
            })) })),
            "digitalocean_tags" => all(request, "digitalocean_tag", "tags"),
            "digitalocean_projects" => all(request, "digitalocean_project", "projects"),
            "digitalocean_droplets" => all(request, "digitalocean_droplet", "droplets"),
            _ => return None,
        })
    }
}

fn all(request: &Request<'_>, r#type: &str, into: &str) -> Result<Json, Refusal> {
    let found: Vec<_> = request.objects(r#type)?.into_iter().map(|object| object.attributes).collect();
    Ok(json!({ into: found }))
}

fn check_range(request: &Request<'_>) -> Result<(), Refusal> {
    let ranges = network::networks(request.values, "ip_range");
    match network::overlapping(&request.objects("digitalocean_vpc")?, "", "ip_range", &ranges) {
        None => Ok(()),
        Some(other) => Err(Refusal::Said(format!(
            "POST https://api.digitalocean.com/v2/vpcs: 422 This range/size overlaps with another VPC network in your \
             account: {} ({})",
            value::text(&other.attributes, "ip_range"),
            other.name()
        ))),
    }
}
