terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}
provider "aws" {
  region = "eu-central-1"
  default_tags {
    tags = { owner = "terrane" }
  }
}
variable "desired" {
  type    = number
  default = 2
}
data "aws_availability_zones" "here" {}
data "aws_caller_identity" "me" {}
data "aws_partition" "this" {}
data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["eks.amazonaws.com"]
    }
  }
}
resource "aws_vpc" "main" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = true
  tags                 = { Name = "main" }
}
resource "aws_subnet" "private" {
  count             = 2
  vpc_id            = aws_vpc.main.id
  cidr_block        = cidrsubnet(aws_vpc.main.cidr_block, 4, count.index)
  availability_zone = data.aws_availability_zones.here.names[count.index]
}
resource "aws_internet_gateway" "main" {
  vpc_id = aws_vpc.main.id
}
resource "aws_eip" "nat" {
  domain = "vpc"
}
resource "aws_nat_gateway" "main" {
  allocation_id = aws_eip.nat.id
  subnet_id     = aws_subnet.private[0].id
  depends_on    = [aws_internet_gateway.main]
}
resource "aws_route_table" "private" {
  vpc_id = aws_vpc.main.id
}
resource "aws_route" "out" {
  route_table_id         = aws_route_table.private.id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.main.id
}
resource "aws_route_table_association" "private" {
  count          = 2
  route_table_id = aws_route_table.private.id
  subnet_id      = aws_subnet.private[count.index].id
}
resource "aws_security_group" "cluster" {
  name   = "cluster"
  vpc_id = aws_vpc.main.id
}
resource "aws_vpc_security_group_egress_rule" "all" {
  security_group_id = aws_security_group.cluster.id
  ip_protocol       = "-1"
  cidr_ipv4         = "0.0.0.0/0"
}
resource "aws_kms_key" "cluster" {
  enable_key_rotation = true
}
resource "aws_kms_alias" "cluster" {
  name          = "alias/cluster"
  target_key_id = aws_kms_key.cluster.key_id
}
resource "aws_cloudwatch_log_group" "cluster" {
  name              = "/aws/eks/demo/cluster"
  retention_in_days = 30
}
resource "aws_iam_role" "cluster" {
  name_prefix        = "demo-"
  assume_role_policy = data.aws_iam_policy_document.assume.json
}
resource "aws_iam_role_policy_attachment" "cluster" {
  role       = aws_iam_role.cluster.name
  policy_arn = "arn:${data.aws_partition.this.partition}:iam::aws:policy/AmazonEKSClusterPolicy"
}
resource "aws_eks_cluster" "main" {
  name     = "demo"
  role_arn = aws_iam_role.cluster.arn
  version  = "1.32"
  vpc_config {
    subnet_ids         = aws_subnet.private[*].id
    security_group_ids = [aws_security_group.cluster.id]
  }
  encryption_config {
    resources = ["secrets"]
    provider {
      key_arn = aws_kms_key.cluster.arn
    }
  }
  depends_on = [aws_iam_role_policy_attachment.cluster, aws_cloudwatch_log_group.cluster]
}
resource "aws_iam_openid_connect_provider" "cluster" {
  url            = aws_eks_cluster.main.identity[0].oidc[0].issuer
  client_id_list = ["sts.amazonaws.com"]
}
resource "aws_eks_node_group" "main" {
  cluster_name    = aws_eks_cluster.main.name
  node_group_name = "main"
  node_role_arn   = aws_iam_role.cluster.arn
  subnet_ids      = aws_subnet.private[*].id
  instance_types  = ["m5.large"]
  scaling_config {
    min_size     = 1
    desired_size = var.desired
    max_size     = 5
  }
}
resource "aws_eks_addon" "cni" {
  cluster_name = aws_eks_cluster.main.name
  addon_name   = "vpc-cni"
}
data "aws_eks_cluster_auth" "main" {
  name = aws_eks_cluster.main.name
}
data "aws_resourcegroupstaggingapi_resources" "mine" {
  tag_filter {
    key    = "owner"
    values = ["terrane"]
  }
  depends_on = [
    aws_eks_addon.cni,
    aws_eks_node_group.main,
    aws_kms_alias.cluster,
    aws_route.out,
    aws_route_table_association.private,
    aws_vpc_security_group_egress_rule.all,
  ]
}
output "endpoint" { value = aws_eks_cluster.main.endpoint }
output "account" { value = data.aws_caller_identity.me.account_id }
output "tagged" { value = length(data.aws_resourcegroupstaggingapi_resources.mine.resource_tag_mapping_list) }
