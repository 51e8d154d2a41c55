# A Kubernetes cluster on DigitalOcean: DOKS in its own VPC, its API open to named networks alone where some are named, a
# control plane of several machines by wish. What the cluster has made itself, load balancers and volumes, is deleted with
# it.
#
# DigitalOcean encrypts disks with keys of its own, gives pods no identity, and nodes public addresses.

data "digitalocean_kubernetes_versions" "this" {
  version_prefix = "${var.kubernetes_version}."
}

locals {
  default_pool = var.node_pools["default"]

  tags = [for key, value in merge(var.tags, {
    managed-by      = "terrane"
    terrane-cluster = var.cluster_name
  }) : "${key}:${value}"]
}

resource "digitalocean_kubernetes_cluster" "this" {
  name     = var.cluster_name
  region   = var.region
  vpc_uuid = var.network.network_id

  # The newest patch of the minor version. A newer one is an update, like any other.
  version                          = data.digitalocean_kubernetes_versions.this.latest_version
  ha                               = var.high_availability
  surge_upgrade                    = true
  auto_upgrade                     = true
  destroy_all_associated_resources = true

  maintenance_policy {
    day        = "sunday"
    start_time = "04:00"
  }

  dynamic "control_plane_firewall" {
    for_each = length(var.api_access_cidrs) > 0 ? [var.api_access_cidrs] : []

    content {
      enabled           = true
      allowed_addresses = control_plane_firewall.value
    }
  }

  node_pool {
    name       = "${var.cluster_name}-default"
    size       = local.default_pool.instance_type
    auto_scale = local.default_pool.max_node_count != null
    node_count = local.default_pool.max_node_count == null ? local.default_pool.node_count : null
    min_nodes  = local.default_pool.max_node_count == null ? null : local.default_pool.node_count
    max_nodes  = local.default_pool.max_node_count
    labels     = local.default_pool.labels
    tags       = local.tags

    dynamic "taint" {
      for_each = local.default_pool.taints

      content {
        key    = taint.value.key
        value  = taint.value.value
        effect = taint.value.effect
      }
    }
  }

  tags = local.tags

  timeouts {
    create = "60m"
  }
}

resource "digitalocean_kubernetes_node_pool" "this" {
  for_each = { for name, pool in var.node_pools : name => pool if name != "default" }

  cluster_id = digitalocean_kubernetes_cluster.this.id
  name       = "${var.cluster_name}-${each.key}"
  size       = each.value.instance_type
  auto_scale = each.value.max_node_count != null
  node_count = each.value.max_node_count == null ? each.value.node_count : null
  min_nodes  = each.value.max_node_count == null ? null : each.value.node_count
  max_nodes  = each.value.max_node_count
  labels     = each.value.labels
  tags       = local.tags

  dynamic "taint" {
    for_each = each.value.taints

    content {
      key    = taint.value.key
      value  = taint.value.value
      effect = taint.value.effect
    }
  }
}

# DigitalOcean has nothing of the kind.
resource "terraform_data" "deletion_protection" {
  input = var.deletion_protection

  provisioner "local-exec" {
    when    = destroy
    command = self.input ? "echo 'The cluster is protected. To delete it, apply deletion_protection = false first.' >&2; exit 1" : "true"
  }

  depends_on = [digitalocean_kubernetes_cluster.this, digitalocean_kubernetes_node_pool.this]
}
