# The hook for the agent: a namespace, its token, its chart.

resource "kubernetes_namespace_v1" "agent" {
  count = var.agent == null ? 0 : 1

  metadata {
    name   = "terrane-system"
    labels = merge(local.labels, { "pod-security.kubernetes.io/enforce" = "restricted" })
  }
}

resource "kubernetes_secret_v1" "agent" {
  count = var.agent == null ? 0 : 1

  metadata {
    name      = "terrane-agent"
    namespace = kubernetes_namespace_v1.agent[0].metadata[0].name
    labels    = local.labels
  }

  data = { token = var.agent_token }

  lifecycle {
    precondition {
      condition     = var.agent_token != null
      error_message = "An agent needs its agent_token: make one, and give it along with the agent."
    }
  }
}

resource "helm_release" "agent" {
  count = var.agent == null ? 0 : 1

  name       = "terrane-agent"
  namespace  = kubernetes_namespace_v1.agent[0].metadata[0].name
  repository = var.agent.repository
  chart      = var.agent.chart
  version    = var.agent.version
  values = [
    yamlencode({ clusterName = var.cluster_name, existingSecret = "terrane-agent" }),
    var.agent.values,
  ]

  atomic  = true
  timeout = 600

  depends_on = [helm_release.ingress, helm_release.mesh, kubernetes_secret_v1.agent]
}
