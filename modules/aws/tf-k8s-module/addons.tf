# What EKS itself keeps up to date in the cluster.

resource "aws_eks_addon" "before_nodes" {
  for_each = toset(["eks-pod-identity-agent", "kube-proxy", "vpc-cni"])

  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = each.key
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"

  # Network policies are enforced by the CNI, and only when asked.
  configuration_values = each.key == "vpc-cni" ? jsonencode({ enableNetworkPolicy = "true" }) : null

  tags = local.tags

  depends_on = [aws_eks_pod_identity_association.this]
}

resource "aws_eks_addon" "after_nodes" {
  for_each = toset(["aws-ebs-csi-driver", "coredns"])

  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = each.key
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"

  # Volumes that the cluster makes by itself carry its tags too, so that none is ever nobody's.
  configuration_values = each.key == "aws-ebs-csi-driver" ? jsonencode({
    controller = { extraVolumeTags = local.tags }
  }) : null

  tags = local.tags

  depends_on = [
    aws_eks_node_group.autoscaled,
    aws_eks_node_group.fixed,
    aws_eks_pod_identity_association.this,
  ]
}
