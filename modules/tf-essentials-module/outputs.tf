output "components" {
  description = "What is installed: the version of each chart by its namespace."
  value = merge(
    { for name, release in helm_release.chart : name => release.version },
    { ingress = helm_release.ingress.version },
    { for release in helm_release.mesh : "istio-system" => release.version },
    { for release in helm_release.agent : "terrane-system" => release.version },
  )
}

output "ingress_class" {
  description = "Class of ingresses."
  value       = "traefik"
}

output "cluster_issuer" {
  description = "Issuer of certificates; null without acme_email."
  value       = var.acme_email == null ? null : "letsencrypt"
}
