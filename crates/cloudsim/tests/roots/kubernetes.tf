terraform {
  required_providers {
    kubernetes = { source = "hashicorp/kubernetes" }
  }
}
provider "kubernetes" {}
variable "desired" {
  type    = number
  default = 2
}
resource "kubernetes_namespace_v1" "main" {
  metadata {
    name   = "demo"
    labels = { owner = "terrane" }
  }
}
resource "kubernetes_service_account_v1" "main" {
  metadata {
    name      = "demo"
    namespace = kubernetes_namespace_v1.main.metadata[0].name
  }
}
resource "kubernetes_secret_v1" "main" {
  metadata {
    generate_name = "demo-"
    namespace     = "demo"
  }
  data = { password = "hunter2" }
}
resource "kubernetes_config_map_v1" "main" {
  metadata {
    name = "demo"
  }
  data = { key = "value" }
}
resource "kubernetes_cluster_role_v1" "main" {
  metadata {
    name = "system:demo"
  }
  rule {
    api_groups = [""]
    resources  = ["pods"]
    verbs      = ["get"]
  }
}
resource "kubernetes_cluster_role_binding_v1" "main" {
  metadata {
    name = "demo"
  }
  role_ref {
    api_group = "rbac.authorization.k8s.io"
    kind      = "ClusterRole"
    name      = kubernetes_cluster_role_v1.main.metadata[0].name
  }
  subject {
    kind      = "ServiceAccount"
    name      = "demo"
    namespace = "demo"
  }
}
resource "kubernetes_deployment_v1" "main" {
  metadata {
    name      = "web"
    namespace = "demo"
  }
  spec {
    replicas = var.desired
    selector {
      match_labels = { app = "web" }
    }
    template {
      metadata {
        labels = { app = "web" }
      }
      spec {
        container {
          name  = "web"
          image = "nginx"
          resources {
            limits = { cpu = "1" }
          }
        }
      }
    }
  }
}
resource "kubernetes_service_v1" "main" {
  metadata {
    name      = "web"
    namespace = "demo"
  }
  spec {
    selector = { app = "web" }
    port {
      port = 80
    }
    type = "LoadBalancer"
  }
}
resource "kubernetes_storage_class_v1" "main" {
  metadata {
    name = "fast"
  }
  storage_provisioner = "ebs.csi.aws.com"
}
resource "kubernetes_network_policy_v1" "main" {
  metadata {
    name      = "deny"
    namespace = "demo"
  }
  spec {
    pod_selector {}
    policy_types = ["Ingress"]
  }
}
resource "kubernetes_manifest" "main" {
  manifest = {
    apiVersion = "example.com/v1"
    kind       = "Widget"
    metadata   = { name = "one", namespace = "demo" }
    spec       = { size = var.desired, zones = ["a", "b"] }
  }
}
resource "kubernetes_labels" "main" {
  api_version = "v1"
  kind        = "Namespace"
  metadata {
    name = "default"
  }
  labels = { owner = "terrane" }
}
data "kubernetes_all_namespaces" "all" {
  depends_on = [kubernetes_namespace_v1.main]
}
output "namespaces" { value = data.kubernetes_all_namespaces.all.namespaces }
