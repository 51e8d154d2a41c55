output "network" {
  description = "What tf-k8s-module has to know of the network."
  value = {
    resource_group_name = azurerm_resource_group.this.name
    subnet_id           = azurerm_subnet.nodes.id
  }

  # Nodes that come up before they have a way out never join.
  depends_on = [
    azurerm_nat_gateway_public_ip_association.this,
    azurerm_network_security_rule.ingress,
    azurerm_subnet_nat_gateway_association.nodes,
    azurerm_subnet_network_security_group_association.nodes,
  ]
}

output "network_id" {
  description = "Id of the virtual network."
  value       = azurerm_virtual_network.this.id
}

output "network_cidr" {
  description = "Addresses of the network."
  value       = var.network_cidr
}

output "subnet_ids" {
  description = "The subnet, where nodes are."
  value       = [azurerm_subnet.nodes.id]
}

output "egress_ips" {
  description = "Addresses from which nodes are seen outside."
  value       = azurerm_public_ip.nat[*].ip_address
}
