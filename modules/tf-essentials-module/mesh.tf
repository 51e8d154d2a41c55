# The service mesh: Istio. Namespaces join it with the label `istio-injection = enabled`.

locals {
  mesh_version = lookup(var.chart_versions, "service-mesh", "1.29.2")
}

resource "kubernetes_namespace_v1" "mesh" {
  count = var.enable_service_mesh ? 1 : 0

  metadata {
    name   = "istio-system"
    labels = merge(local.labels, { "pod-security.kubernetes.io/enforce" = "baseline" })
  }
}

resource "helm_release" "mesh_kinds" {
  count = var.enable_service_mesh ? 1 : 0

  name       = "istio-base"
  namespace  = kubernetes_namespace_v1.mesh[0].metadata[0].name
  repository = "https://istio-release.storage.googleapis.com/charts"
  chart      = "base"
  version    = local.mesh_version

  atomic  = true
  timeout = 300
}

resource "helm_release" "mesh" {
  count = var.enable_service_mesh ? 1 : 0

  name       = "istiod"
  namespace  = kubernetes_namespace_v1.mesh[0].metadata[0].name
  repository = "https://istio-release.storage.googleapis.com/charts"
  chart      = "istiod"
  version    = local.mesh_version
  values = compact([
    # Traffic between members is encrypted wherever both can.
    yamlencode({ meshConfig = { enableAutoMtls = true }, autoscaleMin = 2 }),
    lookup(var.chart_values, "service-mesh", ""),
  ])

  atomic  = true
  timeout = 900

  depends_on = [helm_release.mesh_kinds]
}
