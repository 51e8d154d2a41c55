variable "cluster_name" {
  description = "Name of the cluster. Names in DNS that it has set are marked with it."
  type        = string
}

variable "cloud" {
  description = "What the charts have to know of the cloud: the output `essentials` of its tf-k8s-module. `values` are a chart's values in YAML, by chart."
  type = object({
    metrics_server     = bool
    cluster_autoscaler = bool
    storage_class = optional(object({
      name        = string
      provisioner = string
      parameters  = map(string)
    }))
    values = map(string)
  })

  validation {
    condition     = alltrue([for text in values(var.cloud.values) : can(yamldecode(text))])
    error_message = "Each of cloud.values is YAML: write it with yamlencode()."
  }
}

variable "secrets" {
  description = "Credentials that charts need where the cloud gives pods no identity, by chart; each becomes the secret `credentials` in the chart's namespace."
  type        = map(map(string))
  default     = {}
  sensitive   = true
}

variable "enable_monitoring" {
  description = "Install Prometheus, Alertmanager and Grafana."
  type        = bool
  default     = true
}

variable "backup_schedule" {
  description = "When backups are made: `none`, `hourly`, `daily`, `weekly` or a cron expression."
  type        = string
  default     = "none"

  validation {
    condition     = contains(["none", "hourly", "daily", "weekly"], var.backup_schedule) || can(regex("^(\\S+ ){4}\\S+$", var.backup_schedule))
    error_message = "backup_schedule is none, hourly, daily, weekly or a cron expression of five fields: for example \"30 2 * * *\"."
  }
}

variable "backup_retention_days" {
  description = "How long backups are kept."
  type        = number
  default     = 30

  validation {
    condition     = var.backup_retention_days >= 1
    error_message = "backup_retention_days is at least 1. For no backups set backup_schedule to \"none\"."
  }
}

variable "dns_zones" {
  description = "Domains in which names are set for ingresses and services. Empty: none, and no external-dns."
  type        = list(string)
  default     = []
}

variable "acme_email" {
  description = "Address that Let's Encrypt writes to. With it there is a cluster issuer `letsencrypt`."
  type        = string
  default     = null
}

variable "agent" {
  description = "Chart of the agent that reports back to the control plane, with its values in YAML. Null: none."
  type = object({
    repository = string
    chart      = string
    version    = string
    values     = optional(string, "{}")
  })
  default = null
}

variable "agent_token" {
  description = "Token that the agent identifies itself with: key `token` of the secret `terrane-agent`."
  type        = string
  default     = null
  sensitive   = true
}

variable "enable_service_mesh" {
  description = "Install Istio. Namespaces join it with the label `istio-injection = enabled`."
  type        = bool
  default     = false
}

variable "chart_values" {
  description = "Further values of charts in YAML, by chart: they win over the module's own."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(setsubtract(keys(var.chart_values), ["backup", "cert-manager", "cluster-autoscaler", "external-dns", "ingress", "metrics-server", "monitoring", "service-mesh"])) == 0
    error_message = "chart_values has keys among backup, cert-manager, cluster-autoscaler, external-dns, ingress, metrics-server, monitoring, service-mesh."
  }

  validation {
    condition     = alltrue([for text in values(var.chart_values) : can(yamldecode(text))])
    error_message = "Each of chart_values is YAML: write it with yamlencode()."
  }
}

variable "chart_versions" {
  description = "Other versions of charts than the module's own, by chart."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(setsubtract(keys(var.chart_versions), ["backup", "cert-manager", "cluster-autoscaler", "external-dns", "ingress", "metrics-server", "monitoring", "service-mesh"])) == 0
    error_message = "chart_versions has keys among backup, cert-manager, cluster-autoscaler, external-dns, ingress, metrics-server, monitoring, service-mesh."
  }
}

variable "deletion_protection" {
  description = "Refuse to take anything down until this is set to false, here first and so everywhere."
  type        = bool
  default     = false
}
