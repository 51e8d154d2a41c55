//! DigitalOcean and Linode.

use model::Class::*;

use super::{applying, assert_classes, destroying};

#[test]
fn what_digitalocean_says() {
    assert_classes(
        applying(),
        &[
            (
                Quota,
                "Error creating droplet: POST https://api.digitalocean.com/v2/droplets: 422 (request \"fe2ff026-6ef3-43f7-afd3-9f75464815f9\") creating this/these droplet(s) will exceed your droplet limit",
            ),
            (
                Quota,
                "Error creating Kubernetes cluster: POST https://api.digitalocean.com/v2/kubernetes/clusters: 422 (request \"4055f8b8\") validation error: autoscale desired max nodes exceed limits, 24 additional nodes but not enough available droplet limit",
            ),
            (
                Quota,
                "POST https://api.digitalocean.com/v2/volumes: 403 (request \"1\") failed to create volume: volume/snapshot size limit exceeded",
            ),
            (
                Quota,
                "POST https://api.digitalocean.com/v2/floating_ips: 422 You have reached your floating IP limit. Please contact support.",
            ),
            (Throttle, "GET https://api.digitalocean.com/v2/droplets/1: 429 (request \"2\") Too many requests"),
            (
                Throttle,
                "Error retrieving droplet: GET https://api.digitalocean.com/v2/droplets/7: 429 API Rate limit exceeded.",
            ),
            (
                Capacity,
                "POST https://api.digitalocean.com/v2/droplets: 422 The selected size is currently unavailable in this region. Please choose another region or size.",
            ),
            (
                Credentials,
                "Error creating droplet: POST https://api.digitalocean.com/v2/droplets: 401 (request \"3\") Unable to authenticate you",
            ),
            (Credentials, "Unable to authenticate you"),
            (
                Credentials,
                "DELETE https://api.digitalocean.com/v2/domains/x: 403 You are not authorized to perform this operation",
            ),
            (
                Network,
                "Error retrieving VPC: Get \"https://api.digitalocean.com/v2/vpcs/1\": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)",
            ),
            (Outage, "POST https://api.digitalocean.com/v2/load_balancers: 500 (request \"4\") Server Error"),
            (Outage, "GET https://api.digitalocean.com/v2/account: 503 (request \"6\") Service Unavailable"),
            (Timeout, "Error creating Kubernetes cluster: Timeout waiting for cluster to become ready"),
            (
                InvalidConfig,
                "Error creating Kubernetes cluster: POST https://api.digitalocean.com/v2/kubernetes/clusters: 422 (request \"5\") validation error: worker_node_pool_specs[0].invalid droplet size",
            ),
            (
                InvalidConfig,
                "Error creating Kubernetes cluster: POST https://api.digitalocean.com/v2/kubernetes/clusters: 422 validation error: invalid version slug",
            ),
            (
                InvalidConfig,
                "POST https://api.digitalocean.com/v2/droplets: 422 You specified an invalid image for Droplet creation.",
            ),
            (
                InvalidConfig,
                "Error retrieving SSH key: GET https://api.digitalocean.com/v2/account/keys/1: 404 (request \"8\") The resource you requested could not be found.",
            ),
            (
                Conflict,
                "Error creating database cluster: POST https://api.digitalocean.com/v2/databases: 409 (request \"7\") cluster name is not available",
            ),
            (
                Conflict,
                "POST https://api.digitalocean.com/v2/account/keys: 422 SSH Key is already in use on your account",
            ),
            (
                Conflict,
                "Error creating container registry: POST https://api.digitalocean.com/v2/registry: 409 name already exists",
            ),
            (
                Dependency,
                "Error resizing droplet: POST https://api.digitalocean.com/v2/droplets/1/actions: 422 Droplet already has a pending event.",
            ),
        ],
    );
    assert_classes(
        destroying(),
        &[
            (Dependency, "Error deleting VPC: DELETE https://api.digitalocean.com/v2/vpcs/1: 403 (request \"9\") Can not delete VPC with members".replace("403 (request \"9\") ", "409 ").as_str()),
            (Dependency, "Error deleting volume: DELETE https://api.digitalocean.com/v2/volumes/2: 409 a volume that's attached to a Droplet cannot be deleted"),
        ],
    );
}

#[test]
fn what_linode_says() {
    assert_classes(
        applying(),
        &[
            (Quota, "Error creating a Linode Instance: [400] Account Limit reached. Please open a support ticket."),
            (
                Quota,
                "failed to create LKE cluster: [400] You've reached a limit for the number of active services on your account. Please contact Support to request an increase. (account limit)",
            ),
            (Throttle, "Error creating Linode DomainRecord: [429] Too many requests"),
            (Throttle, "[429] Rate limit exceeded, please retry after 30 seconds"),
            (
                Capacity,
                "Error creating a Linode Instance: [400] [region] We're currently at capacity in this region. Please choose another.",
            ),
            (Capacity, "Error creating a Linode Instance: [400] No open slots for this plan!"),
            (Credentials, "Error listing regions: [401] Invalid Token"),
            (Credentials, "[401] Your OAuth token is not authorized to use this endpoint."),
            (Credentials, "[403] Unauthorized"),
            (Network, "Get \"https://api.linode.com/v4/linode/instances/1\": read: connection timed out"),
            (Outage, "[503] The Linode API is currently under maintenance"),
            (Outage, "Error waiting for event: [500] Internal Server Error"),
            (Outage, "[502] Bad Gateway"),
            (
                Timeout,
                "Error waiting for Linode instance 123 to finish creating: Error waiting for Instance 123 status running: context deadline exceeded",
            ),
            (
                InvalidConfig,
                "Error creating a Linode Instance: [400] [type] A valid plan type by that ID was not found",
            ),
            (
                InvalidConfig,
                "failed to create LKE cluster: [400] [k8s_version] k8s_version is not valid; [400] [node_pools[0].count] Must be 1-100",
            ),
            (InvalidConfig, "Error finding the specified Linode Instance: [404] Not found"),
            (InvalidConfig, "[400] [root_pass] Password does not meet strength requirement."),
            (Conflict, "Error creating a Linode Instance: [400] [label] Label must be unique among your linodes"),
            (Conflict, "Error creating a Linode Domain: [400] [domain] DNS zone already exists."),
            (Dependency, "Error rebooting Instance: [400] Linode busy."),
        ],
    );
    assert_classes(
        destroying(),
        &[
            (
                Dependency,
                "Error deleting Linode Volume: [400] This volume is currently attached to Linode 5. You must detach it before you delete it.",
            ),
            (
                Dependency,
                "Error deleting VPC subnet 7: [409] Cannot delete a subnet that has Linodes or NodeBalancers in use",
            ),
        ],
    );
}
