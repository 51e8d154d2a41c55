# Where backups are kept, and who may write them.

resource "google_storage_bucket" "backup" {
  #checkov:skip=CKV_GCP_62:Only one identity may read or write here, and the audit log knows of it.
  count = local.backup ? 1 : 0

  name                        = "${local.project}-${var.cluster_name}-backup"
  location                    = var.region
  force_destroy               = var.delete_backups
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  labels                      = local.labels

  versioning {
    enabled = true
  }

  encryption {
    default_kms_key_name = local.usable_key_id
  }

  # Velero deletes what has expired; this takes away what deleting leaves behind.
  lifecycle_rule {
    action {
      type = "Delete"
    }

    condition {
      days_since_noncurrent_time = var.backup_retention_days
      with_state                 = "ARCHIVED"
    }
  }
}

resource "google_storage_bucket_iam_member" "backup" {
  count = local.backup ? 1 : 0

  bucket = google_storage_bucket.backup[0].name
  role   = "roles/storage.objectAdmin"
  member = google_service_account.identity["backup"].member
}

# Links to what is kept are signed by the account itself.
resource "google_service_account_iam_member" "backup_signs" {
  count = local.backup ? 1 : 0

  service_account_id = google_service_account.identity["backup"].name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = google_service_account.identity["backup"].member
}

resource "google_project_iam_custom_role" "snapshots" {
  count = local.backup ? 1 : 0

  role_id     = "terrane_${replace(var.cluster_name, "-", "_")}_snapshots"
  title       = "Snapshots of ${var.cluster_name}"
  description = "Terrane cluster ${var.cluster_name}"
  permissions = [
    "compute.disks.create",
    "compute.disks.createSnapshot",
    "compute.disks.get",
    "compute.projects.get",
    "compute.snapshots.create",
    "compute.snapshots.delete",
    "compute.snapshots.get",
    "compute.snapshots.setLabels",
    "compute.snapshots.useReadOnly",
    "compute.zones.get",
  ]
}

resource "google_project_iam_member" "snapshots" {
  count = local.backup ? 1 : 0

  project = local.project
  role    = google_project_iam_custom_role.snapshots[0].name
  member  = google_service_account.identity["backup"].member
}
