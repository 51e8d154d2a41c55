//! Whose failure it is: where to raise a limit or to look for permissions differs by cloud.

use super::text::Text;
use crate::words::words;

words!(
    /// Who answers a provider's requests. A cluster is its own little cloud here.
    Cloud {
        Aws = "aws",
        Gcp = "gcp",
        Azure = "azure",
        DigitalOcean = "digitalocean",
        Linode = "linode",
        Kubernetes = "kubernetes",
    }
);

impl Cloud {
    pub fn name(self) -> &'static str {
        match self {
            Cloud::Aws => "AWS",
            Cloud::Gcp => "Google Cloud",
            Cloud::Azure => "Azure",
            Cloud::DigitalOcean => "DigitalOcean",
            Cloud::Linode => "Linode",
            Cloud::Kubernetes => "Kubernetes",
        }
    }

    /// By the resource's type, such as `aws_eks_cluster`.
    pub fn of_address(address: &str) -> Option<Cloud> {
        let of_type = |part: &str| {
            let (prefix, _) = part.split_once('_')?;
            match prefix {
                "aws" | "awscc" => Some(Cloud::Aws),
                "google" => Some(Cloud::Gcp),
                "azurerm" | "azuread" | "azapi" => Some(Cloud::Azure),
                "digitalocean" => Some(Cloud::DigitalOcean),
                "linode" => Some(Cloud::Linode),
                "kubernetes" | "helm" | "kubectl" => Some(Cloud::Kubernetes),
                _ => None,
            }
        };
        // A module or a key may be named after another cloud: the type is the last part but one that looks like one.
        let bare = super::address::without_keys(address);
        bare.split('.').rev().skip(1).find_map(of_type)
    }

    /// By how it speaks.
    pub(super) fn of_text(text: &Text) -> Option<Cloud> {
        let plain = text.plain().to_lowercase();
        let has = |marks: &[&str]| marks.iter().any(|mark| plain.contains(mark));
        if has(&["amazonaws.com", "arn:aws", "operation error ", "api error ", "hashicorp/aws", "requesterror:"]) {
            Some(Cloud::Aws)
        } else if has(&["googleapi", "google.golang", "gserviceaccount", "hashicorp/google", "zone_resource_pool"]) {
            Some(Cloud::Gcp)
        } else if has(&["azure", "microsoft.", "aadsts", "original error: code=", "windows.net", "microsoftonline"]) {
            Some(Cloud::Azure)
        } else if has(&["digitalocean", "droplet"]) {
            Some(Cloud::DigitalOcean)
        } else if has(&["linode"]) {
            Some(Cloud::Linode)
        } else if has(&["kubernetes", "helm", "is forbidden: user", ".svc:", "configmaps ", "namespaces "]) {
            Some(Cloud::Kubernetes)
        } else if has(&["limitexceeded:", "request id:", "exception: "]) {
            Some(Cloud::Aws)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_in_an_address_tells_the_cloud() {
        let of = |address| Cloud::of_address(address);
        assert_eq!(of("aws_eks_cluster.main"), Some(Cloud::Aws));
        assert_eq!(of("module.aws_base[\"google_x.y\"].data.azurerm_client_config.me[0]"), Some(Cloud::Azure));
        assert_eq!(of("helm_release.linode_blocks"), Some(Cloud::Kubernetes));
        assert_eq!(of("terraform_data.x"), None);
    }
}
