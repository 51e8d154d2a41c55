# What is usually said: autoscaling, a pool of larger machines, names and certificates, a service mesh, tags for cost.

module "cluster" {
  source = "../.."

  cluster_name        = "orders-production"
  region              = "germanywestcentral"
  kubernetes_version  = "1.34"
  node_count          = 3
  max_node_count      = 9
  instance_type       = "Standard_D2s_v5"
  network_cidr        = "10.20.0.0/16"
  api_access_cidrs    = ["203.0.113.0/24"]
  enable_monitoring   = true
  enable_service_mesh = true
  chart_values        = { ingress = yamlencode({ deployment = { replicas = 3 } }) }
  backup_schedule     = "30 2 * * *"
  dns_zone_ids        = { "orders.example.com" = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/dns/providers/Microsoft.Network/dnsZones/orders.example.com" }
  acme_email          = "platform@example.com"
  tags                = { team = "orders", cost-centre = "c1234" }

  node_pools = {
    batch = {
      instance_type  = "Standard_F8s_v2"
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
