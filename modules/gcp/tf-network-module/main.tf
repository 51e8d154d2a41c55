# The network of a cluster on Google Cloud: a VPC with one subnet, ranges for pods and services, a way out by Cloud NAT with
# addresses of its own, flow logs, and a firewall that writes down what it turns away.

locals {
  labels = merge(var.tags, {
    managed-by      = "terrane"
    terrane-cluster = var.cluster_name
  })
}

resource "google_compute_network" "this" {
  name                    = var.cluster_name
  description             = "Terrane cluster ${var.cluster_name}"
  auto_create_subnetworks = false
  routing_mode            = "REGIONAL"
}

resource "google_compute_subnetwork" "nodes" {
  name                     = "${var.cluster_name}-nodes"
  description              = "Terrane cluster ${var.cluster_name}"
  network                  = google_compute_network.this.id
  region                   = var.region
  ip_cidr_range            = cidrsubnet(var.network_cidr, 4, 0)
  private_ip_google_access = true

  secondary_ip_range {
    range_name    = "services"
    ip_cidr_range = cidrsubnet(var.network_cidr, 4, 1)
  }

  secondary_ip_range {
    range_name    = "pods"
    ip_cidr_range = cidrsubnet(var.network_cidr, 1, 1)
  }

  log_config {
    aggregation_interval = "INTERVAL_5_SEC"
    flow_sampling        = 0.5
    metadata             = "INCLUDE_ALL_METADATA"
  }
}

# Below all that allows: it changes nothing but that it is written down.
resource "google_compute_firewall" "deny_ingress" {
  name          = "${var.cluster_name}-deny-ingress"
  description   = "Terrane cluster ${var.cluster_name}"
  network       = google_compute_network.this.id
  direction     = "INGRESS"
  priority      = 65534
  source_ranges = ["0.0.0.0/0"]

  deny {
    protocol = "all"
  }

  log_config {
    metadata = "INCLUDE_ALL_METADATA"
  }
}

resource "google_compute_router" "this" {
  name        = var.cluster_name
  description = "Terrane cluster ${var.cluster_name}"
  network     = google_compute_network.this.id
  region      = var.region
}

resource "google_compute_address" "nat" {
  count = var.high_availability ? 2 : 1

  name        = "${var.cluster_name}-nat-${count.index}"
  description = "Terrane cluster ${var.cluster_name}"
  region      = var.region
  labels      = local.labels
}

resource "google_compute_router_nat" "this" {
  name                                = var.cluster_name
  router                              = google_compute_router.this.name
  region                              = var.region
  nat_ip_allocate_option              = "MANUAL_ONLY"
  nat_ips                             = google_compute_address.nat[*].self_link
  source_subnetwork_ip_ranges_to_nat  = "LIST_OF_SUBNETWORKS"
  enable_dynamic_port_allocation      = true
  enable_endpoint_independent_mapping = false
  min_ports_per_vm                    = 64
  max_ports_per_vm                    = 8192

  subnetwork {
    name                    = google_compute_subnetwork.nodes.id
    source_ip_ranges_to_nat = ["ALL_IP_RANGES"]
  }

  log_config {
    enable = true
    filter = "ERRORS_ONLY"
  }
}
