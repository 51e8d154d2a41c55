output "cluster_id" {
  description = "Id of the cluster."
  value       = linode_lke_cluster.this.id
}

output "cluster_name" {
  description = "Name of the cluster."
  value       = linode_lke_cluster.this.label
}

output "kubernetes_version" {
  description = "Version of Kubernetes that the control plane runs."
  value       = linode_lke_cluster.this.k8s_version
}

locals {
  kubeconfig = yamldecode(base64decode(linode_lke_cluster.this.kubeconfig))
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = nonsensitive(local.kubeconfig.clusters[0].cluster.server)
}

output "ca_certificate" {
  description = "Certificate of the API's authority, PEM in base64."
  value       = nonsensitive(local.kubeconfig.clusters[0].cluster["certificate-authority-data"])
}

output "access" {
  description = "How Terraform gets in."
  sensitive   = true
  value = {
    token              = local.kubeconfig.users[0].user.token
    client_certificate = null
    client_key         = null
  }
}

output "kubeconfig" {
  description = "Configuration for kubectl."
  value       = base64decode(linode_lke_cluster.this.kubeconfig)
  sensitive   = true
}

output "node_pools" {
  description = "Names of the pools of nodes."
  value       = keys(var.node_pools)

  depends_on = [linode_lke_node_pool.this]
}

output "backup_location" {
  description = "Bucket that backups are kept in; null without backups."
  value       = one(linode_object_storage_bucket.backup[*].label)
}

output "secrets" {
  description = "Credentials that charts need, since the cloud gives pods no identity: the input `secrets` of tf-essentials-module."
  sensitive   = true
  value = merge(
    {
      for key in linode_object_storage_key.backup : "backup" => {
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
    # LKE's own.
    cluster_autoscaler = false
    storage_class = {
      name        = "encrypted"
      provisioner = "linodebs.csi.linode.com"
      parameters = {
        "linodebs.csi.linode.com/encrypted"  = "true"
        "linodebs.csi.linode.com/volumeTags" = join(",", local.tags)
      }
    }
    values = {
      ingress = yamlencode({
        service = { annotations = { "service.beta.kubernetes.io/linode-loadbalancer-tags" = join(",", local.tags) } }
      })
      external-dns = yamlencode({
        provider = { name = "linode" }
        env      = [{ name = "LINODE_TOKEN", valueFrom = { secretKeyRef = { name = "credentials", key = "token" } } }]
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
            bucket   = one(linode_object_storage_bucket.backup[*].label)
            default  = true
            config = {
              region            = local.backup_region
              s3Url             = "https://${coalesce(one(linode_object_storage_bucket.backup[*].s3_endpoint), "none")}"
              checksumAlgorithm = ""
            }
          }]
        }
      })
    }
  }

  depends_on = [linode_lke_node_pool.this]
}
