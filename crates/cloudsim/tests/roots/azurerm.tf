terraform {
  required_providers {
    azurerm = { source = "hashicorp/azurerm" }
  }
}
provider "azurerm" {
  features {}
  subscription_id = "11111111-2222-4333-8444-555555555555"
}
variable "desired" {
  type    = number
  default = 2
}
data "azurerm_client_config" "me" {}
resource "azurerm_resource_group" "main" {
  name     = "demo"
  location = "West Europe"
}
resource "azurerm_virtual_network" "main" {
  name                = "demo"
  resource_group_name = azurerm_resource_group.main.name
  location            = azurerm_resource_group.main.location
  address_space       = ["10.0.0.0/16"]
  tags                = { owner = "terrane" }
}
resource "azurerm_subnet" "nodes" {
  name                 = "nodes"
  resource_group_name  = azurerm_resource_group.main.name
  virtual_network_name = azurerm_virtual_network.main.name
  address_prefixes     = ["10.0.0.0/20"]
}
resource "azurerm_network_security_group" "nodes" {
  name                = "nodes"
  resource_group_name = azurerm_resource_group.main.name
  location            = "westeurope"
}
resource "azurerm_subnet_network_security_group_association" "nodes" {
  subnet_id                 = azurerm_subnet.nodes.id
  network_security_group_id = azurerm_network_security_group.nodes.id
}
resource "azurerm_public_ip" "nat" {
  name                = "nat"
  resource_group_name = azurerm_resource_group.main.name
  location            = azurerm_resource_group.main.location
  allocation_method   = "Static"
}
resource "azurerm_nat_gateway" "main" {
  name                = "demo"
  resource_group_name = azurerm_resource_group.main.name
  location            = azurerm_resource_group.main.location
}
resource "azurerm_nat_gateway_public_ip_association" "main" {
  nat_gateway_id       = azurerm_nat_gateway.main.id
  public_ip_address_id = azurerm_public_ip.nat.id
}
resource "azurerm_subnet_nat_gateway_association" "nodes" {
  subnet_id      = azurerm_subnet.nodes.id
  nat_gateway_id = azurerm_nat_gateway.main.id
}
resource "azurerm_user_assigned_identity" "cluster" {
  name                = "cluster"
  resource_group_name = azurerm_resource_group.main.name
  location            = azurerm_resource_group.main.location
}
resource "azurerm_role_assignment" "network" {
  scope                = azurerm_virtual_network.main.id
  role_definition_name = "Network Contributor"
  principal_id         = azurerm_user_assigned_identity.cluster.principal_id
}
resource "azurerm_key_vault" "main" {
  name                = "demo-vault"
  resource_group_name = azurerm_resource_group.main.name
  location            = azurerm_resource_group.main.location
  tenant_id           = data.azurerm_client_config.me.tenant_id
  sku_name            = "standard"
}
resource "azurerm_key_vault_key" "main" {
  name         = "disks"
  key_vault_id = azurerm_key_vault.main.id
  key_type     = "RSA"
  key_size     = 2048
  key_opts     = ["wrapKey", "unwrapKey"]
}
resource "azurerm_kubernetes_cluster" "main" {
  name                      = "demo"
  resource_group_name       = azurerm_resource_group.main.name
  location                  = azurerm_resource_group.main.location
  dns_prefix                = "demo"
  kubernetes_version        = "1.32"
  oidc_issuer_enabled       = true
  workload_identity_enabled = true
  default_node_pool {
    name           = "system"
    vm_size        = "Standard_D4s_v5"
    node_count     = var.desired
    vnet_subnet_id = azurerm_subnet.nodes.id
  }
  identity {
    type         = "UserAssigned"
    identity_ids = [azurerm_user_assigned_identity.cluster.id]
  }
  network_profile {
    network_plugin = "azure"
  }
  azure_active_directory_role_based_access_control {
    azure_rbac_enabled = true
  }
  tags       = { owner = "terrane" }
  depends_on = [azurerm_role_assignment.network]
}
resource "azurerm_kubernetes_cluster_node_pool" "more" {
  name                  = "more"
  kubernetes_cluster_id = azurerm_kubernetes_cluster.main.id
  vnet_subnet_id        = azurerm_subnet.nodes.id
  node_count            = 1
}
data "azurerm_resources" "mine" {
  resource_group_name = azurerm_resource_group.main.name
  required_tags       = { owner = "terrane" }
  depends_on          = [azurerm_kubernetes_cluster.main, azurerm_virtual_network.main]
}
output "endpoint" {
  value     = azurerm_kubernetes_cluster.main.kube_admin_config[0].host
  sensitive = true
}
output "tagged" { value = length(data.azurerm_resources.mine.resources) }
