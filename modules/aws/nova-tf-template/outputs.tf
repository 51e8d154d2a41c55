output "cluster_id" {
  description = "The cloud's id of the cluster."
  value       = module.k8s.cluster_id
}

output "cluster_name" {
  description = "Name of the cluster."
  value       = module.k8s.cluster_name
}

output "region" {
  description = "Region of the cluster."
  value       = var.region
}

output "kubernetes_version" {
  description = "Version of Kubernetes that the control plane runs."
  value       = module.k8s.kubernetes_version
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = module.k8s.endpoint
}

output "ca_certificate" {
  description = "Certificate of the API's authority, PEM in base64."
  value       = module.k8s.ca_certificate
}

output "kubeconfig" {
  description = "Configuration for kubectl."
  value       = module.k8s.kubeconfig
  sensitive   = true
}

output "node_pools" {
  description = "Names of the pools of nodes."
  value       = module.k8s.node_pools
}

output "network_id" {
  description = "The cloud's id of the network."
  value       = module.network.network_id
}

output "network_cidr" {
  description = "Addresses of the network."
  value       = module.network.network_cidr
}

output "subnet_ids" {
  description = "The cloud's ids of the subnets in which nodes are."
  value       = module.network.subnet_ids
}

output "egress_ips" {
  description = "Addresses from which nodes are seen outside; empty where nodes have addresses of their own."
  value       = module.network.egress_ips
}

output "backup_location" {
  description = "Where backups are kept; null without backups."
  value       = module.k8s.backup_location
}

output "components" {
  description = "What is installed in the cluster: the version of each chart."
  value       = module.essentials.components
}
