# A Kubernetes cluster on Azure: AKS with its API inside of the network or restricted to named ones, nodes without public
# addresses, disks encrypted with an own key, Cilium, the control plane's logs kept, and managed identities for the control
# plane and for what speaks with Azure (workload identity).

data "azurerm_client_config" "current" {}

locals {
  default_pool = var.node_pools["default"]
  zones        = var.high_availability ? ["1", "2", "3"] : null

  tags = merge(var.tags, {
    managed-by      = "terrane"
    terrane-cluster = var.cluster_name
  })
}

resource "azurerm_user_assigned_identity" "control_plane" {
  name                = "${var.cluster_name}-control-plane"
  location            = var.region
  resource_group_name = var.network.resource_group_name

  tags = local.tags
}

resource "azurerm_role_assignment" "network" {
  scope                = var.network.subnet_id
  role_definition_name = "Network Contributor"
  principal_id         = azurerm_user_assigned_identity.control_plane.principal_id
  principal_type       = "ServicePrincipal"
  description          = "Terrane cluster ${var.cluster_name}"
}

resource "azurerm_role_assignment" "disk_encryption" {
  scope                = azurerm_disk_encryption_set.this.id
  role_definition_name = "Reader"
  principal_id         = azurerm_user_assigned_identity.control_plane.principal_id
  principal_type       = "ServicePrincipal"
  description          = "Terrane cluster ${var.cluster_name}"
}

resource "azurerm_disk_encryption_set" "this" {
  name                      = var.cluster_name
  location                  = var.region
  resource_group_name       = var.network.resource_group_name
  key_vault_key_id          = azurerm_key_vault_key.this.versionless_id
  auto_key_rotation_enabled = true

  identity {
    type         = "UserAssigned"
    identity_ids = [azurerm_user_assigned_identity.key.id]
  }

  tags = local.tags

  depends_on = [azurerm_key_vault_access_policy.key]
}

# Reads the key, for disks and for backups; nobody else can.
resource "azurerm_user_assigned_identity" "key" {
  name                = "${var.cluster_name}-key"
  location            = var.region
  resource_group_name = var.network.resource_group_name

  tags = local.tags
}

resource "azurerm_key_vault_access_policy" "key" {
  key_vault_id    = azurerm_key_vault.this.id
  tenant_id       = data.azurerm_client_config.current.tenant_id
  object_id       = azurerm_user_assigned_identity.key.principal_id
  key_permissions = ["Get", "UnwrapKey", "WrapKey"]
}

resource "azurerm_kubernetes_cluster" "this" {
  #checkov:skip=CKV_AZURE_4:The control plane's logs are kept by a diagnostic setting; what pods print is for the monitoring that is installed in the cluster.
  #checkov:skip=CKV_AZURE_141:The local account is how the charts are installed without any other program; people come by Entra ID.
  #checkov:skip=CKV_AZURE_226:Whether a disk fits into a machine's cache depends on the type of the machine, which is the user's choice.
  #checkov:skip=CKV_AZURE_227:Encryption at the host must be registered for a subscription first; disks are encrypted with an own key without it.
  #checkov:skip=CKV_AZURE_232:A cluster of three nodes is not split into system nodes and others; node_pools can have taints.
  name                = var.cluster_name
  location            = var.region
  resource_group_name = var.network.resource_group_name
  node_resource_group = "${var.cluster_name}-nodes"
  dns_prefix          = var.cluster_name
  kubernetes_version  = var.kubernetes_version
  sku_tier            = var.high_availability ? "Standard" : "Free"

  private_cluster_enabled           = length(var.api_access_cidrs) == 0
  role_based_access_control_enabled = true
  local_account_disabled            = false
  oidc_issuer_enabled               = true
  workload_identity_enabled         = true
  azure_policy_enabled              = true
  disk_encryption_set_id            = azurerm_disk_encryption_set.this.id
  automatic_upgrade_channel         = "patch"
  node_os_upgrade_channel           = "NodeImage"
  image_cleaner_enabled             = true
  image_cleaner_interval_hours      = 48

  dynamic "api_server_access_profile" {
    for_each = length(var.api_access_cidrs) > 0 ? [var.api_access_cidrs] : []

    content {
      authorized_ip_ranges = api_server_access_profile.value
    }
  }

  identity {
    type         = "UserAssigned"
    identity_ids = [azurerm_user_assigned_identity.control_plane.id]
  }

  azure_active_directory_role_based_access_control {
    azure_rbac_enabled = true
    tenant_id          = data.azurerm_client_config.current.tenant_id
  }

  key_vault_secrets_provider {
    secret_rotation_enabled = true
  }

  network_profile {
    network_plugin      = "azure"
    network_plugin_mode = "overlay"
    network_data_plane  = "cilium"
    network_policy      = "cilium"
    load_balancer_sku   = "standard"
    outbound_type       = "userAssignedNATGateway"
    pod_cidr            = var.pod_cidr
    service_cidr        = var.service_cidr
    dns_service_ip      = cidrhost(var.service_cidr, 10)
  }

  default_node_pool {
    name                        = "default"
    vm_size                     = local.default_pool.instance_type
    vnet_subnet_id              = var.network.subnet_id
    zones                       = local.zones
    auto_scaling_enabled        = local.default_pool.max_node_count != null
    node_count                  = local.default_pool.max_node_count == null ? local.default_pool.node_count : null
    min_count                   = local.default_pool.max_node_count == null ? null : local.default_pool.node_count
    max_count                   = local.default_pool.max_node_count
    max_pods                    = 110
    os_disk_size_gb             = coalesce(local.default_pool.disk_size_gb, 50)
    os_sku                      = "AzureLinux"
    node_public_ip_enabled      = false
    node_labels                 = local.default_pool.labels
    temporary_name_for_rotation = "rotation"

    upgrade_settings {
      max_surge = "33%"
    }

    tags = local.tags
  }

  tags = local.tags

  # "patch" moves within the minor version that is asked for.
  lifecycle {
    precondition {
      condition     = length(local.default_pool.taints) == 0
      error_message = "The pool \"default\" runs what the cluster itself needs and cannot have taints: put them on another of node_pools."
    }
  }

  depends_on = [azurerm_role_assignment.disk_encryption, azurerm_role_assignment.network]
}

resource "azurerm_kubernetes_cluster_node_pool" "this" {
  #checkov:skip=CKV_AZURE_227:Encryption at the host must be registered for a subscription first; disks are encrypted with an own key without it.
  for_each = { for name, pool in var.node_pools : name => pool if name != "default" }

  name                        = each.key
  kubernetes_cluster_id       = azurerm_kubernetes_cluster.this.id
  mode                        = "User"
  vm_size                     = each.value.instance_type
  vnet_subnet_id              = var.network.subnet_id
  zones                       = local.zones
  auto_scaling_enabled        = each.value.max_node_count != null
  node_count                  = each.value.max_node_count == null ? each.value.node_count : null
  min_count                   = each.value.max_node_count == null ? null : each.value.node_count
  max_count                   = each.value.max_node_count
  max_pods                    = 110
  os_disk_size_gb             = coalesce(each.value.disk_size_gb, 50)
  os_sku                      = "AzureLinux"
  node_public_ip_enabled      = false
  node_labels                 = each.value.labels
  node_taints                 = [for taint in each.value.taints : "${taint.key}=${taint.value}:${taint.effect}"]
  temporary_name_for_rotation = "${substr(each.key, 0, 9)}tmp"

  upgrade_settings {
    max_surge = "33%"
  }

  tags = local.tags
}

resource "azurerm_log_analytics_workspace" "this" {
  name                = var.cluster_name
  location            = var.region
  resource_group_name = var.network.resource_group_name
  sku                 = "PerGB2018"
  retention_in_days   = var.log_retention_days

  tags = local.tags
}

resource "azurerm_monitor_diagnostic_setting" "control_plane" {
  name                       = var.cluster_name
  target_resource_id         = azurerm_kubernetes_cluster.this.id
  log_analytics_workspace_id = azurerm_log_analytics_workspace.this.id

  dynamic "enabled_log" {
    for_each = ["cluster-autoscaler", "guard", "kube-apiserver", "kube-audit-admin", "kube-controller-manager", "kube-scheduler"]

    content {
      category = enabled_log.value
    }
  }
}

# AKS has nothing of the kind.
resource "terraform_data" "deletion_protection" {
  input = var.deletion_protection

  provisioner "local-exec" {
    when    = destroy
    command = self.input ? "echo 'The cluster is protected. To delete it, apply deletion_protection = false first.' >&2; exit 1" : "true"
  }

  depends_on = [azurerm_kubernetes_cluster.this, azurerm_kubernetes_cluster_node_pool.this]
}
