# What every cluster needs, on any cloud: an ingress controller, certificates, metrics, and by wish monitoring, names in DNS,
# a service mesh, backups and the agent. Each chart has a namespace of its own, which is gone with it and all that it claimed.

locals {
  charts = { for name, chart in local.possible_charts : name => chart if chart.wanted }

  labels = {
    "app.kubernetes.io/managed-by" = "terrane"
    "terrane-cluster"              = var.cluster_name
  }
}

resource "kubernetes_storage_class_v1" "default" {
  count = var.cloud.storage_class == null ? 0 : 1

  metadata {
    name        = var.cloud.storage_class.name
    labels      = local.labels
    annotations = { "storageclass.kubernetes.io/is-default-class" = "true" }
  }

  storage_provisioner    = var.cloud.storage_class.provisioner
  parameters             = var.cloud.storage_class.parameters
  reclaim_policy         = "Delete"
  volume_binding_mode    = "WaitForFirstConsumer"
  allow_volume_expansion = true
}

# Deleting a namespace waits for what is in it, claims of volumes included.
resource "kubernetes_namespace_v1" "chart" {
  for_each = local.charts

  metadata {
    name = each.key
    labels = merge(local.labels, {
      "pod-security.kubernetes.io/enforce" = each.value.pod_security
    })
  }

  depends_on = [kubernetes_storage_class_v1.default]
}

resource "kubernetes_secret_v1" "credentials" {
  for_each = { for name in nonsensitive(keys(var.secrets)) : name => name if contains(keys(local.charts), name) }

  metadata {
    name      = "credentials"
    namespace = kubernetes_namespace_v1.chart[each.key].metadata[0].name
    labels    = local.labels
  }

  data = var.secrets[each.key]
}

resource "helm_release" "chart" {
  for_each = { for name, chart in local.charts : name => chart if name != "ingress" }

  name       = each.value.release
  namespace  = kubernetes_namespace_v1.chart[each.key].metadata[0].name
  repository = each.value.repository
  chart      = each.value.chart
  version    = lookup(var.chart_versions, each.key, each.value.version)
  values     = compact([yamlencode(each.value.values), lookup(var.cloud.values, each.key, ""), lookup(var.chart_values, each.key, "")])

  # A release that did not come up is taken back, so that the next run finds no half of it.
  atomic  = true
  timeout = 900

  depends_on = [kubernetes_secret_v1.credentials]
}

# Comes last and goes first: its load balancer and its names are taken down while those who can do it are still there.
resource "helm_release" "ingress" {
  name       = local.charts.ingress.release
  namespace  = kubernetes_namespace_v1.chart["ingress"].metadata[0].name
  repository = local.charts.ingress.repository
  chart      = local.charts.ingress.chart
  version    = lookup(var.chart_versions, "ingress", local.charts.ingress.version)
  values     = compact([yamlencode(local.charts.ingress.values), lookup(var.cloud.values, "ingress", ""), lookup(var.chart_values, "ingress", "")])

  atomic  = true
  timeout = 900

  depends_on = [helm_release.chart]
}

# Comes last of all and goes first: where it stays, all stays, and a delete that is refused has taken nothing down.
resource "terraform_data" "deletion_protection" {
  input = var.deletion_protection

  provisioner "local-exec" {
    when    = destroy
    command = self.input ? "echo 'The cluster is protected. To delete it, apply deletion_protection = false first.' >&2; exit 1" : "true"
  }

  depends_on = [helm_release.agent, helm_release.ingress, helm_release.mesh]
}
