//! What a cloud has to offer: regions, instance types, Kubernetes versions. Data, with the day on which it was read.

use serde::{Deserialize, Serialize};

use crate::nearest::nearest;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    pub provider: String,
    /// As people call it: `AWS`.
    pub title: String,
    /// The day on which this was true.
    pub as_of: String,
    pub regions: Vec<Region>,
    pub instance_types: Vec<InstanceType>,
    pub kubernetes_versions: Vec<KubernetesVersion>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    pub id: String,
    /// Where it is.
    pub title: String,
    pub zones: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceType {
    pub id: String,
    pub vcpus: u32,
    pub memory_gib: f64,
    /// `amd64` or `arm64`.
    #[serde(default = "amd64")]
    pub architecture: String,
    /// Where it is not to be had everywhere: the regions that have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_in: Vec<String>,
}

fn amd64() -> String {
    "amd64".into()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KubernetesVersion {
    pub id: String,
    /// New clusters should have this one.
    #[serde(default)]
    pub default: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    #[error("the catalogue cannot be read: {0}")]
    Unreadable(String),
    #[error("the catalogue of {provider} has {what} {id:?} twice")]
    Twice { provider: String, what: &'static str, id: String },
}

/// Something that the catalogue does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub reason: String,
    pub suggestion: String,
}

/// How many are named where nothing is near.
const SHOWN: usize = 5;

impl Catalogue {
    pub fn read(yaml: &str) -> Result<Catalogue, CatalogueError> {
        let catalogue: Catalogue =
            serde_saphyr::from_str(yaml).map_err(|problem| CatalogueError::Unreadable(problem.to_string()))?;
        for (what, ids) in catalogue.ids() {
            let mut seen = std::collections::HashSet::new();
            if let Some(id) = ids.into_iter().find(|id| !seen.insert(*id)) {
                return Err(CatalogueError::Twice { provider: catalogue.provider.clone(), what, id: id.to_owned() });
            }
        }
        Ok(catalogue)
    }

    fn ids(&self) -> [(&'static str, Vec<&str>); 3] {
        [
            ("the region", self.regions.iter().map(|region| region.id.as_str()).collect()),
            ("the instance type", self.instance_types.iter().map(|kind| kind.id.as_str()).collect()),
            ("the Kubernetes version", self.kubernetes_versions.iter().map(|version| version.id.as_str()).collect()),
        ]
    }

    pub fn region(&self, id: &str) -> Result<&Region, Missing> {
        let ids = self.regions.iter().map(|region| region.id.as_str());
        self.regions.iter().find(|region| region.id == id).ok_or_else(|| self.missing("region", id, ids))
    }

    pub fn instance_type(&self, id: &str, region: Option<&str>) -> Result<&InstanceType, Missing> {
        let here = |kind: &&InstanceType| {
            kind.only_in.is_empty() || region.is_none_or(|region| kind.only_in.iter().any(|only| only == region))
        };
        let ids = self.instance_types.iter().filter(here).map(|kind| kind.id.as_str());
        match self.instance_types.iter().find(|kind| kind.id == id) {
            None => Err(self.missing("instance type", id, ids)),
            Some(kind) if !here(&kind) => Err(Missing {
                reason: format!("{} has {id:?} only in {}", self.title, kind.only_in.join(", ")),
                suggestion: self.like(kind, ids),
            }),
            Some(kind) => Ok(kind),
        }
    }

    pub fn kubernetes_version(&self, id: &str) -> Result<&KubernetesVersion, Missing> {
        let ids = self.kubernetes_versions.iter().map(|version| version.id.as_str());
        let found = self.kubernetes_versions.iter().find(|version| version.id == id);
        found.ok_or_else(|| self.missing("Kubernetes version", id, ids))
    }

    pub fn default_version(&self) -> Option<&str> {
        let chosen = self.kubernetes_versions.iter().find(|version| version.default);
        chosen.or(self.kubernetes_versions.first()).map(|version| version.id.as_str())
    }

    fn missing<'c>(&self, what: &str, id: &str, ids: impl Iterator<Item = &'c str>) -> Missing {
        Missing {
            reason: format!("{id:?} is no {what} of {}, as of {}", self.title, self.as_of),
            suggestion: suggested(id, ids),
        }
    }

    /// Another instance type of the same size that is to be had.
    fn like<'c>(&self, kind: &InstanceType, ids: impl Iterator<Item = &'c str>) -> String {
        let same = |id: &&str| {
            self.instance_types
                .iter()
                .any(|other| other.id == *id && other.vcpus == kind.vcpus && other.architecture == kind.architecture)
        };
        let like: Vec<&str> = ids.filter(same).take(SHOWN).collect();
        if like.is_empty() {
            "choose another region or type".into()
        } else {
            format!("of the same size: {}", like.join(", "))
        }
    }
}

fn suggested<'c>(id: &str, ids: impl Iterator<Item = &'c str>) -> String {
    let ids: Vec<&str> = ids.collect();
    let near = nearest(id, &ids);
    if near.is_empty() {
        let more = if ids.len() > SHOWN { ", …" } else { "" };
        return format!("for instance {}{more}", ids[..ids.len().min(SHOWN)].join(", "));
    }
    format!("did you mean {}?", near.join(" or "))
}
