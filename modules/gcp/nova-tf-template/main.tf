# A cluster on Google Cloud, whole: a key, a network, Kubernetes, and what every cluster needs. The inputs and outputs are
# the same on every cloud.
#
# Everything that can have labels has `managed-by = terrane` and `terrane-cluster = NAME`; networks, subnets, routers and
# firewalls have none, and are known by names that begin with the cluster's. Credentials and the project come by the
# environment (`GOOGLE_CREDENTIALS`, `GOOGLE_PROJECT`), as the Google provider reads them.

provider "google" {
  region = var.region
}

provider "kubernetes" {
  host                   = module.k8s.endpoint
  cluster_ca_certificate = base64decode(module.k8s.ca_certificate)
  token                  = module.k8s.access.token
  client_certificate     = module.k8s.access.client_certificate
  client_key             = module.k8s.access.client_key
}

provider "helm" {
  kubernetes = {
    host                   = module.k8s.endpoint
    cluster_ca_certificate = base64decode(module.k8s.ca_certificate)
    token                  = module.k8s.access.token
    client_certificate     = module.k8s.access.client_certificate
    client_key             = module.k8s.access.client_key
  }
}

module "network" {
  source = "../tf-network-module"

  cluster_name      = var.cluster_name
  region            = var.region
  network_cidr      = var.network_cidr
  high_availability = var.high_availability
  tags              = var.tags
}

module "k8s" {
  source = "../tf-k8s-module"

  cluster_name          = var.cluster_name
  region                = var.region
  kubernetes_version    = var.kubernetes_version
  high_availability     = var.high_availability
  network               = module.network.network
  api_access_cidrs      = var.api_access_cidrs
  backup_schedule       = var.backup_schedule
  backup_retention_days = var.backup_retention_days
  delete_backups        = var.delete_backups
  dns_zone_ids          = var.dns_zone_ids
  deletion_protection   = var.deletion_protection
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
  secrets               = module.k8s.secrets
  enable_monitoring     = var.enable_monitoring
  enable_service_mesh   = var.enable_service_mesh
  chart_values          = var.chart_values
  backup_schedule       = var.backup_schedule
  backup_retention_days = var.backup_retention_days
  dns_zones             = keys(var.dns_zone_ids)
  acme_email            = var.acme_email
  agent                 = var.agent
  agent_token           = var.agent_token
  deletion_protection   = var.deletion_protection

  # Load balancers and volumes that the cluster has made itself are taken down while its nodes and ways out still stand.
  depends_on = [module.k8s, module.network]
}
