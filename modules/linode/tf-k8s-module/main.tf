# A Kubernetes cluster on Linode: LKE with a control plane of several machines by wish, its API open to named networks alone
# where some are named, and volumes that are encrypted, tagged, and deleted with their claims.
#
# Linode encrypts disks with keys of its own, gives pods no identity, and nodes public addresses.

locals {
  default_pool = var.node_pools["default"]

  # Pools that are resources of their own have this tag, so that the cluster lets them be.
  separate = "terrane-pool"

  tags = [for key, value in merge(var.tags, {
    managed-by      = "terrane"
    terrane-cluster = var.cluster_name
  }) : "${key}:${value}"]
}

resource "linode_lke_cluster" "this" {
  label              = var.cluster_name
  region             = var.region
  k8s_version        = var.kubernetes_version
  tags               = local.tags
  external_pool_tags = [local.separate]

  control_plane {
    high_availability = var.high_availability

    acl {
      enabled = length(var.api_access_cidrs) > 0

      dynamic "addresses" {
        for_each = length(var.api_access_cidrs) > 0 ? [var.api_access_cidrs] : []

        content {
          ipv4 = [for cidr in addresses.value : cidr if !strcontains(cidr, ":")]
          ipv6 = [for cidr in addresses.value : cidr if strcontains(cidr, ":")]
        }
      }
    }
  }

  pool {
    type   = local.default_pool.instance_type
    count  = local.default_pool.max_node_count == null ? local.default_pool.node_count : null
    labels = local.default_pool.labels
    tags   = local.tags

    dynamic "autoscaler" {
      for_each = local.default_pool.max_node_count == null ? [] : [local.default_pool]

      content {
        min = autoscaler.value.node_count
        max = autoscaler.value.max_node_count
      }
    }

    dynamic "taint" {
      for_each = local.default_pool.taints

      content {
        key    = taint.value.key
        value  = taint.value.value
        effect = taint.value.effect
      }
    }
  }
}

resource "linode_lke_node_pool" "this" {
  for_each = { for name, pool in var.node_pools : name => pool if name != "default" }

  cluster_id = linode_lke_cluster.this.id
  type       = each.value.instance_type
  node_count = each.value.max_node_count == null ? each.value.node_count : null
  labels     = each.value.labels
  tags       = concat(local.tags, [local.separate])

  dynamic "autoscaler" {
    for_each = each.value.max_node_count == null ? [] : [each.value]

    content {
      min = autoscaler.value.node_count
      max = autoscaler.value.max_node_count
    }
  }

  dynamic "taint" {
    for_each = each.value.taints

    content {
      key    = taint.value.key
      value  = taint.value.value
      effect = taint.value.effect
    }
  }
}

# Linode has nothing of the kind.
resource "terraform_data" "deletion_protection" {
  input = var.deletion_protection

  provisioner "local-exec" {
    when    = destroy
    command = self.input ? "echo 'The cluster is protected. To delete it, apply deletion_protection = false first.' >&2; exit 1" : "true"
  }

  depends_on = [linode_lke_cluster.this, linode_lke_node_pool.this]
}
