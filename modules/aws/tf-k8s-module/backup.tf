# Where backups are kept.

resource "aws_s3_bucket" "backup" {
  #checkov:skip=CKV_AWS_144:Backups are in the cluster's region, as its volumes' snapshots are; copies elsewhere are their owner's choice.
  #checkov:skip=CKV_AWS_18:Only one identity may read or write here, and CloudTrail knows of it.
  #checkov:skip=CKV2_AWS_62:Nobody waits for events of this bucket.
  count = local.backup ? 1 : 0

  bucket_prefix = "${var.cluster_name}-backup-"
  force_destroy = var.delete_backups

  tags = local.tags
}

resource "aws_s3_bucket_public_access_block" "backup" {
  count = local.backup ? 1 : 0

  bucket                  = aws_s3_bucket.backup[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_versioning" "backup" {
  count = local.backup ? 1 : 0

  bucket = aws_s3_bucket.backup[0].id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "backup" {
  count = local.backup ? 1 : 0

  bucket = aws_s3_bucket.backup[0].id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = var.network.kms_key_arn
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "backup" {
  count = local.backup ? 1 : 0

  bucket = aws_s3_bucket.backup[0].id

  # Velero deletes what has expired; this takes away what deleting leaves behind.
  rule {
    id     = "leftovers"
    status = "Enabled"

    filter {
      prefix = ""
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 7
    }

    noncurrent_version_expiration {
      noncurrent_days = var.backup_retention_days
    }
  }

  depends_on = [aws_s3_bucket_versioning.backup]
}

resource "aws_s3_bucket_policy" "backup" {
  count = local.backup ? 1 : 0

  bucket = aws_s3_bucket.backup[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "TlsOnly"
      Effect    = "Deny"
      Action    = "s3:*"
      Principal = "*"
      Resource  = [aws_s3_bucket.backup[0].arn, "${aws_s3_bucket.backup[0].arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })

  depends_on = [aws_s3_bucket_public_access_block.backup]
}
