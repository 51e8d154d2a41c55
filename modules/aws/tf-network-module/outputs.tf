output "network" {
  description = "What tf-k8s-module has to know of the network."
  value = {
    network_id  = aws_vpc.this.id
    subnet_ids  = aws_subnet.private[*].id
    kms_key_arn = aws_kms_key.this.arn
  }

  # Nodes that come up before they have a way out never join, and load balancers need theirs until the last is gone.
  depends_on = [
    aws_route.nat,
    aws_route_table_association.private,
    aws_route_table_association.public,
    aws_vpc_endpoint.s3,
  ]
}

output "network_id" {
  description = "Id of the VPC."
  value       = aws_vpc.this.id
}

output "network_cidr" {
  description = "Addresses of the network."
  value       = aws_vpc.this.cidr_block
}

output "subnet_ids" {
  description = "Private subnets, where nodes are, by zone."
  value       = aws_subnet.private[*].id
}

output "egress_ips" {
  description = "Addresses from which nodes are seen outside."
  value       = aws_eip.nat[*].public_ip
}
