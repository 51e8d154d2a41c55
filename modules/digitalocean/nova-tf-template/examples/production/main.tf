# What is usually said: autoscaling, a pool of larger machines, names and certificates, a service mesh, tags for cost.

variable "dns_token" {
  description = "Token with which names are set."
  type        = string
  default     = "example"
  sensitive   = true
}

module "cluster" {
  source = "../.."

  cluster_name        = "orders-production"
  region              = "fra1"
  kubernetes_version  = "1.34"
  node_count          = 3
  max_node_count      = 9
  instance_type       = "g-2vcpu-8gb"
  network_cidr        = "10.20.0.0/16"
  api_access_cidrs    = ["203.0.113.0/24"]
  enable_monitoring   = true
  enable_service_mesh = true
  chart_values        = { ingress = yamlencode({ deployment = { replicas = 3 } }) }
  backup_schedule     = "30 2 * * *"
  dns_zone_ids        = { "orders.example.com" = "orders.example.com" }
  dns_token           = var.dns_token
  acme_email          = "platform@example.com"
  tags                = { team = "orders", cost-centre = "c1234" }

  node_pools = {
    batch = {
      instance_type  = "c-8"
      node_count     = 1
      max_node_count = 20
      labels         = { workload = "batch" }
      taints         = [{ key = "workload", value = "batch", effect = "NoSchedule" }]
    }
  }
}

output "cluster_name" {
  description = "Name of the cluster."
  value       = module.cluster.cluster_name
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = module.cluster.endpoint
}

output "kubeconfig" {
  description = "Configuration for kubectl."
  value       = module.cluster.kubeconfig
  sensitive   = true
}
