# A Kubernetes cluster on AWS: EKS with its API inside of the network or restricted to named ones, secrets encrypted with an
# own key, all control plane logs kept, nodes in private subnets, and an identity of its own for each component that speaks
# with AWS (EKS Pod Identity): nodes themselves may do no more than join and pull images.

data "aws_partition" "current" {}

locals {
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy"

  tags = merge(var.tags, {
    managed-by      = "terrane"
    terrane-cluster = var.cluster_name
  })
}

# EKS would make it by itself, without end and without a key, and leave it behind.
resource "aws_cloudwatch_log_group" "control_plane" {
  name              = "/aws/eks/${var.cluster_name}/cluster"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.network.kms_key_arn

  tags = local.tags
}

resource "aws_iam_role" "control_plane" {
  name = "${var.cluster_name}-control-plane"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = ["sts:AssumeRole", "sts:TagSession"]
      Principal = { Service = "eks.amazonaws.com" }
    }]
  })

  tags = local.tags
}

resource "aws_iam_role_policy_attachment" "control_plane" {
  role       = aws_iam_role.control_plane.name
  policy_arn = "${local.policy_arn}/AmazonEKSClusterPolicy"
}

resource "aws_iam_role_policy" "control_plane_key" {
  name = "key"
  role = aws_iam_role.control_plane.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:ListGrants"]
      Resource = var.network.kms_key_arn
    }]
  })
}

resource "aws_eks_cluster" "this" {
  name                          = var.cluster_name
  role_arn                      = aws_iam_role.control_plane.arn
  version                       = var.kubernetes_version
  enabled_cluster_log_types     = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
  bootstrap_self_managed_addons = false
  deletion_protection           = var.deletion_protection

  vpc_config {
    subnet_ids              = var.network.subnet_ids
    endpoint_private_access = true
    endpoint_public_access  = length(var.api_access_cidrs) > 0
    public_access_cidrs     = length(var.api_access_cidrs) > 0 ? var.api_access_cidrs : null
  }

  access_config {
    authentication_mode = "API"
    # Whoever makes the cluster installs what belongs into it.
    bootstrap_cluster_creator_admin_permissions = true
  }

  encryption_config {
    resources = ["secrets"]

    provider {
      key_arn = var.network.kms_key_arn
    }
  }

  zonal_shift_config {
    enabled = var.high_availability
  }

  upgrade_policy {
    support_type = "STANDARD"
  }

  tags = local.tags

  depends_on = [
    aws_cloudwatch_log_group.control_plane,
    aws_iam_role_policy.control_plane_key,
    aws_iam_role_policy_attachment.control_plane,
  ]
}
