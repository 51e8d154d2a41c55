# A Kubernetes cluster on Google Cloud: GKE with private nodes, its API inside of the network or restricted to named ones,
# secrets and disks encrypted with an own key, Dataplane V2, shielded nodes with an identity that may do no more than nodes
# need, and workload identities for what speaks with Google Cloud.

data "google_compute_zones" "available" {
  region = var.region
  status = "UP"
}

locals {
  zones = slice(data.google_compute_zones.available.names, 0, min(var.high_availability ? 3 : 1, length(data.google_compute_zones.available.names)))

  labels = merge(var.tags, {
    managed-by      = "terrane"
    terrane-cluster = var.cluster_name
  })
}

resource "google_container_cluster" "this" {
  #checkov:skip=CKV_GCP_21:The labels are there; checkov does not see through the merge that makes them.
  #checkov:skip=CKV_GCP_65:Groups of a Google Workspace are their owner's to name; access is by IAM.
  #checkov:skip=CKV_GCP_12:Dataplane V2 enforces network policies by itself; the add-on would be Calico's.
  name        = var.cluster_name
  description = "Terrane cluster ${var.cluster_name}"
  location    = var.high_availability ? var.region : local.zones[0]

  min_master_version  = var.kubernetes_version
  network             = var.network.network_id
  subnetwork          = var.network.subnet_id
  networking_mode     = "VPC_NATIVE"
  datapath_provider   = "ADVANCED_DATAPATH"
  deletion_protection = var.deletion_protection

  # 64 pods on a node take half of the addresses that the default of 110 would.
  default_max_pods_per_node   = 64
  enable_intranode_visibility = true
  enable_shielded_nodes       = true

  # Pools are resources of their own. The one that GKE insists on has nodes as theirs until it is removed.
  remove_default_node_pool = true
  initial_node_count       = 1

  node_config {
    service_account   = google_service_account.node.email
    boot_disk_kms_key = local.usable_key_id
    oauth_scopes      = ["https://www.googleapis.com/auth/cloud-platform"]

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }

    workload_metadata_config {
      mode = "GKE_METADATA"
    }
  }

  ip_allocation_policy {
    cluster_secondary_range_name  = var.network.pods_range
    services_secondary_range_name = var.network.services_range
  }

  private_cluster_config {
    enable_private_nodes    = true
    enable_private_endpoint = length(var.api_access_cidrs) == 0
  }

  master_authorized_networks_config {
    dynamic "cidr_blocks" {
      for_each = var.api_access_cidrs

      content {
        cidr_block = cidr_blocks.value
      }
    }
  }

  master_auth {
    client_certificate_config {
      issue_client_certificate = false
    }
  }

  database_encryption {
    state    = "ENCRYPTED"
    key_name = local.usable_key_id
  }

  workload_identity_config {
    workload_pool = "${data.google_client_config.current.project}.svc.id.goog"
  }

  binary_authorization {
    evaluation_mode = "PROJECT_SINGLETON_POLICY_ENFORCE"
  }

  release_channel {
    channel = "REGULAR"
  }

  logging_config {
    enable_components = ["APISERVER", "CONTROLLER_MANAGER", "SCHEDULER", "SYSTEM_COMPONENTS", "WORKLOADS"]
  }

  # Prometheus is installed in the cluster, where it is wanted.
  monitoring_config {
    enable_components = ["SYSTEM_COMPONENTS"]

    managed_prometheus {
      enabled = false
    }
  }

  security_posture_config {
    mode               = "BASIC"
    vulnerability_mode = "VULNERABILITY_DISABLED"
  }

  cost_management_config {
    enabled = true
  }

  resource_labels = local.labels

  timeouts {
    create = "45m"
    update = "60m"
    delete = "45m"
  }

  lifecycle {
    ignore_changes = [node_config]
  }

  depends_on = [google_project_iam_member.node]
}
