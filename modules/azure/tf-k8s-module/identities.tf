# Who may do what with Azure: one managed identity for one service account, by workload identity.

locals {
  backup = var.backup_schedule != "none"

  identities = { for name, identity in local.possible_identities : name => identity if identity.wanted }

  possible_identities = {
    external-dns = { wanted = length(var.dns_zone_ids) > 0, subject = "system:serviceaccount:external-dns:external-dns" }
    backup       = { wanted = local.backup, subject = "system:serviceaccount:backup:velero" }
  }
}

resource "azurerm_user_assigned_identity" "pod" {
  for_each = local.identities

  name                = "${var.cluster_name}-${each.key}"
  location            = var.region
  resource_group_name = var.network.resource_group_name

  tags = local.tags
}

resource "azurerm_federated_identity_credential" "pod" {
  for_each = local.identities

  name                      = "${var.cluster_name}-${each.key}"
  user_assigned_identity_id = azurerm_user_assigned_identity.pod[each.key].id
  audience                  = ["api://AzureADTokenExchange"]
  issuer                    = azurerm_kubernetes_cluster.this.oidc_issuer_url
  subject                   = each.value.subject
}

resource "azurerm_role_assignment" "dns_zone" {
  for_each = var.dns_zone_ids

  scope                = each.value
  role_definition_name = "DNS Zone Contributor"
  principal_id         = azurerm_user_assigned_identity.pod["external-dns"].principal_id
  principal_type       = "ServicePrincipal"
  description          = "Terrane cluster ${var.cluster_name}"
}

# Zones are found by listing those of a resource group.
resource "azurerm_role_assignment" "dns_group" {
  for_each = toset([for id in values(var.dns_zone_ids) : regex("^/subscriptions/[^/]+/resourceGroups/[^/]+", id)])

  scope                = each.key
  role_definition_name = "Reader"
  principal_id         = azurerm_user_assigned_identity.pod["external-dns"].principal_id
  principal_type       = "ServicePrincipal"
  description          = "Terrane cluster ${var.cluster_name}"
}
