# The nodes: pools of one instance type each, over all zones.

locals {
  pools = {
    for name, pool in var.node_pools : name => merge(pool, {
      # Graviton families have a g after their generation: t4g, m7g, c7gn.
      ami_type = can(regex("^[a-z]+[0-9]+g", pool.instance_type)) ? "AL2023_ARM_64_STANDARD" : "AL2023_x86_64_STANDARD"
    })
  }
  fixed_pools      = { for name, pool in local.pools : name => pool if pool.max_node_count == null }
  autoscaled_pools = { for name, pool in local.pools : name => pool if pool.max_node_count != null }

  taint_effects = {
    NoSchedule       = "NO_SCHEDULE"
    PreferNoSchedule = "PREFER_NO_SCHEDULE"
    NoExecute        = "NO_EXECUTE"
  }
}

resource "aws_iam_role" "node" {
  name = "${var.cluster_name}-node"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })

  tags = local.tags
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each = toset(["AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"])

  role       = aws_iam_role.node.name
  policy_arn = "${local.policy_arn}/${each.key}"
}

resource "aws_launch_template" "node" {
  for_each = local.pools

  name                   = "${var.cluster_name}-${each.key}"
  update_default_version = true

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      volume_type           = "gp3"
      volume_size           = coalesce(each.value.disk_size_gb, 50)
      encrypted             = "true"
      kms_key_id            = var.network.kms_key_arn
      delete_on_termination = "true"
    }
  }

  # Pods have identities of their own, and no business with the node's.
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  monitoring {
    enabled = true
  }

  dynamic "tag_specifications" {
    for_each = ["instance", "volume", "network-interface"]

    content {
      resource_type = tag_specifications.value
      tags          = merge(local.tags, { Name = "${var.cluster_name}-${each.key}" })
    }
  }

  tags = local.tags
}

resource "aws_eks_node_group" "fixed" {
  for_each = local.fixed_pools

  cluster_name    = aws_eks_cluster.this.name
  node_group_name = each.key
  node_role_arn   = aws_iam_role.node.arn
  subnet_ids      = var.network.subnet_ids
  version         = aws_eks_cluster.this.version
  ami_type        = each.value.ami_type
  instance_types  = [each.value.instance_type]
  labels          = each.value.labels

  scaling_config {
    min_size     = each.value.node_count
    desired_size = each.value.node_count
    max_size     = each.value.node_count
  }

  launch_template {
    id      = aws_launch_template.node[each.key].id
    version = aws_launch_template.node[each.key].latest_version
  }

  update_config {
    max_unavailable_percentage = 33
  }

  dynamic "taint" {
    for_each = each.value.taints

    content {
      key    = taint.value.key
      value  = taint.value.value
      effect = local.taint_effects[taint.value.effect]
    }
  }

  tags = local.tags

  # Nodes need their way in before they come up, and theirs are the last pods to go.
  depends_on = [
    aws_eks_addon.before_nodes,
    aws_iam_role_policy_attachment.node,
  ]
}

# As the pools above, but how many nodes there are is the autoscaler's matter. A pool that becomes one of these is replaced: the
# new one, under another name, while the old one still stands.
resource "aws_eks_node_group" "autoscaled" {
  for_each = local.autoscaled_pools

  cluster_name    = aws_eks_cluster.this.name
  node_group_name = "${each.key}-autoscaled"
  node_role_arn   = aws_iam_role.node.arn
  subnet_ids      = var.network.subnet_ids
  version         = aws_eks_cluster.this.version
  ami_type        = each.value.ami_type
  instance_types  = [each.value.instance_type]
  labels          = each.value.labels

  scaling_config {
    min_size     = each.value.node_count
    desired_size = each.value.node_count
    max_size     = each.value.max_node_count
  }

  launch_template {
    id      = aws_launch_template.node[each.key].id
    version = aws_launch_template.node[each.key].latest_version
  }

  update_config {
    max_unavailable_percentage = 33
  }

  dynamic "taint" {
    for_each = each.value.taints

    content {
      key    = taint.value.key
      value  = taint.value.value
      effect = local.taint_effects[taint.value.effect]
    }
  }

  tags = local.tags

  lifecycle {
    ignore_changes = [scaling_config[0].desired_size]
  }

  depends_on = [
    aws_eks_addon.before_nodes,
    aws_iam_role_policy_attachment.node,
  ]
}
