# The ground of a cluster on Azure: a resource group, a virtual network, a subnet for nodes that has no public addresses and
# leaves by a NAT gateway, and a security group that lets in what is meant for the ingress and nothing else.

locals {
  tags = merge(var.tags, {
    managed-by      = "terrane"
    terrane-cluster = var.cluster_name
  })
}

resource "azurerm_resource_group" "this" {
  name     = var.cluster_name
  location = var.region

  tags = local.tags
}

resource "azurerm_virtual_network" "this" {
  name                = var.cluster_name
  location            = var.region
  resource_group_name = azurerm_resource_group.this.name
  address_space       = [var.network_cidr]

  tags = local.tags
}

resource "azurerm_subnet" "nodes" {
  name                            = "${var.cluster_name}-nodes"
  resource_group_name             = azurerm_resource_group.this.name
  virtual_network_name            = azurerm_virtual_network.this.name
  address_prefixes                = [cidrsubnet(var.network_cidr, 1, 0)]
  default_outbound_access_enabled = false

  # Backups and keys are reached without leaving Azure.
  service_endpoints = ["Microsoft.KeyVault", "Microsoft.Storage"]
}

resource "azurerm_network_security_group" "nodes" {
  name                = "${var.cluster_name}-nodes"
  location            = var.region
  resource_group_name = azurerm_resource_group.this.name

  tags = local.tags
}

resource "azurerm_network_security_rule" "ingress" {
  #checkov:skip=CKV_AZURE_160:Port 80 is where certificates are proved and where visitors are sent on to 443.
  name                        = "ingress"
  resource_group_name         = azurerm_resource_group.this.name
  network_security_group_name = azurerm_network_security_group.nodes.name
  priority                    = 100
  direction                   = "Inbound"
  access                      = "Allow"
  protocol                    = "Tcp"
  source_address_prefix       = "Internet"
  source_port_range           = "*"
  destination_address_prefix  = "*"
  destination_port_ranges     = ["80", "443"]
}

resource "azurerm_subnet_network_security_group_association" "nodes" {
  subnet_id                 = azurerm_subnet.nodes.id
  network_security_group_id = azurerm_network_security_group.nodes.id
}

resource "azurerm_public_ip" "nat" {
  count = var.high_availability ? 2 : 1

  name                = "${var.cluster_name}-nat-${count.index}"
  location            = var.region
  resource_group_name = azurerm_resource_group.this.name
  allocation_method   = "Static"
  sku                 = "Standard"
  zones               = var.high_availability ? ["1", "2", "3"] : null

  tags = local.tags
}

resource "azurerm_nat_gateway" "this" {
  name                    = var.cluster_name
  location                = var.region
  resource_group_name     = azurerm_resource_group.this.name
  sku_name                = "Standard"
  idle_timeout_in_minutes = 10

  tags = local.tags
}

resource "azurerm_nat_gateway_public_ip_association" "this" {
  count = length(azurerm_public_ip.nat)

  nat_gateway_id       = azurerm_nat_gateway.this.id
  public_ip_address_id = azurerm_public_ip.nat[count.index].id
}

resource "azurerm_subnet_nat_gateway_association" "nodes" {
  subnet_id      = azurerm_subnet.nodes.id
  nat_gateway_id = azurerm_nat_gateway.this.id
}
