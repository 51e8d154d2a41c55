//! The providers that can be simulated: those built in, each a file of schemas and a file of conduct, and any other of
//! which there is a dump of its schemas.

use std::{fs, io, path::Path};

use crate::{
    conduct::ProviderConduct,
    schema::{self, DumpError, ProviderSchema, TextError},
};

/// A provider to play.
pub struct Provider {
    pub schema: ProviderSchema,
    pub conduct: ProviderConduct,
}

#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("there is no provider {name:?}; built in are {}", names().join(", "))]
    NoProvider { name: String },
    #[error("the schemas of {provider} are malformed")]
    Schemas { provider: String, source: TextError },
    #[error("the conduct of {provider} is malformed")]
    Conduct { provider: String, source: toml::de::Error },
    #[error("{file} cannot be read")]
    Unreadable { file: String, source: io::Error },
    #[error("{file} is no dump of schemas")]
    Dump { file: String, source: DumpError },
}

macro_rules! built_in {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../catalogue/", $name, ".schema")), include_str!(concat!("../catalogue/", $name, ".toml")))),*]
    };
}

/// Name, schemas, conduct.
const BUILT_IN: [(&str, &str, &str); 8] =
    built_in!("aws", "azurerm", "cloudsim", "digitalocean", "google", "helm", "kubernetes", "linode");

pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, ..)| *name).collect()
}

/// A provider by its name; or, as `FILE#SOURCE`, one of those in a dump.
pub fn provider(name: &str) -> Result<Provider, CatalogueError> {
    if let Some((file, source)) = name.split_once('#') {
        let mut schemas = dump(Path::new(file))?.into_iter();
        let schema = schemas.find(|schema| schema.source == source);
        let schema = schema.ok_or_else(|| CatalogueError::NoProvider { name: name.to_owned() })?;
        // What is known of a cloud by hand holds for its other types too.
        let conduct = if names().contains(&schema.name()) { provider(schema.name())?.conduct } else { generic() };
        return Ok(Provider { schema, conduct });
    }
    let found = BUILT_IN.iter().find(|(known, ..)| *known == name);
    let (_, schemas, conduct) = found.ok_or_else(|| CatalogueError::NoProvider { name: name.to_owned() })?;
    let provider = name.to_owned();
    Ok(Provider {
        schema: schema::read_text(schemas)
            .map_err(|source| CatalogueError::Schemas { provider: provider.clone(), source })?,
        conduct: toml::from_str(conduct).map_err(|source| CatalogueError::Conduct { provider, source })?,
    })
}

/// The providers of a dump.
pub fn dump(file: &Path) -> Result<Vec<ProviderSchema>, CatalogueError> {
    let name = || file.display().to_string();
    let bytes = fs::read(file).map_err(|source| CatalogueError::Unreadable { file: name(), source })?;
    schema::read_dump(&bytes).map_err(|source| CatalogueError::Dump { file: name(), source })
}

/// Of a cloud of which nothing is known but its schemas.
fn generic() -> ProviderConduct {
    let mut conduct = ProviderConduct::default();
    conduct.provider.nobody = Some("default".to_owned());
    conduct.provider.error = "{doing} {noun}: {error}".to_owned();
    conduct.provider.exists = "AlreadyExists: {noun} {id} already exists".to_owned();
    conduct.provider.missing = "NotFound: {noun} {id} does not exist".to_owned();
    conduct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conduct::reference;

    #[test]
    fn every_provider_can_be_read_and_its_conduct_speaks_of_types_and_attributes_it_has() {
        for name in names() {
            let Provider { schema, conduct } = provider(name).unwrap();
            assert_eq!(schema.name(), name);
            assert_eq!(
                schema::write_text(&schema::read_text(&schema::write_text(&schema)).unwrap()),
                schema::write_text(&schema)
            );
            for (r#type, conduct) in &conduct.resource {
                let Some(described) = schema.resources.get(r#type) else { panic!("{name} has no resource {type}") };
                let paths = conduct.replaces.iter().chain(&conduct.renewed).chain(&conduct.unique);
                let paths =
                    paths.chain(conduct.needs.keys()).chain(conduct.holds.keys()).chain(conduct.defaults.keys());
                let paths = paths.chain(conduct.values.keys()).chain(conduct.blocks.keys());
                for path in paths.chain(conduct.rules.iter().map(|rule| &rule.attribute)) {
                    let top = path.split('.').next().unwrap();
                    assert!(described.block.has(top), "{type} has no {path}");
                }
                for target in conduct.needs.values().chain(conduct.holds.values()) {
                    let (target, attributes) = reference(target);
                    let Some(target) = schema.resources.get(target) else { panic!("{type} refers to {target}") };
                    for attribute in attributes {
                        assert!(target.block.has(attribute), "{type} refers to an attribute {attribute}");
                    }
                }
            }
            for (r#type, conduct) in &conduct.data {
                let Some(described) = schema.data_sources.get(r#type) else { panic!("{name} has no data {type}") };
                for path in conduct.values.keys() {
                    assert!(described.block.has(path), "data {type} has no {path}");
                }
                assert!(conduct.of.as_ref().is_none_or(|of| schema.resources.contains_key(of)), "data {type}");
            }
        }
    }
}
