# The nodes: pools of one machine type each, over all zones.

locals {
  taint_effects = {
    NoSchedule       = "NO_SCHEDULE"
    PreferNoSchedule = "PREFER_NO_SCHEDULE"
    NoExecute        = "NO_EXECUTE"
  }
}

resource "google_service_account" "node" {
  account_id   = "${var.cluster_name}-nodes"
  display_name = "Nodes of ${var.cluster_name}"
  description  = "Terrane cluster ${var.cluster_name}"
}

resource "google_project_iam_member" "node" {
  for_each = toset(["roles/artifactregistry.reader", "roles/container.defaultNodeServiceAccount"])

  project = data.google_client_config.current.project
  role    = each.key
  member  = google_service_account.node.member
}

resource "google_container_node_pool" "this" {
  for_each = var.node_pools

  name     = each.key
  cluster  = google_container_cluster.this.id
  location = google_container_cluster.this.location

  node_locations     = local.zones
  initial_node_count = ceil(each.value.node_count / length(local.zones))

  # GKE counts nodes by zone. Only the autoscaler knows of a total, so it keeps the number where it is fixed too.
  autoscaling {
    total_min_node_count = each.value.node_count
    total_max_node_count = coalesce(each.value.max_node_count, each.value.node_count)
    location_policy      = "BALANCED"
  }

  management {
    auto_repair  = true
    auto_upgrade = true
  }

  upgrade_settings {
    strategy        = "SURGE"
    max_surge       = 1
    max_unavailable = 0
  }

  node_config {
    machine_type      = each.value.instance_type
    image_type        = "COS_CONTAINERD"
    disk_type         = "pd-balanced"
    disk_size_gb      = coalesce(each.value.disk_size_gb, 50)
    boot_disk_kms_key = local.usable_key_id
    service_account   = google_service_account.node.email
    oauth_scopes      = ["https://www.googleapis.com/auth/cloud-platform"]
    labels            = each.value.labels
    resource_labels   = local.labels
    tags              = [var.cluster_name]

    metadata = {
      disable-legacy-endpoints = "true"
    }

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }

    workload_metadata_config {
      mode = "GKE_METADATA"
    }

    dynamic "taint" {
      for_each = each.value.taints

      content {
        key    = taint.value.key
        value  = taint.value.value
        effect = local.taint_effects[taint.value.effect]
      }
    }
  }

  timeouts {
    create = "45m"
    update = "60m"
    delete = "45m"
  }

  # How many nodes a pool began with is of no more interest; which zones are up today is not either.
  lifecycle {
    ignore_changes = [initial_node_count, node_locations]
  }
}
