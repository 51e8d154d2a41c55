# Where backups are kept: what is in volumes too, read from the nodes, so that no permission on disks is needed.

resource "azurerm_storage_account" "backup" {
  #checkov:skip=CKV_AZURE_33:There are no queues here.
  #checkov:skip=CKV_AZURE_206:Backups are in the cluster's region, in three zones with high_availability; copies elsewhere are their owner's choice.
  #checkov:skip=CKV_AZURE_43:The name is made of letters and digits when it is known.
  #checkov:skip=CKV_AZURE_59:Only the cluster's subnet is let in, by its service endpoint; nothing in it is public.
  #checkov:skip=CKV2_AZURE_33:Only the cluster's subnet is let in, by its service endpoint.
  count = local.backup ? 1 : 0

  # Unique in the world, of letters and digits, and no longer than 24.
  name                            = "${substr(replace(var.cluster_name, "-", ""), 0, 14)}bk${substr(sha256("${data.azurerm_client_config.current.subscription_id}/${var.network.resource_group_name}/${var.cluster_name}"), 0, 8)}"
  location                        = var.region
  resource_group_name             = var.network.resource_group_name
  account_tier                    = "Standard"
  account_replication_type        = var.high_availability ? "ZRS" : "LRS"
  min_tls_version                 = "TLS1_2"
  https_traffic_only_enabled      = true
  allow_nested_items_to_be_public = false
  shared_access_key_enabled       = false
  public_network_access_enabled   = true
  local_user_enabled              = false

  identity {
    type         = "UserAssigned"
    identity_ids = [azurerm_user_assigned_identity.key.id]
  }

  customer_managed_key {
    key_vault_key_id          = azurerm_key_vault_key.this.versionless_id
    user_assigned_identity_id = azurerm_user_assigned_identity.key.id
  }

  network_rules {
    default_action             = "Deny"
    bypass                     = ["AzureServices"]
    virtual_network_subnet_ids = [var.network.subnet_id]
  }

  blob_properties {
    versioning_enabled = true

    delete_retention_policy {
      days = 7
    }

    container_delete_retention_policy {
      days = 7
    }
  }

  sas_policy {
    expiration_period = "01.00:00:00"
  }

  tags = local.tags

  depends_on = [azurerm_key_vault_access_policy.key]
}

resource "azurerm_storage_container" "backup" {
  #checkov:skip=CKV2_AZURE_21:One identity reads and writes here, and the activity log knows who let it.
  count = local.backup ? 1 : 0

  name                  = "${var.cluster_name}-velero"
  storage_account_id    = azurerm_storage_account.backup[0].id
  container_access_type = "private"
}

resource "azurerm_role_assignment" "backup" {
  count = local.backup ? 1 : 0

  scope                = azurerm_storage_account.backup[0].id
  role_definition_name = "Storage Blob Data Contributor"
  principal_id         = azurerm_user_assigned_identity.pod["backup"].principal_id
  principal_type       = "ServicePrincipal"
  description          = "Terrane cluster ${var.cluster_name}"
}

# Azure deletes a storage account with all that is in it. Where that is not wanted, this stands in the way.
resource "terraform_data" "backups" {
  count = local.backup ? 1 : 0

  input = { account = azurerm_storage_account.backup[0].name, delete = var.delete_backups }

  provisioner "local-exec" {
    when    = destroy
    command = self.input.delete ? "true" : "echo 'Backups are in ${self.input.account}. To delete them too, apply delete_backups = true first.' >&2; exit 1"
  }
}
