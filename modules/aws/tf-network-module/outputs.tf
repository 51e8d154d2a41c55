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

  # Nodes that come up before they have a way out never join.
  depends_on = [aws_route.nat, aws_route_table_association.private, aws_vpc_endpoint.s3]
}

output "public_subnet_ids" {
  description = "Public subnets, where load balancers are, by zone."
  value       = aws_subnet.public[*].id

  depends_on = [aws_route_table_association.public]
}

output "zones" {
  description = "Zones in use."
  value       = aws_subnet.private[*].availability_zone
}

output "egress_ips" {
  description = "Addresses from which nodes are seen outside."
  value       = aws_eip.nat[*].public_ip
}
