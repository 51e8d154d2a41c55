terraform {
  required_providers {
    helm = { source = "hashicorp/helm" }
  }
}
provider "helm" {}
variable "desired" {
  type    = number
  default = 2
}
resource "helm_release" "web" {
  name             = "ingress"
  repository       = "https://kubernetes.github.io/ingress-nginx"
  chart            = "ingress-nginx"
  version          = "4.11.3"
  namespace        = "ingress"
  create_namespace = true
  values           = [yamlencode({ controller = { replicaCount = var.desired } })]
  set = [{
    name  = "controller.metrics.enabled"
    value = "true"
  }]
  set_sensitive = [{
    name  = "controller.password"
    value = "hunter2"
  }]
}
data "helm_template" "web" {
  name  = "ingress"
  chart = "ingress-nginx"
}
output "status" { value = helm_release.web.status }
