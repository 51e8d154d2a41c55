//! The catalogue against the schemas that it was made from.

use std::{error::Error, fs, io::Write, path::Path};

use crate::{catalogue, schema, schema::ProviderSchema};

#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{0} of what the catalogue says is not so")]
    Differences(usize),
    #[error("{0} has no dump that the catalogue could be checked against")]
    Nothing(String),
    #[error("the dump describes {0} providers, and not one")]
    NotOne(usize),
}

/// Prints each difference, and fails if there is one.
pub fn run(dir: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut dumps = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            dumps.extend(catalogue::dump(&path)?);
        }
    }
    let (mut checked, mut found) = (0, 0);
    for name in catalogue::names() {
        let ours = catalogue::provider(name)?.schema;
        let Some(theirs) = dumps.iter().find(|dump| dump.source == ours.source) else { continue };
        let differences = schema::differences(&ours, theirs);
        for difference in &differences {
            writeln!(out, "{difference}")?;
        }
        let (resources, data) = (ours.resources.len(), ours.data_sources.len());
        let count = differences.len();
        writeln!(out, "{name} {}: {resources} resources, {data} data sources, {count} differences", ours.version)?;
        checked += 1;
        found += differences.len();
    }
    match (checked, found) {
        (0, _) => Err(CheckError::Nothing(dir.display().to_string()).into()),
        (_, 0) => Ok(()),
        (_, found) => Err(CheckError::Differences(found).into()),
    }
}

/// Prints a catalogue file with the types that are listed.
pub fn select(from: &Path, types: &Path, release: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let dumps = catalogue::dump(from)?;
    let [provider]: [ProviderSchema; 1] = dumps.try_into().map_err(|dumps: Vec<_>| CheckError::NotOne(dumps.len()))?;
    let selected = schema::select(&provider, &listed(&fs::read_to_string(types)?), release)?;
    Ok(out.write_all(schema::write_text(&selected).as_bytes())?)
}

/// Names of types; of those in a catalogue file, if it is one.
fn listed(text: &str) -> Vec<String> {
    match schema::read_text(text) {
        Ok(catalogue) if !catalogue.source.is_empty() => {
            let data_sources = catalogue.data_sources.into_keys().map(|name| format!("data.{name}"));
            catalogue.resources.into_keys().chain(data_sources).collect()
        }
        _ => text.split_whitespace().map(str::to_owned).collect(),
    }
}
