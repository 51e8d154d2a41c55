output "network_id" {
  description = "Id of the network."
  value       = google_compute_network.this.id
}

output "network_number" {
  description = "Number that Google gave the network; no other ever gets it."
  value       = google_compute_network.this.network_id
}

output "network_cidr" {
  description = "Addresses of the network."
  value       = var.network_cidr
}

output "subnet_ids" {
  description = "The subnet, where nodes are."
  value       = [google_compute_subnetwork.nodes.id]

  # Nodes that come up before they have a way out never join.
  depends_on = [google_compute_router_nat.this]
}

output "pods_range" {
  description = "Name of the range for pods."
  value       = "pods"
}

output "services_range" {
  description = "Name of the range for services."
  value       = "services"
}

output "egress_ips" {
  description = "Addresses from which nodes are seen outside."
  value       = google_compute_address.nat[*].address
}
