output "network" {
  description = "What tf-k8s-module has to know of the network."
  value = {
    network_id = linode_vpc.this.id
  }
}

output "network_id" {
  description = "Id of the VPC."
  value       = linode_vpc.this.id
}

output "network_cidr" {
  description = "Addresses of the network."
  value       = linode_vpc_subnet.this.ipv4
}

output "subnet_ids" {
  description = "The VPC's subnet."
  value       = [linode_vpc_subnet.this.id]
}

output "egress_ips" {
  description = "Empty: each node is seen outside with its own address."
  value       = []
}
