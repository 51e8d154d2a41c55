# The network beside a cluster on Linode: a VPC with a subnet for what belongs to the cluster and is not in it, databases for
# example. LKE's own nodes cannot be in a VPC: they speak with each other in a network that Linode keeps, and have public
# addresses.
#
# VPCs have no tags: this one is known by its name, and tells the rest in its description.

locals {
  description = substr(join(", ", concat(
    ["Terrane cluster ${var.cluster_name}"],
    [for key, value in var.tags : "${key}=${value}"],
  )), 0, 250)
}

resource "linode_vpc" "this" {
  label       = var.cluster_name
  description = local.description
  region      = var.region
}

resource "linode_vpc_subnet" "this" {
  vpc_id = linode_vpc.this.id
  label  = "${var.cluster_name}-a"
  ipv4   = var.network_cidr
}
