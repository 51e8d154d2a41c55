//! Linode: a kubeconfig in base64, subnets that must not overlap, and lists of what an account has.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value as Json, json};

use crate::{
    provider::Request,
    random,
    value::{self, Values},
    world::{Action, WorldError},
};

use super::{Cloud, Refusal, network, upgrade};

pub struct Linode;

/// Id, label, vCPUs, memory and disk in MB.
const TYPES: [(&str, &str, u32, u32, u32); 7] = [
    ("g6-standard-1", "Linode 2GB", 1, 2048, 51200),
    ("g6-standard-2", "Linode 4GB", 2, 4096, 81920),
    ("g6-standard-4", "Linode 8GB", 4, 8192, 163840),
    ("g6-standard-6", "Linode 16GB", 6, 16384, 327680),
    ("g6-dedicated-2", "Dedicated 4GB", 2, 4096, 81920),
    ("g6-dedicated-4", "Dedicated 8GB", 4, 8192, 163840),
    ("g6-dedicated-8", "Dedicated 16GB", 8, 16384, 327680),
];

impl Cloud for Linode {
    fn look(&self, request: &Request<'_>) -> Result<Option<Values>, WorldError> {
        if request.resource.name != "linode_lke_cluster" {
            return Ok(None);
        }
        let server = value::text(request.values, "api_endpoints");
        let name = format!("lke{}", value::text(request.values, "id"));
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: {name}\n  cluster:\n    certificate-authority-data: {}\n    \
             server: {server}\ncontexts:\n- name: {name}-ctx\n  context:\n    cluster: {name}\n    user: {name}-admin\n\
             current-context: {name}-ctx\nusers:\n- name: {name}-admin\n  user:\n    token: {}\n",
            random::certificate(),
            random::hex(64)
        );
        Ok(Some(Values::from_iter([("kubeconfig".to_owned(), json!(BASE64_STANDARD.encode(kubeconfig)))])))
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Refusal> {
        match (request.resource.name, request.action) {
            ("linode_vpc_subnet", Action::Create) => check_subnet(request),
            ("linode_lke_cluster", Action::Update) => upgrade::check(request, "k8s_version", |was, wished| {
                format!("[400] [k8s_version] Cannot upgrade from {was} to {wished}")
            }),
            _ => Ok(()),
        }
    }

    fn data(&self, r#type: &str, request: &Request<'_>) -> Option<Result<Json, Refusal>> {
        let manner = &request.provider.conduct.provider;
        let machine = |(id, label, vcpus, memory, disk): (&str, &str, u32, u32, u32)| {
            json!({ "id": id, "label": label, "class": "standard", "vcpus": vcpus, "memory": memory, "disk": disk,
                "accelerated_devices": 0, "network_out": 4000, "transfer": 4000 })
        };
        Some(match r#type {
            "linode_lke_versions" => {
                let versions = manner.versions.iter().map(|version| json!({ "id": version })).collect::<Vec<_>>();
                Ok(json!({ "versions": versions }))
            }
            "linode_regions" => {
                let region = |id: &String| {
                    json!({ "id": id, "label": id, "country": "us", "status": "ok",
                    "site_type": "core", "capabilities": ["Linodes", "Kubernetes", "VPCs"] })
                };
                Ok(json!({ "regions": manner.regions.iter().map(region).collect::<Vec<_>>() }))
            }
            "linode_instance_types" => Ok(json!({ "types": TYPES.map(machine) })),
            "linode_instance_type" => {
                let wanted = value::text(request.values, "id");
                let found = TYPES.into_iter().find(|(id, ..)| *id == wanted);
                found.map(machine).ok_or_else(|| Refusal::Said(format!("[404] type {wanted} not found")))
            }
            "linode_vpcs" => all(request, "linode_vpc", "vpcs"),
            "linode_vpc_subnets" => all(request, "linode_vpc_subnet", "vpc_subnets"),
            "linode_lke_clusters" => all(request, "linode_lke_cluster", "lke_clusters"),
            "linode_firewalls" => all(request, "linode_firewall", "firewalls"),
            "linode_nodebalancers" => all(request, "linode_nodebalancer", "nodebalancers"),
            "linode_instances" => all(request, "linode_instance", "instances"),
            "linode_volumes" => Ok(json!({ "volumes": [] })),
            _ => return None,
        })
    }
}

/// All of a type; with `vpc_id`, those in that VPC; with filters, those that pass.
fn all(request: &Request<'_>, r#type: &str, into: &str) -> Result<Json, Refusal> {
    let vpc = value::plain(&request.values["vpc_id"]);
    let mut objects = request.objects(r#type)?;
    objects.retain(|object| {
        let filters = request.values["filter"].as_array().into_iter().flatten();
        let mut filters = filters.map(|filter| {
            let name = value::text(filter, "name");
            let has: Vec<_> = value::at(&object.attributes, name).into_iter().filter_map(value::plain).collect();
            let sub = value::text(filter, "match_by") == "substring";
            value::at(filter, "values")
                .into_iter()
                .filter_map(Json::as_str)
                .any(|wanted| has.iter().any(|has| if sub { has.contains(wanted) } else { has == wanted }))
        });
        filters.all(|passes| passes)
            && vpc.as_ref().is_none_or(|vpc| value::plain(&object.attributes["vpc_id"]).as_ref() == Some(vpc))
    });
    Ok(json!({ into: objects.into_iter().map(|object| object.attributes).collect::<Vec<_>>() }))
}

fn check_subnet(request: &Request<'_>) -> Result<(), Refusal> {
    let networks = network::networks(request.values, "ipv4");
    let mut siblings = request.objects("linode_vpc_subnet")?;
    siblings.retain(|sibling| sibling.attributes["vpc_id"] == request.values["vpc_id"]);
    match network::overlapping(&siblings, "", "ipv4", &networks) {
        None => Ok(()),
        Some(other) => Err(Refusal::Said(format!(
            "[400] [ipv4] Address range overlaps with that of the existing subnet {}",
            other.name()
        ))),
    }
}
