//! AWS: accounts behind roles, tags of the provider, subnets within VPCs, policy documents, and what can be found by tag.

mod policy;

use serde_json::{Value as Json, json};

use crate::{
    protocol::Diagnostic,
    provider::{Request, ResourceType, Session},
    value::{self, Values},
    world::{Action, Object, WorldError},
};

use super::{Cloud, Refusal, network, tags, upgrade};

pub struct Aws;

impl Cloud for Aws {
    fn begin(&self, session: &mut Session) -> Result<(), Diagnostic> {
        let role = value::text(&session.config, "assume_role.role_arn");
        if let Some(account) = role.split(':').nth(4) {
            session.account = account.to_owned();
        }
        let allowed = value::at(&session.config, "allowed_account_ids");
        if !allowed.is_empty() && !allowed.iter().any(|id| id.as_str() == Some(&session.account)) {
            return Err(Diagnostic::error(format!("AWS account ID not allowed: {}", session.account)));
        }
        Ok(())
    }

    fn plan(&self, resource: ResourceType<'_>, session: &Session, config: &Json, planned: &mut Json) {
        let block = &resource.schema.block;
        if block.has("tags_all") && block.has("tags") && config["tags_all"].is_null() {
            let defaults = session.config["default_tags"].get(0).and_then(|defaults| defaults.get("tags"));
            planned["tags_all"] = tags::merged(defaults, planned.get("tags"));
        }
    }

    fn complete(&self, r#type: &str, session: &Session, planned: &mut Json) {
        if r#type == "aws_iam_openid_connect_provider" {
            let url = value::text(planned, "url").trim_start_matches("https://").to_owned();
            planned["arn"] = json!(format!("arn:aws:iam::{}:oidc-provider/{url}", session.account));
        }
    }

    fn look(&self, request: &Request<'_>) -> Result<Option<Values>, WorldError> {
        let mut found = Values::new();
        match request.resource.name {
            "aws_eks_cluster" => {
                let subnets = subnets_of(request, "vpc_config.subnet_ids")?;
                let vpc = subnets.first().map(|subnet| subnet.attributes["vpc_id"].clone());
                let mut config = request.values["vpc_config"].clone();
                if let (Some(vpc), Some(config)) = (vpc, config.get_mut(0)) {
                    config["vpc_id"] = vpc;
                }
                found.insert("vpc_config".to_owned(), config);
            }
            "aws_eks_node_group" if value::text(request.values, "version").is_empty() => {
                let name = value::text(request.values, "cluster_name");
                let clusters = request.objects("aws_eks_cluster")?;
                let cluster = clusters.iter().find(|cluster| cluster.id == name);
                let version = cluster.map_or(Json::Null, |cluster| cluster.attributes["version"].clone());
                found.insert("version".to_owned(), version);
            }
            _ => {}
        }
        Ok(Some(found))
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Refusal> {
        match (request.resource.name, request.action) {
            ("aws_subnet", Action::Create) => check_subnet(request),
            ("aws_eks_cluster", Action::Create) => check_zones(request),
            ("aws_eks_cluster", Action::Update) => upgrade::check(request, "version", |was, wished| {
                format!("InvalidParameterException: Unsupported Kubernetes minor version update from {was} to {wished}")
            }),
            ("aws_eks_node_group", Action::Create | Action::Update) => check_scaling(request),
            _ => Ok(()),
        }
    }

    fn data(&self, r#type: &str, request: &Request<'_>) -> Option<Result<Json, Refusal>> {
        Some(match r#type {
            "aws_availability_zones" => Ok(zones(&request.region())),
            "aws_iam_policy_document" => Ok(policy::document(request.values)),
            "aws_resourcegroupstaggingapi_resources" => tagged(request),
            "aws_vpcs" => ids(request, "aws_vpc"),
            "aws_subnets" => ids(request, "aws_subnet"),
            "aws_security_groups" => ids(request, "aws_security_group"),
            "aws_route_tables" => ids(request, "aws_route_table"),
            "aws_nat_gateways" => ids(request, "aws_nat_gateway"),
            "aws_instances" => Ok(json!({ "ids": [] })),
            "aws_eips" => found(request, "aws_eip").map(|eips| {
                let ips: Vec<_> = eips.iter().map(|eip| eip.attributes["public_ip"].clone()).collect();
                json!({ "allocation_ids": ids_of(&eips), "public_ips": ips })
            }),
            "aws_eks_clusters" => found(request, "aws_eks_cluster").map(|all| json!({ "names": ids_of(&all) })),
            "aws_iam_roles" => found(request, "aws_iam_role").map(|roles| {
                let arns: Vec<_> = roles.iter().map(|role| role.attributes["arn"].clone()).collect();
                json!({ "names": ids_of(&roles), "arns": arns })
            }),
            _ => return None,
        })
    }
}

fn subnets_of(request: &Request<'_>, path: &str) -> Result<Vec<Object>, WorldError> {
    let wanted = value::at(request.values, path);
    let mut subnets = request.objects("aws_subnet")?;
    subnets.retain(|subnet| wanted.iter().any(|id| id.as_str() == Some(&subnet.id)));
    Ok(subnets)
}

fn check_subnet(request: &Request<'_>) -> Result<(), Refusal> {
    let (vpc_id, cidr) = (value::text(request.values, "vpc_id"), value::text(request.values, "cidr_block"));
    let networks = network::networks(request.values, "cidr_block");
    let vpcs = request.objects("aws_vpc")?;
    let vpc = vpcs.iter().find(|vpc| vpc.id == vpc_id);
    if vpc.is_some_and(|vpc| !network::within(&networks, &network::networks(&vpc.attributes, "cidr_block"))) {
        return Err(Refusal::Said(format!("InvalidSubnet.Range: The CIDR '{cidr}' is invalid.")));
    }
    let mut siblings = request.objects("aws_subnet")?;
    siblings.retain(|subnet| value::text(&subnet.attributes, "vpc_id") == vpc_id);
    if network::overlapping(&siblings, "", "cidr_block", &networks).is_some() {
        return Err(Refusal::Said(format!("InvalidSubnet.Conflict: The CIDR '{cidr}' conflicts with another subnet")));
    }
    let zone = value::text(request.values, "availability_zone");
    if !zone.is_empty() && !zone.starts_with(&request.region()) {
        return Err(Refusal::Said(format!(
            "InvalidParameterValue: Value ({zone}) for parameter availabilityZone is invalid. Subnets can currently only \
             be created in the following availability zones: {0}a, {0}b, {0}c.",
            request.region()
        )));
    }
    Ok(())
}

fn check_zones(request: &Request<'_>) -> Result<(), Refusal> {
    let subnets = subnets_of(request, "vpc_config.subnet_ids")?;
    let mut zones: Vec<_> =
        subnets.iter().map(|s| value::text(&s.attributes, "availability_zone").to_owned()).collect();
    zones.sort();
    zones.dedup();
    if zones.len() < 2 {
        return Err(Refusal::Said(
            "InvalidParameterException: Subnets specified must be in at least two different AZs".to_owned(),
        ));
    }
    Ok(())
}

fn check_scaling(request: &Request<'_>) -> Result<(), Refusal> {
    let number = |name: &str| request.values["scaling_config"][0][name].as_i64().unwrap_or_default();
    let (min, desired, max) = (number("min_size"), number("desired_size"), number("max_size"));
    if min <= desired && desired <= max {
        return Ok(());
    }
    Err(Refusal::Said(format!(
        "InvalidParameterException: desired capacity {desired} must be between minimum size {min} and maximum size {max}"
    )))
}

fn zones(region: &str) -> Json {
    let names = ["a", "b", "c"].map(|zone| format!("{region}{zone}"));
    let ids = [1, 2, 3].map(|zone| format!("{region}-az{zone}"));
    json!({ "id": region, "names": names, "zone_ids": ids, "group_names": [region] })
}

/// The objects of a type in the region, by tags and filters.
fn found(request: &Request<'_>, r#type: &str) -> Result<Vec<Object>, Refusal> {
    let region = request.region();
    let mut objects = request.objects(r#type)?;
    objects.retain(|object| {
        let here = object.region == region || r#type.starts_with("aws_iam_");
        here && tags::have(&object.attributes, &request.values["tags"]) && passes(object, &request.values["filter"])
    });
    Ok(objects)
}

/// Filters as EC2 has them: `vpc-id`, `tag:Name`, `tag-key`, and attributes with dashes.
fn passes(object: &Object, filters: &Json) -> bool {
    filters.as_array().into_iter().flatten().all(|filter| {
        let name = filter["name"].as_str().unwrap_or_default();
        let tags = tags::of(&object.attributes);
        let has: Vec<String> = match name.strip_prefix("tag:") {
            Some(tag) => tags.get(tag).and_then(Json::as_str).map(str::to_owned).into_iter().collect(),
            None if name == "tag-key" => {
                tags.as_object().map(|tags| tags.keys().cloned().collect()).unwrap_or_default()
            }
            None => {
                let own = object.address.r#type.trim_start_matches("aws_").replace('_', "-") + "-id";
                let name = if name == own { "id".to_owned() } else { name.replace('-', "_") };
                value::at(&object.attributes, &name).into_iter().filter_map(value::plain).collect()
            }
        };
        let wanted = filter["values"].as_array();
        wanted.is_none_or(|wanted| {
            wanted.iter().filter_map(Json::as_str).any(|wanted| has.iter().any(|has| has == wanted))
        })
    })
}

fn ids(request: &Request<'_>, r#type: &str) -> Result<Json, Refusal> {
    found(request, r#type).map(|objects| json!({ "ids": ids_of(&objects) }))
}

fn ids_of(objects: &[Object]) -> Vec<&str> {
    objects.iter().map(|object| object.id.as_str()).collect()
}

/// Everything in the region that has the tags, whatever it is.
fn tagged(request: &Request<'_>) -> Result<Json, Refusal> {
    let region = request.region();
    let filters = request.values["tag_filter"].as_array().cloned().unwrap_or_default();
    let types: Vec<_> =
        value::at(request.values, "resource_type_filters").into_iter().filter_map(Json::as_str).collect();
    let mut found = Vec::new();
    for object in request.world.of_account(request.name(), &request.session.account)? {
        let arn = value::text(&object.attributes, "arn");
        let tags = tags::of(&object.attributes);
        let passes = filters.iter().all(|filter| {
            let value = filter["key"].as_str().and_then(|key| tags.get(key));
            let wanted = filter["values"].as_array().filter(|wanted| !wanted.is_empty());
            value.is_some_and(|value| wanted.is_none_or(|wanted| wanted.contains(value)))
        });
        // An ARN goes on with service, region, account and `type/id`; a filter is `service` or `service:type`.
        let parts: Vec<_> = arn.splitn(6, ':').collect();
        let service = parts.get(2).copied().unwrap_or_default();
        let kind = parts.get(5).and_then(|rest| rest.split(['/', ':']).next()).unwrap_or_default();
        let of_type = types.is_empty() || types.iter().any(|t| *t == service || *t == format!("{service}:{kind}"));
        // The tagging API does not speak of roles and policies.
        let spoken_of = !arn.is_empty() && service != "iam" && tags.as_object().is_some_and(|tags| !tags.is_empty());
        if object.gone_at.is_none() && object.region == region && passes && of_type && spoken_of {
            found.push(json!({ "resource_arn": arn, "tags": tags, "compliance_details": [] }));
        }
    }
    Ok(json!({ "resource_tag_mapping_list": found }))
}
