# The least that has to be said.

module "cluster" {
  source = "../.."

  cluster_name      = "customer-production"
  region            = "us-east-1"
  node_count        = 3
  instance_type     = "t3.medium"
  enable_monitoring = true
  backup_schedule   = "daily"
}

output "cluster_name" {
  description = "Name of the cluster."
  value       = module.cluster.cluster_name
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = module.cluster.endpoint
}
