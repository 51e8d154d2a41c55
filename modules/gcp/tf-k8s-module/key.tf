# One key for all that the cluster writes down: secrets, disks, backups.

locals {
  # The key's id, once all who must may use it.
  usable_key_id = one(distinct([for grant in google_kms_crypto_key_iam_member.agent : grant.crypto_key_id]))
}

data "google_project" "current" {}

data "google_storage_project_service_account" "current" {}

# Google never forgets a key ring, nor lets its name be used again: so it is named after the network's number too, which no
# other network gets. A destroyed key is only a name; its versions are gone after a day.
resource "google_kms_key_ring" "this" {
  name     = "${var.cluster_name}-${var.network.network_number}"
  location = var.region
}

resource "google_kms_crypto_key" "this" {
  #checkov:skip=CKV_GCP_82:A key goes with its cluster; what guards a cluster is deletion_protection.
  name                       = "cluster"
  key_ring                   = google_kms_key_ring.this.id
  rotation_period            = "7776000s"
  destroy_scheduled_duration = "86400s"

  labels = local.labels
}

resource "google_kms_crypto_key_iam_member" "agent" {
  for_each = {
    gke     = "serviceAccount:service-${data.google_project.current.number}@container-engine-robot.iam.gserviceaccount.com"
    compute = "serviceAccount:service-${data.google_project.current.number}@compute-system.iam.gserviceaccount.com"
    storage = data.google_storage_project_service_account.current.member
  }

  crypto_key_id = google_kms_crypto_key.this.id
  role          = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
  member        = each.value
}
