//! Takes a few types out of a provider: how the catalogue is made from a dump.

use super::ProviderSchema;

#[derive(Debug, thiserror::Error)]
#[error("{provider} has no {name}")]
pub struct SelectError {
    provider: String,
    name: String,
}

/// The provider with these types alone: `aws_vpc` is a resource, `data.aws_vpc` a data source. Those of other providers
/// are passed over.
pub fn select(provider: &ProviderSchema, names: &[String], version: &str) -> Result<ProviderSchema, SelectError> {
    let mut selected = ProviderSchema {
        source: provider.source.clone(),
        version: version.to_owned(),
        config: provider.config.clone(),
        ..ProviderSchema::default()
    };
    let prefix = format!("{}_", provider.name());
    for name in names {
        let (plain, all, selected) = match name.strip_prefix("data.") {
            Some(plain) => (plain, &provider.data_sources, &mut selected.data_sources),
            None => (name.as_str(), &provider.resources, &mut selected.resources),
        };
        if !plain.starts_with(&prefix) {
            continue;
        }
        let schema = all.get(plain).cloned();
        let missing = || SelectError { provider: provider.source.clone(), name: name.clone() };
        selected.insert(plain.to_owned(), schema.ok_or_else(missing)?);
    }
    Ok(selected)
}
