# The ground of a cluster on AWS: a key for all that it will write down, and a VPC over several zones, public subnets for
# load balancers and NAT, private ones for nodes, which reach the outside by NAT and are reached by nobody. Flow logs are
# kept, encrypted; traffic to S3 stays inside.

data "aws_availability_zones" "available" {
  #checkov:skip=CKV_AWS_394:Subnets keep the zone that they were made in, whatever zones come and go.
  state = "available"

  # Local zones and the like have no control planes.
  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

locals {
  zones = slice(
    data.aws_availability_zones.available.names, 0,
    min(var.high_availability ? 3 : 2, length(data.aws_availability_zones.available.names))
  )
  nat_zones = var.high_availability ? local.zones : slice(local.zones, 0, 1)

  tags = merge(var.tags, {
    managed-by      = "terrane"
    terrane-cluster = var.cluster_name
  })
}

resource "aws_vpc" "this" {
  cidr_block           = var.network_cidr
  enable_dns_hostnames = true
  enable_dns_support   = true

  tags = merge(local.tags, { Name = var.cluster_name })
}

# What names no security group gets this one, and with it nothing.
resource "aws_default_security_group" "this" {
  vpc_id = aws_vpc.this.id

  tags = merge(local.tags, { Name = "${var.cluster_name}-default" })
}

resource "aws_subnet" "private" {
  count = length(local.zones)

  vpc_id            = aws_vpc.this.id
  availability_zone = local.zones[count.index]
  cidr_block        = cidrsubnet(var.network_cidr, 3, count.index)

  tags = merge(local.tags, {
    Name                              = "${var.cluster_name}-private-${count.index}"
    "kubernetes.io/role/internal-elb" = "1"
  })

  lifecycle {
    ignore_changes = [availability_zone]
  }
}

resource "aws_subnet" "public" {
  count = length(local.zones)

  vpc_id                  = aws_vpc.this.id
  availability_zone       = local.zones[count.index]
  cidr_block              = cidrsubnet(var.network_cidr, 6, 32 + count.index)
  map_public_ip_on_launch = false

  tags = merge(local.tags, {
    Name                     = "${var.cluster_name}-public-${count.index}"
    "kubernetes.io/role/elb" = "1"
  })

  lifecycle {
    ignore_changes = [availability_zone]
  }
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id

  tags = merge(local.tags, { Name = var.cluster_name })
}

resource "aws_route_table" "public" {
  vpc_id = aws_vpc.this.id

  tags = merge(local.tags, { Name = "${var.cluster_name}-public" })
}

resource "aws_route" "internet" {
  route_table_id         = aws_route_table.public.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_route_table_association" "public" {
  count = length(local.zones)

  subnet_id      = aws_subnet.public[count.index].id
  route_table_id = aws_route_table.public.id
}

resource "aws_eip" "nat" {
  count = length(local.nat_zones)

  domain = "vpc"

  tags = merge(local.tags, { Name = "${var.cluster_name}-nat-${count.index}" })

  # An address cannot be detached once the gateway is gone, nor the gateway while addresses use it.
  depends_on = [aws_internet_gateway.this]
}

resource "aws_nat_gateway" "this" {
  count = length(local.nat_zones)

  allocation_id = aws_eip.nat[count.index].id
  subnet_id     = aws_subnet.public[count.index].id

  tags = merge(local.tags, { Name = "${var.cluster_name}-${count.index}" })

  depends_on = [aws_route.internet]
}

resource "aws_route_table" "private" {
  count = length(local.zones)

  vpc_id = aws_vpc.this.id

  tags = merge(local.tags, { Name = "${var.cluster_name}-private-${count.index}" })
}

resource "aws_route" "nat" {
  count = length(local.zones)

  route_table_id         = aws_route_table.private[count.index].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this[count.index % length(local.nat_zones)].id
}

resource "aws_route_table_association" "private" {
  count = length(local.zones)

  subnet_id      = aws_subnet.private[count.index].id
  route_table_id = aws_route_table.private[count.index].id
}

# Images and backups are in S3: they need not go through NAT, which is paid by the byte.
resource "aws_vpc_endpoint" "s3" {
  vpc_id            = aws_vpc.this.id
  service_name      = "com.amazonaws.${var.region}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = aws_route_table.private[*].id

  tags = merge(local.tags, { Name = "${var.cluster_name}-s3" })
}
