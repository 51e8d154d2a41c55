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
  description = "Addresses of the network. Its lower half is for nodes; pods have addresses of their own."
  type        = string
  default     = "10.0.0.0/16"

  validation {
    condition     = can(cidrhost(var.network_cidr, 0)) && try(tonumber(split("/", var.network_cidr)[1]) >= 16 && tonumber(split("/", var.network_cidr)[1]) <= 20, false)
    error_message = "network_cidr is an IPv4 network of /16 to /20: for example \"10.0.0.0/16\"."
  }
}

variable "high_availability" {
  description = "Two addresses for the way out, in all zones. Else one."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of everything that can have tags, beside those of ownership. Subnets cannot: they are known by the prefix of their names."
  type        = map(string)
  default     = {}
}
