terraform {
  required_providers {
    linode = { source = "linode/linode" }
  }
}
provider "linode" {
  token = "secret"
}
variable "desired" {
  type    = number
  default = 2
}
data "linode_lke_versions" "known" {}
resource "linode_vpc" "main" {
  label  = "demo"
  region = "eu-central"
}
resource "linode_vpc_subnet" "main" {
  vpc_id = linode_vpc.main.id
  label  = "nodes"
  ipv4   = "10.0.0.0/24"
}
resource "linode_lke_cluster" "main" {
  label       = "demo"
  region      = "eu-central"
  k8s_version = "1.32"
  tags        = ["owner:terrane"]
  control_plane {
    high_availability = true
  }
  pool {
    type  = "g6-standard-2"
    count = var.desired
  }
}
resource "linode_lke_node_pool" "more" {
  cluster_id = linode_lke_cluster.main.id
  type       = "g6-standard-4"
  node_count = 1
}
resource "linode_firewall" "main" {
  label           = "demo"
  inbound_policy  = "DROP"
  outbound_policy = "ACCEPT"
}
data "linode_lke_cluster" "main" {
  id         = linode_lke_cluster.main.id
  depends_on = [linode_lke_node_pool.more]
}
output "endpoint" { value = data.linode_lke_cluster.main.api_endpoints[0] }
output "versions" { value = data.linode_lke_versions.known.versions[*].id }
output "kubeconfig" {
  value     = base64decode(linode_lke_cluster.main.kubeconfig)
  sensitive = true
}
