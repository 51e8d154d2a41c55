terraform {
  required_providers {
    cloudsim = {
      source = "terrane/cloudsim"
    }
  }
}

variable "name" {
  type = string
}

variable "size" {
  type = number
}

provider "cloudsim" {
  world = "/tmp/world"
}

resource "cloudsim_thing" "it" {
  name = var.name
  size = var.size
}

output "endpoint" {
  value = cloudsim_thing.it.endpoint
}
