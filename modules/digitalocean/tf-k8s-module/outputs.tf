output "cluster_id" {
  description = "Id of the cluster."
  value       = digitalocean_kubernetes_cluster.this.id
}

output "cluster_name" {
  description = "Name of the cluster."
  value       = digitalocean_kubernetes_cluster.this.name
}

output "kubernetes_version" {
  description = "Version of Kubernetes that the control plane runs."
  value       = digitalocean_kubernetes_cluster.this.version
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = digitalocean_kubernetes_cluster.this.endpoint
}

output "ca_certificate" {
  description = "Certificate of the API's authority, PEM in base64."
  value       = nonsensitive(digitalocean_kubernetes_cluster.this.kube_config[0].cluster_ca_certificate)
}

output "access" {
  description = "How Terraform gets in. The token is good for a week; Terraform gets a new one when it is not."
  sensitive   = true
  value = {
    token              = digitalocean_kubernetes_cluster.this.kube_config[0].token
    client_certificate = null
    client_key         = null
  }
}

output "kubeconfig" {
  description = "Configuration for kubectl, good for a week. People better use `doctl kubernetes cluster kubeconfig save`."
  value       = digitalocean_kubernetes_cluster.this.kube_config[0].raw_config
  sensitive   = true
}

output "node_pools" {
  description = "Names of the pools of nodes."
  value       = keys(var.node_pools)

  depends_on = [digitalocean_kubernetes_node_pool.this]
}

output "backup_location" {
  description = "Bucket that backups are kept in; null without backups."
  value       = one(digitalocean_spaces_bucket.backup[*].name)
}

output "secrets" {
  description = "Credentials that charts need, since the cloud gives pods no identity: the input `secrets` of tf-essentials-module."
  sensitive   = true
  value = merge(
    {
      for key in digitalocean_spaces_key.backup : "backup" => {
        cloud = "[default]\naws_access_key_id=${key.access_key}\naws_secret_access_key=${key.secret_key}\n"
      }
    },
    var.dns_token == null ? {} : { external-dns = { token = var.dns_token } },
  )
}

output "essentials" {
  description = "What tf-essentials-module has to know of this cloud."
  value = {
    metrics_server = true
    # DOKS has its own, and a storage class too.
    cluster_autoscaler = false
    storage_class      = null
    values = {
      ingress = yamlencode({
        service = { annotations = { "service.beta.kubernetes.io/do-loadbalancer-name" = "${var.cluster_name}-ingress" } }
      })
      external-dns = yamlencode({
        provider = { name = "digitalocean" }
        env      = [{ name = "DO_TOKEN", valueFrom = { secretKeyRef = { name = "credentials", key = "token" } } }]
      })
      backup = yamlencode({
        initContainers = [{
          name         = "velero-plugin-for-aws"
          image        = "velero/velero-plugin-for-aws:v1.13.2"
          volumeMounts = [{ mountPath = "/target", name = "plugins" }]
        }]
        credentials      = { useSecret = true, existingSecret = "credentials" }
        snapshotsEnabled = false
        configuration = {
          defaultVolumesToFsBackup = true
          backupStorageLocation = [{
            name     = "default"
            provider = "aws"
            bucket   = one(digitalocean_spaces_bucket.backup[*].name)
            default  = true
            config = {
              region            = local.backup_region
              s3Url             = "https://${local.backup_region}.digitaloceanspaces.com"
              checksumAlgorithm = ""
            }
          }]
        }
      })
    }
  }

  depends_on = [digitalocean_kubernetes_node_pool.this]
}
