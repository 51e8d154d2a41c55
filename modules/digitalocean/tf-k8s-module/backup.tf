# Where backups are kept: what is in volumes too, read from the nodes. Buckets have no tags: this one is known by the prefix of
# its name.

locals {
  backup = var.backup_schedule != "none"

  # Not every region has Spaces; these have them nearby.
  nearest_spaces = { nyc1 = "nyc3", nyc2 = "nyc3", sfo1 = "sfo3" }
  backup_region  = coalesce(var.backup_region, lookup(local.nearest_spaces, var.region, var.region))
}

resource "digitalocean_spaces_bucket" "backup" {
  count = local.backup ? 1 : 0

  # Unique in its region, and another one for each network.
  name          = "${var.cluster_name}-backup-${substr(sha256(var.network.network_id), 0, 8)}"
  region        = local.backup_region
  acl           = "private"
  force_destroy = var.delete_backups

  versioning {
    enabled = true
  }

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

resource "digitalocean_spaces_key" "backup" {
  count = local.backup ? 1 : 0

  name = "${var.cluster_name}-backup"

  grant {
    bucket     = digitalocean_spaces_bucket.backup[0].name
    permission = "readwrite"
  }
}
