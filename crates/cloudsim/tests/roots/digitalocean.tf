terraform {
  required_providers {
    digitalocean = { source = "digitalocean/digitalocean" }
  }
}
provider "digitalocean" {
  token = "secret"
}
variable "desired" {
  type    = number
  default = 2
}
data "digitalocean_kubernetes_versions" "known" {
  version_prefix = "1.32."
}
resource "digitalocean_tag" "owner" {
  name = "owner:terrane"
}
resource "digitalocean_vpc" "main" {
  name     = "demo"
  region   = "fra1"
  ip_range = "10.20.0.0/16"
}
resource "digitalocean_kubernetes_cluster" "main" {
  name     = "demo"
  region   = "fra1"
  version  = data.digitalocean_kubernetes_versions.known.latest_version
  vpc_uuid = digitalocean_vpc.main.id
  tags     = [digitalocean_tag.owner.id]
  node_pool {
    name       = "main"
    size       = "s-2vcpu-4gb"
    node_count = var.desired
  }
}
resource "digitalocean_kubernetes_node_pool" "more" {
  cluster_id = digitalocean_kubernetes_cluster.main.id
  name       = "more"
  size       = "s-4vcpu-8gb"
  auto_scale = true
  min_nodes  = 1
  max_nodes  = 3
}
resource "digitalocean_project" "main" {
  name = "demo"
}
resource "digitalocean_project_resources" "main" {
  project   = digitalocean_project.main.id
  resources = [digitalocean_kubernetes_cluster.main.urn]
}
resource "digitalocean_firewall" "main" {
  name = "demo"
  tags = ["k8s"]
  inbound_rule {
    protocol         = "tcp"
    port_range       = "443"
    source_addresses = ["10.0.0.0/8"]
  }
}
data "digitalocean_kubernetes_cluster" "main" {
  name       = digitalocean_kubernetes_cluster.main.name
  depends_on = [digitalocean_kubernetes_node_pool.more]
}
output "endpoint" { value = data.digitalocean_kubernetes_cluster.main.endpoint }
