terraform {
  required_providers {
    google = { source = "hashicorp/google" }
  }
}
provider "google" {
  project = "demo-project"
  region  = "europe-west1"
}
variable "desired" {
  type    = number
  default = 2
}
data "google_client_config" "me" {}
data "google_compute_zones" "here" {}
data "google_project" "this" {}
resource "google_compute_network" "main" {
  name                    = "demo"
  auto_create_subnetworks = false
}
resource "google_compute_subnetwork" "nodes" {
  name          = "nodes"
  network       = google_compute_network.main.id
  ip_cidr_range = "10.10.0.0/20"
  secondary_ip_range {
    range_name    = "pods"
    ip_cidr_range = "10.20.0.0/16"
  }
  secondary_ip_range {
    range_name    = "services"
    ip_cidr_range = "10.30.0.0/20"
  }
}
resource "google_compute_router" "main" {
  name    = "demo"
  network = google_compute_network.main.self_link
}
resource "google_compute_router_nat" "main" {
  name                               = "demo"
  router                             = google_compute_router.main.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"
}
resource "google_compute_firewall" "internal" {
  name          = "demo-internal"
  network       = google_compute_network.main.name
  source_ranges = ["10.0.0.0/8"]
  allow {
    protocol = "tcp"
  }
}
resource "google_service_account" "nodes" {
  account_id = "demo-nodes"
}
resource "google_project_iam_member" "nodes" {
  project = "demo-project"
  role    = "roles/logging.logWriter"
  member  = google_service_account.nodes.member
}
resource "google_kms_key_ring" "main" {
  name     = "demo"
  location = "europe-west1"
}
resource "google_kms_crypto_key" "main" {
  name     = "demo"
  key_ring = google_kms_key_ring.main.id
  labels   = { owner = "terrane" }
}
resource "google_container_cluster" "main" {
  name                     = "demo"
  location                 = "europe-west1"
  network                  = google_compute_network.main.id
  subnetwork               = google_compute_subnetwork.nodes.id
  remove_default_node_pool = true
  initial_node_count       = 1
  deletion_protection      = false
  min_master_version       = "1.32"
  resource_labels          = { owner = "terrane" }
  ip_allocation_policy {
    cluster_secondary_range_name  = "pods"
    services_secondary_range_name = "services"
  }
  private_cluster_config {
    enable_private_nodes   = true
    master_ipv4_cidr_block = "172.16.0.0/28"
  }
  workload_identity_config {
    workload_pool = "demo-project.svc.id.goog"
  }
  release_channel {
    channel = "STABLE"
  }
}
resource "google_container_node_pool" "main" {
  name       = "main"
  cluster    = google_container_cluster.main.id
  node_count = var.desired
  node_config {
    machine_type    = "e2-standard-4"
    service_account = google_service_account.nodes.email
  }
  autoscaling {
    min_node_count = 1
    max_node_count = 5
  }
}
data "google_compute_networks" "all" {
  depends_on = [google_container_cluster.main]
}
output "endpoint" { value = google_container_cluster.main.endpoint }
output "ca" { value = length(google_container_cluster.main.master_auth[0].cluster_ca_certificate) > 0 }
output "networks" { value = data.google_compute_networks.all.networks }
output "number" { value = data.google_project.this.number }
