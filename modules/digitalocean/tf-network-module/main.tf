# The network of a cluster on DigitalOcean: a VPC, in which nodes, load balancers and databases speak with each other. Nodes
# have public addresses besides, behind a firewall that DigitalOcean keeps by itself and that lets in what services ask for.
#
# VPCs have no tags: this one is known by its name, and tells the rest in its description.

locals {
  description = substr(join(", ", concat(
    ["Terrane cluster ${var.cluster_name}"],
    [for key, value in var.tags : "${key}=${value}"],
  )), 0, 250)
}

resource "digitalocean_vpc" "this" {
  name        = var.cluster_name
  description = local.description
  region      = var.region
  ip_range    = var.network_cidr

  # Droplets leave a VPC some minutes after they were deleted.
  timeouts {
    delete = "15m"
  }
}
