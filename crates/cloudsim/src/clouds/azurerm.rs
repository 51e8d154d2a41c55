//! Azure: everything is in a resource group, and a location has two ways to be written.

use serde_json::{Value as Json, json};

use crate::{
    provider::{Request, ResourceType, Session},
    value::{self, Values},
    world::{Action, Object, WorldError},
};

use super::{Cloud, Refusal, network, tags, upgrade};

pub struct Azure;

impl Cloud for Azure {
    fn plan(&self, _: ResourceType<'_>, _: &Session, _: &Json, planned: &mut Json) {
        if let Some(location) = planned.get("location").and_then(Json::as_str) {
            planned["location"] = json!(normalised(location));
        }
    }

    fn complete(&self, r#type: &str, _: &Session, planned: &mut Json) {
        if r#type == "azurerm_key_vault_key" {
            let vault = value::text(planned, "key_vault_id").rsplit('/').next().unwrap_or_default().to_owned();
            let name = value::text(planned, "name").to_owned();
            planned["versionless_id"] = json!(format!("https://{vault}.vault.azure.net/keys/{name}"));
        }
    }

    /// Administrators have a way in of their own where users come by Entra ID, unless local accounts are forbidden.
    fn look(&self, request: &Request<'_>) -> Result<Option<Values>, WorldError> {
        let directory = request.values["azure_active_directory_role_based_access_control"].as_array();
        let by_directory = directory.is_some_and(|blocks| !blocks.is_empty());
        if !by_directory || request.values["local_account_disabled"] == true {
            return Ok(None);
        }
        let mut config = request.values["kube_config"].clone();
        if let Some(user) = config.get_mut(0) {
            let name = value::text(user, "username").replace("clusterUser_", "clusterAdmin_");
            user["username"] = json!(name);
        }
        let raw = value::text(request.values, "kube_config_raw").replace("clusterUser_", "clusterAdmin_");
        let found = [("kube_admin_config", config), ("kube_admin_config_raw", json!(raw))];
        Ok(Some(found.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()))
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Refusal> {
        match (request.resource.name, request.action) {
            ("azurerm_resource_group", Action::Destroy) => check_empty(request),
            (_, Action::Destroy | Action::Read) => Ok(()),
            (name, _) => {
                check_place(request)?;
                match name {
                    "azurerm_subnet" => check_subnet(request),
                    "azurerm_kubernetes_cluster" => upgrade::check(request, "kubernetes_version", |was, wished| {
                        format!(
                            "OperationNotAllowed: Upgrading Kubernetes version {was} to {wished} is not allowed. Available \
                             upgrades are one minor version at a time."
                        )
                    }),
                    _ => Ok(()),
                }
            }
        }
    }

    fn data(&self, r#type: &str, request: &Request<'_>) -> Option<Result<Json, Refusal>> {
        match r#type {
            "azurerm_resources" => Some(resources(request)),
            _ => None,
        }
    }
}

/// `East US` is `eastus`.
fn normalised(location: &str) -> String {
    location.to_lowercase().replace(' ', "")
}

fn check_place(request: &Request<'_>) -> Result<(), Refusal> {
    let location = normalised(value::text(request.values, "location"));
    let regions = &request.provider.conduct.provider.regions;
    if !location.is_empty() && !regions.contains(&location) {
        return Err(Refusal::Said(format!(
            "LocationNotAvailableForResourceType: The provided location '{location}' is not available. List of available \
             regions is '{}'.",
            regions.join(",")
        )));
    }
    let group = value::text(request.values, "resource_group_name");
    let mine = request.resource.name == "azurerm_resource_group" || group.is_empty();
    if mine || request.objects("azurerm_resource_group")?.iter().any(|known| known.name().eq_ignore_ascii_case(group)) {
        return Ok(());
    }
    Err(Refusal::Said(format!("ResourceGroupNotFound: Resource group '{group}' could not be found.")))
}

/// The provider looks first, and does not delete a group with something in it.
fn check_empty(request: &Request<'_>) -> Result<(), Refusal> {
    let name = value::text(request.values, "name");
    let all = request.world.of_account(request.name(), &request.session.account)?;
    let mut inside = all.iter().filter(|object| {
        object.gone_at.is_none() && value::text(&object.attributes, "resource_group_name").eq_ignore_ascii_case(name)
    });
    match inside.next() {
        None => Ok(()),
        Some(object) => Err(Refusal::Said(format!(
            "the Resource Group {name:?} still contains Resources. Terraform is configured to check for Resources within \
             the Resource Group when deleting the Resource Group - and raise an error if nested Resources still exist to \
             avoid unintentionally deleting these Resources: it is being used by {}",
            object.id
        ))),
    }
}

fn check_subnet(request: &Request<'_>) -> Result<(), Refusal> {
    let of = |path: &str| value::text(request.values, path).to_owned();
    let (group, vnet, name) = (of("resource_group_name"), of("virtual_network_name"), of("name"));
    let prefixes = network::networks(request.values, "address_prefixes");
    let same_group = |object: &Object| value::text(&object.attributes, "resource_group_name") == group;
    let networks = request.objects("azurerm_virtual_network")?;
    let network = networks.iter().find(|network| same_group(network) && network.name() == vnet);
    if network.is_some_and(|n| !network::within(&prefixes, &network::networks(&n.attributes, "address_space"))) {
        return Err(Refusal::Said(format!(
            "NetcfgInvalidSubnet: Subnet '{name}' is not valid in virtual network '{vnet}'."
        )));
    }
    let mut siblings = request.objects("azurerm_subnet")?;
    siblings.retain(|s| same_group(s) && value::text(&s.attributes, "virtual_network_name") == vnet);
    match network::overlapping(&siblings, value::text(request.values, "id"), "address_prefixes", &prefixes) {
        None => Ok(()),
        Some(_) => Err(Refusal::Said(format!(
            "NetcfgSubnetRangesOverlap: Subnet '{name}' is not valid because its IP address range overlaps with that of an \
             existing subnet in virtual network '{vnet}'."
        ))),
    }
}

/// Everything with an id of its own below a resource group, by group, type, name and tags.
fn resources(request: &Request<'_>) -> Result<Json, Refusal> {
    let wanted = |path: &str| value::text(request.values, path).to_owned();
    let (group, r#type, name) = (wanted("resource_group_name"), wanted("type"), wanted("name"));
    let mut found = Vec::new();
    for object in request.world.of_account(request.name(), &request.session.account)? {
        // /subscriptions/S/resourceGroups/G/providers/NAMESPACE/KIND/NAME, and nothing below that.
        let parts: Vec<_> = object.id.split('/').collect();
        let ["", "subscriptions", _, "resourceGroups", its_group, "providers", namespace, kind, its_name] =
            parts.as_slice()
        else {
            continue;
        };
        let its_type = format!("{namespace}/{kind}");
        let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted.eq_ignore_ascii_case(is);
        if object.gone_at.is_none()
            && fits(&group, its_group)
            && fits(&r#type, &its_type)
            && fits(&name, its_name)
            && tags::have(&object.attributes, &request.values["required_tags"])
        {
            found.push(json!({
                "id": object.id,
                "name": its_name,
                "type": its_type,
                "resource_group_name": its_group,
                "location": object.attributes["location"],
                "tags": tags::of(&object.attributes),
            }));
        }
    }
    Ok(json!({ "resources": found }))
}
