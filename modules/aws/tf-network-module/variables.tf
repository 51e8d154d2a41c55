variable "cluster_name" {
  description = "Name of the cluster that the network is for. Everything is named after it."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,22}[a-z0-9]$", var.cluster_name)) && !strcontains(var.cluster_name, "--")
    error_message = "cluster_name has 3 to 24 lower case letters, digits and single hyphens, and begins with a letter: for example \"customer-production\"."
  }
}

variable "region" {
  description = "Region of the network."
  type        = string
}

variable "network_cidr" {
  description = "Addresses of the network. Its lower half is for nodes and pods, the upper one for load balancers and NAT."
  type        = string
  default     = "10.0.0.0/16"

  validation {
    condition     = can(cidrhost(var.network_cidr, 0)) && try(tonumber(split("/", var.network_cidr)[1]) >= 16 && tonumber(split("/", var.network_cidr)[1]) <= 20, false)
    error_message = "network_cidr is an IPv4 network of /16 to /20: for example \"10.0.0.0/16\"."
  }
}

variable "high_availability" {
  description = "Three zones with a NAT gateway in each. Else two zones that share one."
  type        = bool
  default     = true
}

variable "log_retention_days" {
  description = "How long flow logs are kept."
  type        = number
  default     = 365

  validation {
    condition     = contains([30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827], var.log_retention_days)
    error_message = "log_retention_days is one of the periods of CloudWatch Logs: 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096 or 1827."
  }
}

variable "tags" {
  description = "Tags of everything that is made, beside those of ownership."
  type        = map(string)
  default     = {}
}
