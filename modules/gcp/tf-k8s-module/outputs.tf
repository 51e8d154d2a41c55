output "cluster_id" {
  description = "Id of the cluster."
  value       = google_container_cluster.this.id
}

output "cluster_name" {
  description = "Name of the cluster."
  value       = google_container_cluster.this.name
}

output "kubernetes_version" {
  description = "Version of Kubernetes that the control plane runs."
  value       = google_container_cluster.this.master_version
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = "https://${google_container_cluster.this.endpoint}"
}

output "ca_certificate" {
  description = "Certificate of the API's authority, PEM in base64."
  value       = google_container_cluster.this.master_auth[0].cluster_ca_certificate
}

output "kubeconfig" {
  description = "Configuration for kubectl. It asks gke-gcloud-auth-plugin for a token, so it holds no secret of its own."
  sensitive   = true
  value = yamlencode({
    apiVersion      = "v1"
    kind            = "Config"
    current-context = var.cluster_name
    contexts        = [{ name = var.cluster_name, context = { cluster = var.cluster_name, user = var.cluster_name } }]
    clusters = [{
      name = var.cluster_name
      cluster = {
        server                     = "https://${google_container_cluster.this.endpoint}"
        certificate-authority-data = google_container_cluster.this.master_auth[0].cluster_ca_certificate
      }
    }]
    users = [{
      name = var.cluster_name
      user = {
        exec = {
          apiVersion         = "client.authentication.k8s.io/v1beta1"
          command            = "gke-gcloud-auth-plugin"
          provideClusterInfo = true
          interactiveMode    = "Never"
        }
      }
    }]
  })
}

output "access" {
  description = "How Terraform gets in. The token is good for an hour."
  sensitive   = true
  value = {
    token              = data.google_client_config.current.access_token
    client_certificate = null
    client_key         = null
  }
}

output "node_pools" {
  description = "Names of the pools of nodes."
  value       = keys(var.node_pools)

  depends_on = [google_container_node_pool.this]
}

output "backup_location" {
  description = "Bucket that backups are kept in; null without backups."
  value       = one(google_storage_bucket.backup[*].name)
}

output "secrets" {
  description = "Credentials that charts need: none, since pods have identities."
  value       = {}
  sensitive   = true
}

output "essentials" {
  description = "What tf-essentials-module has to know of this cloud."
  value = {
    # Both are GKE's own.
    metrics_server     = false
    cluster_autoscaler = false
    storage_class = {
      name        = "balanced"
      provisioner = "pd.csi.storage.gke.io"
      parameters = {
        type                    = "pd-balanced"
        disk-encryption-kms-key = local.usable_key_id
        labels                  = join(",", [for key, value in local.labels : "${key}=${value}"])
      }
    }
    values = {
      external-dns = yamlencode({
        provider       = { name = "google" }
        extraArgs      = ["--google-project=${local.project}"]
        serviceAccount = { annotations = { "iam.gke.io/gcp-service-account" = join("", [for name, account in google_service_account.identity : account.email if name == "external-dns"]) } }
      })
      backup = yamlencode({
        initContainers = [{
          name         = "velero-plugin-for-gcp"
          image        = "velero/velero-plugin-for-gcp:v1.13.2"
          volumeMounts = [{ mountPath = "/target", name = "plugins" }]
        }]
        credentials    = { useSecret = false }
        serviceAccount = { server = { annotations = { "iam.gke.io/gcp-service-account" = join("", [for name, account in google_service_account.identity : account.email if name == "backup"]) } } }
        configuration = {
          backupStorageLocation = [{
            name     = "default"
            provider = "gcp"
            bucket   = one(google_storage_bucket.backup[*].name)
            default  = true
            config   = { serviceAccount = join("", [for name, account in google_service_account.identity : account.email if name == "backup"]) }
          }]
          volumeSnapshotLocation = [{
            name     = "default"
            provider = "gcp"
            config   = { project = local.project, snapshotLocation = var.region }
          }]
        }
      })
    }
  }

  depends_on = [google_container_node_pool.this, google_service_account_iam_member.identity]
}
