# Where backups are kept: what is in volumes too, read from the nodes. Buckets have no tags: this one is known by the prefix of
# its name.

locals {
  backup        = var.backup_schedule != "none"
  backup_region = coalesce(var.backup_region, var.region)
}

resource "linode_object_storage_bucket" "backup" {
  count = local.backup ? 1 : 0

  # Unique in its region: no other cluster ever has this one's number.
  label      = "${var.cluster_name}-backup-${linode_lke_cluster.this.id}"
  region     = local.backup_region
  acl        = "private"
  versioning = true

  # Velero deletes what has expired; this takes away what deleting leaves behind.
  lifecycle_rule {
    id                                     = "leftovers"
    enabled                                = true
    abort_incomplete_multipart_upload_days = 7

    noncurrent_version_expiration {
      days = var.backup_retention_days
    }
  }
}

resource "linode_object_storage_key" "backup" {
  count = local.backup ? 1 : 0

  label = "${var.cluster_name}-backup"

  bucket_access {
    bucket_name = linode_object_storage_bucket.backup[0].label
    region      = local.backup_region
    permissions = "read_write"
  }
}

# Whoever may delete the bucket deletes what is in it. Where that is not wanted, this stands in the way.
resource "terraform_data" "backups" {
  count = local.backup ? 1 : 0

  input = { bucket = linode_object_storage_bucket.backup[0].label, delete = var.delete_backups }

  provisioner "local-exec" {
    when    = destroy
    command = self.input.delete ? "true" : "echo 'Backups are in ${self.input.bucket}. To delete them too, apply delete_backups = true first.' >&2; exit 1"
  }
}
