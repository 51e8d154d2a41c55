variable "cluster_name" {
  description = "Name of the cluster. Everything is named after it."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,22}[a-z0-9]$", var.cluster_name)) && !strcontains(var.cluster_name, "--")
    error_message = "cluster_name has 3 to 24 lower case letters, digits and single hyphens, and begins with a letter: for example \"customer-production\"."
  }
}

variable "region" {
  description = "Region of the cloud, as the cloud names it."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region is a region of Google Cloud: for example \"us-central1\" or \"europe-west3\"."
  }
}

variable "kubernetes_version" {
  description = "Minor version of Kubernetes. It goes up one at a time, and never down."
  type        = string
  default     = "1.34"

  validation {
    condition     = can(regex("^1\\.[0-9]{2}$", var.kubernetes_version))
    error_message = "kubernetes_version is a minor version: for example \"1.34\"."
  }
}

variable "node_count" {
  description = "Number of nodes. With `max_node_count` the least number: the autoscaler then decides."
  type        = number
  default     = 3

  validation {
    condition     = var.node_count >= 1 && var.node_count <= 450 && floor(var.node_count) == var.node_count
    error_message = "node_count is a whole number between 1 and 450. For more nodes add node_pools."
  }

  validation {
    condition     = !var.high_availability || var.node_count >= 3
    error_message = "High availability needs at least 3 nodes: raise node_count, or set high_availability to false."
  }
}

variable "max_node_count" {
  description = "The most nodes that the autoscaler may have. Null: exactly `node_count` nodes, and no autoscaling."
  type        = number
  default     = null

  validation {
    condition     = var.max_node_count == null || try(var.max_node_count >= var.node_count && var.max_node_count <= 450, false)
    error_message = "max_node_count is at least node_count and at most 450. Leave it out for a fixed number of nodes."
  }
}

variable "instance_type" {
  description = "Type of the nodes' machines, as the cloud names it."
  type        = string
  default     = "e2-standard-2"

  validation {
    condition     = can(regex("^[a-z][a-z0-9]*-[a-z0-9-]+$", var.instance_type))
    error_message = "instance_type is a machine type of Compute Engine: for example \"e2-standard-2\" or \"n2-standard-4\"."
  }
}

variable "node_pools" {
  description = "Further pools of nodes by name; `default` is the one of `node_count` and `instance_type`. Where disks can be chosen they have 50 GB, or `disk_size_gb`."
  type = map(object({
    instance_type  = string
    node_count     = number
    max_node_count = optional(number)
    disk_size_gb   = optional(number)
    labels         = optional(map(string), {})
    taints         = optional(list(object({ key = string, value = string, effect = string })), [])
  }))
  default = {}

  validation {
    condition     = alltrue([for name in keys(var.node_pools) : can(regex("^[a-z][a-z0-9]{0,11}$", name)) && name != "default"])
    error_message = "A pool's name has up to 12 lower case letters and digits, begins with a letter, and is not \"default\": for example \"gpu\"."
  }
}

variable "high_availability" {
  description = "Spread nodes, ways out and the control plane so that a zone may fail. Needs 3 nodes. A change replaces the cluster."
  type        = bool
  default     = true
}

variable "network_cidr" {
  description = "Addresses of the network. They must not overlap with those of networks that it will be joined with."
  type        = string
  default     = "10.0.0.0/16"

  validation {
    condition     = can(cidrhost(var.network_cidr, 0)) && try(tonumber(split("/", var.network_cidr)[1]) >= 16 && tonumber(split("/", var.network_cidr)[1]) <= 20, false)
    error_message = "network_cidr is an IPv4 network of /16 to /20: for example \"10.0.0.0/16\"."
  }
}

variable "api_access_cidrs" {
  description = "Networks from which the Kubernetes API may be reached. Empty: only from inside of the network; Terraform must then run there too."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for cidr in var.api_access_cidrs : can(cidrhost(cidr, 0))])
    error_message = "api_access_cidrs has networks: for example \"203.0.113.0/24\", or \"203.0.113.7/32\" for one address."
  }
}

variable "enable_monitoring" {
  description = "Install Prometheus, Alertmanager and Grafana."
  type        = bool
  default     = true
}

variable "enable_service_mesh" {
  description = "Install Istio. Namespaces join it with the label `istio-injection = enabled`."
  type        = bool
  default     = false
}

variable "backup_schedule" {
  description = "When backups are made: `none`, `hourly`, `daily`, `weekly` or a cron expression."
  type        = string
  default     = "daily"

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
    condition     = var.backup_retention_days >= 1 && var.backup_retention_days <= 3650
    error_message = "backup_retention_days is between 1 and 3650. For no backups set backup_schedule to \"none\"."
  }
}

variable "delete_backups" {
  description = "Whether backups go with the cluster. Else a delete fails until they were removed by hand."
  type        = bool
  default     = true
}

variable "dns_zone_ids" {
  description = "Zones in which names are set for ingresses: the cloud's id of each by domain. Empty: none are set."
  type        = map(string)
  default     = {}
}

variable "acme_email" {
  description = "Address that Let's Encrypt writes to. With it there is a cluster issuer `letsencrypt`."
  type        = string
  default     = null

  validation {
    condition     = var.acme_email == null || can(regex("^[^@\\s]+@[^@\\s]+$", var.acme_email))
    error_message = "acme_email is an e-mail address."
  }
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
  description = "Token that the agent identifies itself with."
  type        = string
  default     = null
  sensitive   = true
}

variable "deletion_protection" {
  description = "Refuse to delete the cluster until this is set to false."
  type        = bool
  default     = false
}

variable "tags" {
  description = "Tags (labels) of everything that is made, for ownership and cost: lower case keys and values. `managed-by` and `terrane-cluster` are added."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for key, value in var.tags : can(regex("^[a-z][a-z0-9_-]{0,62}$", key)) && can(regex("^[a-z0-9_-]{0,63}$", value))])
    error_message = "Keys and values of tags have up to 63 lower case letters, digits, hyphens and underscores; keys begin with a letter: that is what all clouds allow."
  }
}
