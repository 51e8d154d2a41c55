# Wrong inputs are refused, each by the input that is wrong, before anything is asked of the cloud.

mock_provider "aws" {
  mock_data "aws_availability_zones" {
    defaults = { names = ["us-east-1a", "us-east-1b", "us-east-1c"] }
  }
}

mock_provider "helm" {}

mock_provider "kubernetes" {}

variables {
  cluster_name      = "customer-production"
  region            = "us-east-1"
  node_count        = 3
  instance_type     = "t3.medium"
  enable_monitoring = true
  backup_schedule   = "daily"
}

run "a_name_in_capitals" {
  command = plan

  variables {
    cluster_name = "Customer"
  }

  expect_failures = [var.cluster_name]
}

run "a_name_that_is_too_long" {
  command = plan

  variables {
    cluster_name = "customer-production-of-the-north"
  }

  expect_failures = [var.cluster_name]
}

run "a_name_with_two_hyphens_in_a_row" {
  command = plan

  variables {
    cluster_name = "customer--production"
  }

  expect_failures = [var.cluster_name]
}

run "a_name_that_ends_in_a_hyphen" {
  command = plan

  variables {
    cluster_name = "customer-"
  }

  expect_failures = [var.cluster_name]
}

run "a_region_of_another_cloud" {
  command = plan

  variables {
    region = "us-east1"
  }

  expect_failures = [var.region]
}

run "a_machine_of_another_cloud" {
  command = plan

  variables {
    instance_type = "e2-standard-2"
  }

  expect_failures = [var.instance_type]
}

run "no_nodes" {
  command = plan

  variables {
    node_count        = 0
    high_availability = false
  }

  expect_failures = [var.node_count]
}

run "half_a_node" {
  command = plan

  variables {
    node_count = 3.5
  }

  expect_failures = [var.node_count]
}

run "too_few_nodes_for_high_availability" {
  command = plan

  variables {
    node_count        = 2
    high_availability = true
  }

  expect_failures = [var.node_count]
}

run "fewer_nodes_at_most_than_at_least" {
  command = plan

  variables {
    max_node_count = 2
  }

  expect_failures = [var.max_node_count]
}

run "a_version_with_a_patch" {
  command = plan

  variables {
    kubernetes_version = "1.34.1"
  }

  expect_failures = [var.kubernetes_version]
}

run "a_network_that_is_none" {
  command = plan

  variables {
    network_cidr = "10.0.0.0"
  }

  expect_failures = [var.network_cidr]
}

run "a_network_that_is_too_small" {
  command = plan

  variables {
    network_cidr = "10.0.0.0/24"
  }

  expect_failures = [var.network_cidr]
}

run "an_address_that_is_no_network" {
  command = plan

  variables {
    api_access_cidrs = ["everywhere"]
  }

  expect_failures = [var.api_access_cidrs]
}

run "a_schedule_that_is_none" {
  command = plan

  variables {
    backup_schedule = "sometimes"
  }

  expect_failures = [var.backup_schedule]
}

run "backups_that_are_kept_for_no_time" {
  command = plan

  variables {
    backup_retention_days = 0
  }

  expect_failures = [var.backup_retention_days]
}

run "a_second_default_pool" {
  command = plan

  variables {
    node_pools = {
      default = { instance_type = "t3.medium", node_count = 1 }
    }
  }

  expect_failures = [var.node_pools]
}

run "tags_that_not_all_clouds_allow" {
  command = plan

  variables {
    tags = { Owner = "me" }
  }

  expect_failures = [var.tags]
}

run "an_address_that_nobody_reads" {
  command = plan

  variables {
    acme_email = "platform"
  }

  expect_failures = [var.acme_email]
}

run "values_of_a_chart_that_there_is_not" {
  command = plan

  variables {
    chart_values = { mysql = "{}" }
  }

  expect_failures = [var.chart_values]
}

run "values_of_a_chart_that_are_no_yaml" {
  command = plan

  variables {
    chart_values = { ingress = "{" }
  }

  expect_failures = [var.chart_values]
}
