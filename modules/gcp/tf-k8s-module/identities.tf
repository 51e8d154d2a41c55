# Who may do what with Google Cloud: one service account of Google's for one of Kubernetes', by Workload Identity.

data "google_client_config" "current" {}

locals {
  backup  = var.backup_schedule != "none"
  project = data.google_client_config.current.project

  identities = { for name, identity in local.possible_identities : name => identity if identity.wanted }

  possible_identities = {
    external-dns = { wanted = length(var.dns_zone_ids) > 0, account = "${var.cluster_name}-dns", subject = "external-dns/external-dns" }
    backup       = { wanted = local.backup, account = "${var.cluster_name}-saver", subject = "backup/velero" }
  }
}

resource "google_service_account" "identity" {
  for_each = local.identities

  account_id   = each.value.account
  display_name = "${each.key} of ${var.cluster_name}"
  description  = "Terrane cluster ${var.cluster_name}"
}

resource "google_service_account_iam_member" "identity" {
  for_each = local.identities

  service_account_id = google_service_account.identity[each.key].name
  role               = "roles/iam.workloadIdentityUser"
  member             = "serviceAccount:${local.project}.svc.id.goog[${each.value.subject}]"

  # The pool of identities comes into being with the first cluster that uses it.
  depends_on = [google_container_cluster.this]
}

resource "google_dns_managed_zone_iam_member" "external_dns" {
  for_each = var.dns_zone_ids

  managed_zone = each.value
  role         = "roles/dns.admin"
  member       = google_service_account.identity["external-dns"].member
}

# Zones can only be listed in a project as a whole.
resource "google_project_iam_member" "external_dns" {
  count = length(var.dns_zone_ids) > 0 ? 1 : 0

  project = local.project
  role    = "roles/dns.reader"
  member  = google_service_account.identity["external-dns"].member
}
