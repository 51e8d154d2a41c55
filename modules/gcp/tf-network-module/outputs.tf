output "network" {
  description = "What tf-k8s-module has to know of the network."
  value = {
    network_id = google_compute_network.this.id
    # No other network ever gets it.
    network_number = google_compute_network.this.network_id
    subnet_id      = google_compute_subnetwork.nodes.id
    pods_range     = "pods"
    services_range = "services"
  }

  # Nodes that come up before they have a way out never join.
  depends_on = [google_compute_router_nat.this]
}

output "network_id" {
  description = "Id of the network."
  value       = google_compute_network.this.id
}

output "network_cidr" {
  description = "Addresses of the network."
  value       = var.network_cidr
}

output "subnet_ids" {
  description = "The subnet, where nodes are."
  value       = [google_compute_subnetwork.nodes.id]
}

output "egress_ips" {
  description = "Addresses from which nodes are seen outside."
  value       = google_compute_address.nat[*].address
}
