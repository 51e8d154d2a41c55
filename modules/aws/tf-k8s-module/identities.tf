# Who may do what with AWS: one role for one service account, by EKS Pod Identity.

locals {
  backup = var.backup_schedule != "none"

  identities = { for name, identity in local.possible_identities : name => identity if identity.wanted }

  possible_identities = {
    vpc-cni = {
      wanted          = true
      namespace       = "kube-system"
      service_account = "aws-node"
      managed_policy  = "AmazonEKS_CNI_Policy"
      statements      = []
    }
    ebs-csi = {
      wanted          = true
      namespace       = "kube-system"
      service_account = "ebs-csi-controller-sa"
      managed_policy  = "service-role/AmazonEBSCSIDriverPolicy"
      statements = [
        {
          Effect   = "Allow"
          Action   = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncrypt*"]
          Resource = [var.network.kms_key_arn]
        },
        {
          Effect    = "Allow"
          Action    = ["kms:CreateGrant"]
          Resource  = [var.network.kms_key_arn]
          Condition = { Bool = { "kms:GrantIsForAWSResource" = "true" } }
        },
      ]
    }
    cluster-autoscaler = {
      wanted          = length(local.autoscaled_pools) > 0
      namespace       = "cluster-autoscaler"
      service_account = "cluster-autoscaler"
      managed_policy  = null
      statements = [
        {
          Effect = "Allow"
          Action = [
            "autoscaling:DescribeAutoScalingGroups",
            "autoscaling:DescribeAutoScalingInstances",
            "autoscaling:DescribeLaunchConfigurations",
            "autoscaling:DescribeScalingActivities",
            "ec2:DescribeImages",
            "ec2:DescribeInstanceTypes",
            "ec2:DescribeLaunchTemplateVersions",
            "ec2:GetInstanceTypesFromInstanceRequirements",
            "eks:DescribeNodegroup",
          ]
          Resource = ["*"]
        },
        {
          Effect    = "Allow"
          Action    = ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"]
          Resource  = ["*"]
          Condition = { StringEquals = { "aws:ResourceTag/k8s.io/cluster-autoscaler/${var.cluster_name}" = "owned" } }
        },
      ]
    }
    external-dns = {
      wanted          = length(var.dns_zone_ids) > 0
      namespace       = "external-dns"
      service_account = "external-dns"
      managed_policy  = null
      statements = [
        {
          Effect   = "Allow"
          Action   = ["route53:ChangeResourceRecordSets", "route53:ListResourceRecordSets", "route53:ListTagsForResources"]
          Resource = [for id in values(var.dns_zone_ids) : "arn:${data.aws_partition.current.partition}:route53:::hostedzone/${id}"]
        },
        {
          Effect   = "Allow"
          Action   = ["route53:ListHostedZones"]
          Resource = ["*"]
        },
      ]
    }
    backup = {
      wanted          = local.backup
      namespace       = "backup"
      service_account = "velero"
      managed_policy  = null
      statements = [
        {
          Effect   = "Allow"
          Action   = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject", "s3:PutObjectTagging"]
          Resource = [for arn in aws_s3_bucket.backup[*].arn : "${arn}/*"]
        },
        {
          Effect   = "Allow"
          Action   = ["s3:ListBucket"]
          Resource = aws_s3_bucket.backup[*].arn
        },
        {
          Effect   = "Allow"
          Action   = ["ec2:CreateSnapshot", "ec2:CreateTags", "ec2:CreateVolume", "ec2:DeleteSnapshot", "ec2:DescribeSnapshots", "ec2:DescribeVolumes"]
          Resource = ["*"]
        },
        {
          Effect   = "Allow"
          Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
          Resource = [var.network.kms_key_arn]
        },
      ]
    }
  }
}

resource "aws_iam_role" "identity" {
  for_each = local.identities

  name = "${var.cluster_name}-${each.key}"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = ["sts:AssumeRole", "sts:TagSession"]
      Principal = { Service = "pods.eks.amazonaws.com" }
    }]
  })

  tags = local.tags
}

resource "aws_iam_role_policy" "identity" {
  for_each = { for name, identity in local.identities : name => identity if length(identity.statements) > 0 }

  name   = each.key
  role   = aws_iam_role.identity[each.key].id
  policy = jsonencode({ Version = "2012-10-17", Statement = each.value.statements })
}

resource "aws_iam_role_policy_attachment" "identity" {
  for_each = { for name, identity in local.identities : name => identity if identity.managed_policy != null }

  role       = aws_iam_role.identity[each.key].name
  policy_arn = "${local.policy_arn}/${each.value.managed_policy}"
}

resource "aws_eks_pod_identity_association" "this" {
  for_each = local.identities

  cluster_name    = aws_eks_cluster.this.name
  namespace       = each.value.namespace
  service_account = each.value.service_account
  role_arn        = aws_iam_role.identity[each.key].arn

  tags = local.tags

  depends_on = [aws_iam_role_policy.identity, aws_iam_role_policy_attachment.identity]
}
