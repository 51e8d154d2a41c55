# One key for all that the cluster writes down: disks and backups. Azure keeps etcd encrypted with its own.

resource "azurerm_key_vault" "this" {
  #checkov:skip=CKV2_AZURE_32:Only the cluster's subnet and api_access_cidrs are let in, and Azure's own services.
  # Unique in the world, and no longer than 24.
  name                        = "${trimsuffix(substr(var.cluster_name, 0, 15), "-")}-${substr(sha256("${data.azurerm_client_config.current.subscription_id}/${var.cluster_name}"), 0, 8)}"
  location                    = var.region
  resource_group_name         = var.network.resource_group_name
  tenant_id                   = data.azurerm_client_config.current.tenant_id
  sku_name                    = "premium"
  rbac_authorization_enabled  = false
  enabled_for_disk_encryption = true
  soft_delete_retention_days  = 7
  # Azure takes no key for disks that could be lost.
  purge_protection_enabled = true

  network_acls {
    default_action             = "Deny"
    bypass                     = "AzureServices"
    ip_rules                   = var.api_access_cidrs
    virtual_network_subnet_ids = [var.network.subnet_id]
  }

  tags = local.tags
}

resource "azurerm_key_vault_access_policy" "owner" {
  key_vault_id    = azurerm_key_vault.this.id
  tenant_id       = data.azurerm_client_config.current.tenant_id
  object_id       = data.azurerm_client_config.current.object_id
  key_permissions = ["Create", "Delete", "Get", "GetRotationPolicy", "List", "Recover", "SetRotationPolicy", "Update"]
}

resource "azurerm_key_vault_key" "this" {
  #checkov:skip=CKV_AZURE_40:A key that expired would take the cluster's disks with it; it is rotated instead.
  name         = "cluster"
  key_vault_id = azurerm_key_vault.this.id
  key_type     = "RSA-HSM"
  key_size     = 3072
  key_opts     = ["unwrapKey", "wrapKey"]

  rotation_policy {
    automatic {
      time_after_creation = "P90D"
    }
  }

  tags = local.tags

  depends_on = [azurerm_key_vault_access_policy.owner]
}
