locals {
  # The local account. With Entra ID it is the administrator's; the user's would ask for a login.
  account = concat(azurerm_kubernetes_cluster.this.kube_admin_config, azurerm_kubernetes_cluster.this.kube_config)[0]
}

output "cluster_id" {
  description = "Id of the cluster."
  value       = azurerm_kubernetes_cluster.this.id
}

output "cluster_name" {
  description = "Name of the cluster."
  value       = azurerm_kubernetes_cluster.this.name
}

output "kubernetes_version" {
  description = "Version of Kubernetes that the control plane runs."
  value       = azurerm_kubernetes_cluster.this.current_kubernetes_version
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = nonsensitive(local.account.host)
}

output "ca_certificate" {
  description = "Certificate of the API's authority, PEM in base64."
  value       = nonsensitive(local.account.cluster_ca_certificate)
}

output "kubeconfig" {
  description = "Configuration for kubectl, with the local account's certificate. People better use `az aks get-credentials`."
  value       = coalesce(azurerm_kubernetes_cluster.this.kube_admin_config_raw, azurerm_kubernetes_cluster.this.kube_config_raw)
  sensitive   = true
}

output "access" {
  description = "How Terraform gets in: the local account's certificate."
  sensitive   = true
  value = {
    token              = null
    client_certificate = base64decode(local.account.client_certificate)
    client_key         = base64decode(local.account.client_key)
  }
}

output "node_pools" {
  description = "Names of the pools of nodes."
  value       = keys(var.node_pools)

  depends_on = [azurerm_kubernetes_cluster_node_pool.this]
}

output "backup_location" {
  description = "Storage account that backups are kept in; null without backups."
  value       = one(azurerm_storage_account.backup[*].name)
}

output "secrets" {
  description = "Credentials that charts need: none, since pods have identities."
  value       = {}
  sensitive   = true
}

output "essentials" {
  description = "What tf-essentials-module has to know of this cloud."
  value = {
    # Both are AKS's own.
    metrics_server     = false
    cluster_autoscaler = false
    storage_class = {
      name        = "premium"
      provisioner = "disk.csi.azure.com"
      parameters = {
        skuName             = var.high_availability ? "Premium_ZRS" : "Premium_LRS"
        diskEncryptionSetID = azurerm_disk_encryption_set.this.id
        tags                = join(",", [for key, value in local.tags : "${key}=${value}"])
      }
    }
    values = {
      ingress = yamlencode({
        service = { annotations = { "service.beta.kubernetes.io/azure-load-balancer-health-probe-protocol" = "tcp" } }
      })
      external-dns = yamlencode({
        provider       = { name = "azure" }
        podLabels      = { "azure.workload.identity/use" = "true" }
        serviceAccount = { annotations = { "azure.workload.identity/client-id" = join("", [for name, identity in azurerm_user_assigned_identity.pod : identity.client_id if name == "external-dns"]) } }
        secretConfiguration = {
          enabled   = true
          mountPath = "/etc/kubernetes/"
          data = {
            "azure.json" = jsonencode({
              tenantId                     = data.azurerm_client_config.current.tenant_id
              subscriptionId               = data.azurerm_client_config.current.subscription_id
              resourceGroup                = try(regex("/resourceGroups/([^/]+)", values(var.dns_zone_ids)[0])[0], "")
              useWorkloadIdentityExtension = true
            })
          }
        }
      })
      backup = yamlencode({
        initContainers = [{
          name         = "velero-plugin-for-microsoft-azure"
          image        = "velero/velero-plugin-for-microsoft-azure:v1.13.2"
          volumeMounts = [{ mountPath = "/target", name = "plugins" }]
        }]
        podLabels        = { "azure.workload.identity/use" = "true" }
        nodeAgent        = { podLabels = { "azure.workload.identity/use" = "true" } }
        credentials      = { useSecret = false }
        serviceAccount   = { server = { annotations = { "azure.workload.identity/client-id" = join("", [for name, identity in azurerm_user_assigned_identity.pod : identity.client_id if name == "backup"]) } } }
        snapshotsEnabled = false
        configuration = {
          defaultVolumesToFsBackup = true
          backupStorageLocation = [{
            name     = "default"
            provider = "azure"
            bucket   = "${var.cluster_name}-velero"
            default  = true
            config = {
              useAAD         = "true"
              resourceGroup  = var.network.resource_group_name
              storageAccount = one(azurerm_storage_account.backup[*].name)
              # Else it would be looked up, which nobody there may do.
              storageAccountURI = one([for account in azurerm_storage_account.backup : trimsuffix(account.primary_blob_endpoint, "/")])
            }
          }]
        }
      })
    }
  }

  depends_on = [
    azurerm_federated_identity_credential.pod,
    azurerm_kubernetes_cluster_node_pool.this,
    azurerm_role_assignment.backup,
  ]
}
