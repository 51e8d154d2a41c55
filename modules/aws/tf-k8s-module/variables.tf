variable "cluster_name" {
  description = "Name of the cluster. Everything is named after it."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,22}[a-z0-9]$", var.cluster_name)) && !strcontains(var.cluster_name, "--")
    error_message = "cluster_name has 3 to 24 lower case letters, digits and single hyphens, and begins with a letter: for example \"customer-production\"."
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

variable "region" {
  description = "Region of the cluster."
  type        = string
}

variable "high_availability" {
  description = "Let AWS shift traffic away from a zone that fails."
  type        = bool
  default     = true
}

variable "network" {
  description = "The output `network` of tf-network-module: private subnets in two zones or more, and the key that encrypts secrets, volumes, logs and backups."
  type = object({
    network_id  = string
    subnet_ids  = list(string)
    kms_key_arn = string
  })

  validation {
    condition     = length(var.network.subnet_ids) >= 2
    error_message = "network.subnet_ids has subnets of at least two zones: EKS wants it so."
  }
}

variable "node_pools" {
  description = "Pools of nodes by name. `node_count` is their number, and with `max_node_count` the least: the autoscaler then decides. EKS takes no least number above that of the nodes there are: leave `max_node_count` out to go there at once."
  type = map(object({
    instance_type  = string
    node_count     = number
    max_node_count = optional(number)
    disk_size_gb   = optional(number)
    labels         = optional(map(string), {})
    taints         = optional(list(object({ key = string, value = string, effect = string })), [])
  }))

  validation {
    condition     = alltrue([for pool in values(var.node_pools) : pool.node_count >= 1 && pool.node_count <= 450])
    error_message = "node_count of a pool is between 1 and 450."
  }

  validation {
    condition     = alltrue([for pool in values(var.node_pools) : pool.max_node_count == null || try(pool.max_node_count >= pool.node_count, true)])
    error_message = "max_node_count of a pool is at least its node_count. Leave it out for a fixed number of nodes."
  }

  validation {
    condition = alltrue(flatten([for pool in values(var.node_pools) : [
      for taint in pool.taints : contains(["NoSchedule", "PreferNoSchedule", "NoExecute"], taint.effect)
    ]]))
    error_message = "The effect of a taint is NoSchedule, PreferNoSchedule or NoExecute."
  }
}

variable "api_access_cidrs" {
  description = "Networks from which the API may be reached. Empty: only from inside of the VPC."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for cidr in var.api_access_cidrs : can(cidrhost(cidr, 0))])
    error_message = "api_access_cidrs has networks: for example \"203.0.113.0/24\", or \"203.0.113.7/32\" for one address."
  }
}

variable "backup_schedule" {
  description = "When backups are made: `none`, `hourly`, `daily`, `weekly` or a cron expression. Unless `none`, there is a bucket for them."
  type        = string
  default     = "none"
}

variable "backup_retention_days" {
  description = "How long backups are kept."
  type        = number
  default     = 30
}

variable "delete_backups" {
  description = "Whether backups go with the cluster. Else a delete fails until the bucket was emptied by hand."
  type        = bool
  default     = true
}

variable "dns_zone_ids" {
  description = "Ids of the Route 53 zones in which names may be set, by domain."
  type        = map(string)
  default     = {}
}

variable "log_retention_days" {
  description = "How long the control plane's logs are kept."
  type        = number
  default     = 365
}

variable "deletion_protection" {
  description = "Refuse to delete the cluster until this is set to false."
  type        = bool
  default     = false
}

variable "tags" {
  description = "Tags of everything that is made, beside those of ownership."
  type        = map(string)
  default     = {}
}
