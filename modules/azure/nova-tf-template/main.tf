# A cluster on Azure, whole: a resource group, a key, a network, Kubernetes, and what every cluster needs. The inputs and
# outputs are the same on every cloud.
#
# Everything that can have tags has `managed-by = terrane` and `terrane-cluster = NAME`; subnets have none, and are known by
# names that begin with the cluster's. Credentials and the subscription come by the environment (`ARM_SUBSCRIPTION_ID` and its
# like), as the Azure provider reads them.

provider "azurerm" {
  # Accounts have no keys that could leak: whoever may, comes by Entra ID.
  storage_use_azuread = true

  features {
    key_vault {
      # A vault with purge protection goes by itself, a week after it was deleted; one of the same name is taken back.
      purge_soft_delete_on_destroy       = false
      purge_soft_deleted_keys_on_destroy = false
      recover_soft_deleted_key_vaults    = true
      recover_soft_deleted_keys          = true
    }

    resource_group {
      prevent_deletion_if_contains_resources = true
    }
  }
}

provider "kubernetes" {
  host                   = module.k8s.endpoint
  cluster_ca_certificate = base64decode(module.k8s.ca_certificate)
  client_certificate     = base64decode(module.k8s.client_certificate)
  client_key             = base64decode(module.k8s.client_key)
}

provider "helm" {
  kubernetes = {
    host                   = module.k8s.endpoint
    cluster_ca_certificate = base64decode(module.k8s.ca_certificate)
    client_certificate     = base64decode(module.k8s.client_certificate)
    client_key             = base64decode(module.k8s.client_key)
  }
}

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

module "network" {
  source = "../tf-network-module"

  cluster_name        = var.cluster_name
  region              = var.region
  resource_group_name = azurerm_resource_group.this.name
  network_cidr        = var.network_cidr
  high_availability   = var.high_availability
  tags                = var.tags
}

module "k8s" {
  source = "../tf-k8s-module"

  cluster_name          = var.cluster_name
  region                = var.region
  resource_group_name   = azurerm_resource_group.this.name
  kubernetes_version    = var.kubernetes_version
  high_availability     = var.high_availability
  subnet_id             = module.network.subnet_ids[0]
  api_access_cidrs      = var.api_access_cidrs
  key                   = { key_vault_id = azurerm_key_vault.this.id, versionless_id = azurerm_key_vault_key.this.versionless_id }
  backup_schedule       = var.backup_schedule
  backup_retention_days = var.backup_retention_days
  delete_backups        = var.delete_backups
  dns_zone_ids          = var.dns_zone_ids
  tags                  = var.tags

  node_pools = merge(var.node_pools, {
    default = {
      instance_type  = var.instance_type
      node_count     = var.node_count
      max_node_count = var.max_node_count
    }
  })
}

module "essentials" {
  source = "../../tf-essentials-module"

  cluster_name          = var.cluster_name
  cloud                 = module.k8s.essentials
  enable_monitoring     = var.enable_monitoring
  backup_schedule       = var.backup_schedule
  backup_retention_days = var.backup_retention_days
  dns_zones             = keys(var.dns_zone_ids)
  acme_email            = var.acme_email
  agent                 = var.agent
  agent_token           = var.agent_token

  # Load balancers and disks that the cluster has made itself are taken down while its nodes and ways out still stand.
  depends_on = [module.k8s, module.network]
}

# AKS has nothing of the kind. This comes last and goes first: where it stays, all stays.
resource "terraform_data" "deletion_protection" {
  input = var.deletion_protection

  provisioner "local-exec" {
    when    = destroy
    command = self.input ? "echo 'The cluster is protected. To delete it, apply deletion_protection = false first.' >&2; exit 1" : "true"
  }

  depends_on = [module.essentials]
}
