output "network" {
  description = "What tf-k8s-module has to know of the network."
  value = {
    network_id = digitalocean_vpc.this.id
  }
}

output "network_id" {
  description = "Id of the VPC."
  value       = digitalocean_vpc.this.id
}

output "network_cidr" {
  description = "Addresses of the network."
  value       = digitalocean_vpc.this.ip_range
}

output "subnet_ids" {
  description = "The VPC itself: it has no subnets."
  value       = [digitalocean_vpc.this.id]
}

output "egress_ips" {
  description = "Empty: each node is seen outside with its own address."
  value       = []
}
