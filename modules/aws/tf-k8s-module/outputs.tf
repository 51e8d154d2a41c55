# Needs nothing installed where Terraform runs.
data "aws_eks_cluster_auth" "this" {
  name = aws_eks_cluster.this.name
}

output "cluster_id" {
  description = "ARN of the cluster."
  value       = aws_eks_cluster.this.arn
}

output "cluster_name" {
  description = "Name of the cluster."
  value       = aws_eks_cluster.this.name
}

output "kubernetes_version" {
  description = "Version of Kubernetes that the control plane runs."
  value       = aws_eks_cluster.this.version
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = aws_eks_cluster.this.endpoint
}

output "ca_certificate" {
  description = "Certificate of the API's authority, PEM in base64."
  value       = aws_eks_cluster.this.certificate_authority[0].data
}

output "kubeconfig" {
  description = "Configuration for kubectl. It asks the AWS CLI for a token, so it holds no secret of its own."
  sensitive   = true
  value = yamlencode({
    apiVersion      = "v1"
    kind            = "Config"
    current-context = var.cluster_name
    contexts        = [{ name = var.cluster_name, context = { cluster = var.cluster_name, user = var.cluster_name } }]
    clusters = [{
      name = var.cluster_name
      cluster = {
        server                     = aws_eks_cluster.this.endpoint
        certificate-authority-data = aws_eks_cluster.this.certificate_authority[0].data
      }
    }]
    users = [{
      name = var.cluster_name
      user = {
        exec = {
          apiVersion      = "client.authentication.k8s.io/v1beta1"
          command         = "aws"
          args            = ["eks", "get-token", "--cluster-name", var.cluster_name, "--region", var.region]
          interactiveMode = "Never"
        }
      }
    }]
  })
}

output "access" {
  description = "How Terraform gets in. The token is good for a quarter of an hour."
  sensitive   = true
  value = {
    token              = data.aws_eks_cluster_auth.this.token
    client_certificate = null
    client_key         = null
  }
}

output "node_pools" {
  description = "Names of the pools of nodes."
  value       = keys(var.node_pools)

  depends_on = [aws_eks_node_group.autoscaled, aws_eks_node_group.fixed]
}

output "backup_location" {
  description = "Bucket that backups are kept in; null without backups."
  value       = one(aws_s3_bucket.backup[*].bucket)
}

output "secrets" {
  description = "Credentials that charts need: none, since pods have identities."
  value       = {}
  sensitive   = true
}

output "essentials" {
  description = "What tf-essentials-module has to know of this cloud."
  value = {
    metrics_server     = true
    cluster_autoscaler = length(local.autoscaled_pools) > 0
    storage_class = {
      name        = "gp3"
      provisioner = "ebs.csi.aws.com"
      parameters  = { type = "gp3", encrypted = "true", kmsKeyId = var.network.kms_key_arn }
    }
    values = {
      ingress = yamlencode({
        service = {
          annotations = {
            "service.beta.kubernetes.io/aws-load-balancer-type"                     = "nlb"
            "service.beta.kubernetes.io/aws-load-balancer-additional-resource-tags" = join(",", [for key, value in local.tags : "${key}=${value}"])
          }
        }
      })
      external-dns = yamlencode({
        provider  = { name = "aws" }
        env       = [{ name = "AWS_DEFAULT_REGION", value = var.region }]
        extraArgs = [for id in values(var.dns_zone_ids) : "--zone-id-filter=${id}"]
      })
      cluster-autoscaler = yamlencode({
        cloudProvider = "aws"
        awsRegion     = var.region
        autoDiscovery = { clusterName = var.cluster_name }
      })
      backup = yamlencode({
        initContainers = [{
          name         = "velero-plugin-for-aws"
          image        = "velero/velero-plugin-for-aws:v1.13.2"
          volumeMounts = [{ mountPath = "/target", name = "plugins" }]
        }]
        credentials = { useSecret = false }
        configuration = {
          backupStorageLocation = [{
            name     = "default"
            provider = "aws"
            bucket   = one(aws_s3_bucket.backup[*].bucket)
            default  = true
            config   = { region = var.region, kmsKeyId = var.network.kms_key_arn }
          }]
          volumeSnapshotLocation = [{
            name     = "default"
            provider = "aws"
            config   = { region = var.region }
          }]
        }
      })
    }
  }

  depends_on = [aws_eks_addon.after_nodes, aws_eks_pod_identity_association.this]
}
