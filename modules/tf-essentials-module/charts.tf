# The charts: where they come from, which version, when they are wanted, and what is said to them on every cloud.

locals {
  cron = lookup({
    hourly = "0 * * * *"
    daily  = "0 2 * * *"
    weekly = "0 2 * * 0"
  }, var.backup_schedule, var.backup_schedule)

  possible_charts = {
    cert-manager = {
      wanted       = true
      release      = "cert-manager"
      repository   = "https://charts.jetstack.io"
      chart        = "cert-manager"
      version      = "v1.19.1"
      pod_security = "restricted"
      values = {
        crds         = { enabled = true, keep = false }
        replicaCount = 2
        webhook      = { replicaCount = 2 }
      }
    }

    metrics-server = {
      wanted       = var.cloud.metrics_server
      release      = "metrics-server"
      repository   = "https://kubernetes-sigs.github.io/metrics-server/"
      chart        = "metrics-server"
      version      = "3.13.1"
      pod_security = "baseline"
      values = {
        replicas            = 2
        podDisruptionBudget = { enabled = true, minAvailable = 1 }
      }
    }

    cluster-autoscaler = {
      wanted       = var.cloud.cluster_autoscaler
      release      = "cluster-autoscaler"
      repository   = "https://kubernetes.github.io/autoscaler"
      chart        = "cluster-autoscaler"
      version      = "9.59.0"
      pod_security = "baseline"
      values = {
        fullnameOverride = "cluster-autoscaler"
        rbac             = { serviceAccount = { name = "cluster-autoscaler" } }
        extraArgs = {
          balance-similar-node-groups   = true
          enforce-node-group-min-size   = true
          expander                      = "least-waste"
          skip-nodes-with-local-storage = false
        }
      }
    }

    external-dns = {
      wanted       = length(var.dns_zones) > 0
      release      = "external-dns"
      repository   = "https://kubernetes-sigs.github.io/external-dns/"
      chart        = "external-dns"
      version      = "1.21.1"
      pod_security = "restricted"
      values = {
        domainFilters      = var.dns_zones
        policy             = "sync"
        txtOwnerId         = var.cluster_name
        triggerLoopOnEvent = true
        serviceAccount     = { name = "external-dns" }
      }
    }

    monitoring = {
      wanted     = var.enable_monitoring
      release    = "monitoring"
      repository = "https://prometheus-community.github.io/helm-charts"
      chart      = "kube-prometheus-stack"
      version    = "88.5.3"
      # The node exporter looks at the node itself.
      pod_security = "privileged"
      values = {
        # Managed control planes do not let themselves be asked.
        kubeControllerManager = { enabled = false }
        kubeEtcd              = { enabled = false }
        kubeScheduler         = { enabled = false }
        kubeProxy             = { enabled = false }
        prometheus = {
          prometheusSpec = {
            replicas                                = 2
            retention                               = "15d"
            retentionSize                           = "45GB"
            serviceMonitorSelectorNilUsesHelmValues = false
            podMonitorSelectorNilUsesHelmValues     = false
            persistentVolumeClaimRetentionPolicy    = { whenDeleted = "Delete", whenScaled = "Delete" }
            storageSpec = {
              volumeClaimTemplate = {
                spec = {
                  accessModes = ["ReadWriteOnce"]
                  resources   = { requests = { storage = "50Gi" } }
                }
              }
            }
          }
        }
      }
    }

    backup = {
      wanted     = var.backup_schedule != "none"
      release    = "backup"
      repository = "https://vmware-tanzu.github.io/helm-charts"
      chart      = "velero"
      version    = "11.4.0"
      # File system backups read the volumes of pods where they are mounted: on the node.
      pod_security = "privileged"
      values = {
        deployNodeAgent = true
        serviceAccount  = { server = { name = "velero" } }
        schedules = {
          cluster = {
            disabled = false
            schedule = local.cron
            template = {
              ttl                = "${var.backup_retention_days * 24}h0m0s"
              includedNamespaces = ["*"]
              excludedNamespaces = ["backup"]
            }
          }
        }
      }
    }

    ingress = {
      wanted       = true
      release      = "ingress"
      repository   = "https://traefik.github.io/charts"
      chart        = "traefik"
      version      = "41.3.0"
      pod_security = "restricted"
      values = {
        deployment          = { replicas = 2 }
        podDisruptionBudget = { enabled = true, minAvailable = 1 }
        ingressClass        = { enabled = true, isDefaultClass = true, name = "traefik" }
        metrics = {
          prometheus = {
            service        = { enabled = var.enable_monitoring }
            serviceMonitor = { enabled = var.enable_monitoring }
          }
        }
        extraObjects = var.acme_email == null ? [] : [local.issuer]
      }
    }
  }

  # Here and not with cert-manager, whose kinds have to be known first.
  issuer = {
    apiVersion = "cert-manager.io/v1"
    kind       = "ClusterIssuer"
    metadata   = { name = "letsencrypt", labels = local.labels }
    spec = {
      acme = {
        email               = var.acme_email
        server              = "https://acme-v02.api.letsencrypt.org/directory"
        privateKeySecretRef = { name = "letsencrypt-account" }
        solvers             = [{ http01 = { ingress = { ingressClassName = "traefik" } } }]
      }
    }
  }
}
