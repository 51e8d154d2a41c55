# The network of a cluster on DigitalOcean: a VPC, in which nodes, load balancers and databases speak with each other. Nodes have
# public addresses besides, behind a firewall that DigitalOcean keeps by itself and that lets in what services ask for.
#
# VPCs have no tags: this one is known by its name.

resource "digitalocean_vpc" "this" {
  name        = var.cluster_name
  description = "Terrane cluster ${var.cluster_name}"
  region      = var.region
  ip_range    = var.network_cidr

  # Droplets leave a VPC some minutes after they were deleted.
  timeouts {
    delete = "15m"
  }
}
