# A cluster on AWS, whole: a key, a network, Kubernetes, and what every cluster needs. The inputs and outputs are the same on
# every cloud.
#
# Everything carries the tags `managed-by = terrane` and `terrane-cluster = NAME`. Credentials come by the environment, as the
# AWS provider reads them.

provider "aws" {
  region = var.region
}

provider "kubernetes" {
  host                   = module.k8s.endpoint
  cluster_ca_certificate = base64decode(module.k8s.ca_certificate)
  token                  = data.aws_eks_cluster_auth.this.token
}

provider "helm" {
  kubernetes = {
    host                   = module.k8s.endpoint
    cluster_ca_certificate = base64decode(module.k8s.ca_certificate)
    token                  = data.aws_eks_cluster_auth.this.token
  }
}

# Needs nothing installed where Terraform runs. It is good for a quarter of an hour.
data "aws_eks_cluster_auth" "this" {
  name = module.k8s.cluster_name
}

module "network" {
  source = "../tf-network-module"

  cluster_name      = var.cluster_name
  network_cidr      = var.network_cidr
  high_availability = var.high_availability
  kms_key_arn       = aws_kms_key.this.arn
  tags              = var.tags
}

module "k8s" {
  source = "../tf-k8s-module"

  cluster_name          = var.cluster_name
  kubernetes_version    = var.kubernetes_version
  network_id            = module.network.network_id
  subnet_ids            = module.network.subnet_ids
  api_access_cidrs      = var.api_access_cidrs
  kms_key_arn           = aws_kms_key.this.arn
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
  enable_monitoring     = var.enable_monitoring
  backup_schedule       = var.backup_schedule
  backup_retention_days = var.backup_retention_days
  dns_zones             = keys(var.dns_zone_ids)
  acme_email            = var.acme_email
  agent                 = var.agent
  agent_token           = var.agent_token

  # Load balancers and volumes that the cluster has made itself are taken down while its nodes and ways out still stand.
  depends_on = [module.k8s, module.network]
}
