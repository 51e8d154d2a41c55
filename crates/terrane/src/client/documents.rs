//! The files that users write: YAML or JSON, several documents in each, and nothing in them trusted to be small or flat.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value};

use super::failure::Failure;

/// No honest file is larger.
const LARGEST_FILE: u64 = 64 * 1024 * 1024;
const MOST_DOCUMENTS: usize = 10_000;

#[derive(Debug, Clone, Args)]
pub struct Files {
    /// A file (YAML or JSON), a folder, or - for standard input; may be given several times
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", required = true)]
    pub filename: Vec<PathBuf>,
    /// Go into the folders' folders too
    #[arg(short = 'R', long)]
    pub recursive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    ResourceType,
    Resource,
}

/// One thing that somebody declares: the API's own body.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file, and which of its documents.
    pub origin: String,
    pub kind: Kind,
    pub body: Map<String, Value>,
}

/// Fields of an object that are the server's to say. They are in a file only where it was made with `get -o yaml`.
const SERVERS_FIELDS: [&str; 21] = [
    "id",
    "status",
    "status_message",
    "generation",
    "observed_generation",
    "created_at",
    "updated_at",
    "last_reconcile_time",
    "lifecycle",
    "conditions",
    "tenant",
    "resource_version",
    "deletion_requested_at",
    "reconcile_requested_at",
    "next_reconcile_at",
    "operation_id",
    "drift",
    "failure",
    "failures",
    "finalizers",
    "holds",
];

/// The part of an object that its owner decides.
pub fn owners_part(object: &Map<String, Value>) -> Map<String, Value> {
    let is_owners = |name: &String| !SERVERS_FIELDS.contains(&name.as_str());
    object.iter().filter(|(name, _)| is_owners(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl Document {
    pub fn text(&self, field: &str) -> &str {
        self.body.get(field).and_then(Value::as_str).unwrap_or("")
    }

    /// As `apply` names it.
    pub fn label(&self) -> String {
        match self.kind {
            Kind::ResourceType => format!("resourcetype/{}/{}", self.text("name"), self.text("version")),
            Kind::Resource => {
                format!("{}/{}", self.text("resource_type_name").to_ascii_lowercase(), self.text("name"))
            }
        }
    }

    fn new(origin: String, value: Value) -> Result<Document, Failure> {
        let expected = "expected a resource type (name, version, schema) or a resource (name, resource_type_name, \
                        resource_type_version, action_plugin, spec), or `kind: ResourceType` or `kind: Resource`";
        let Value::Object(mut body) = value else {
            return Err(Failure::invalid(format!("{origin}: not a mapping; {expected}")));
        };
        let kind = match body.remove("kind") {
            Some(Value::String(kind)) if kind == "ResourceType" => Kind::ResourceType,
            Some(Value::String(kind)) if kind == "Resource" => Kind::Resource,
            Some(other) => return Err(Failure::invalid(format!("{origin}: kind is {other}; {expected}"))),
            None if body.contains_key("schema") => Kind::ResourceType,
            None if body.contains_key("resource_type_name") => Kind::Resource,
            None => return Err(Failure::invalid(format!("{origin}: {expected}"))),
        };
        let wanted: &[&str] = match kind {
            Kind::ResourceType => &["name", "version"],
            Kind::Resource => &["name", "resource_type_name"],
        };
        for field in wanted {
            if !body.get(*field).is_some_and(Value::is_string) {
                return Err(Failure::invalid(format!("{origin}: {field} is missing or not a text; {expected}")));
            }
        }
        if body.contains_key("id") && body.contains_key("resource_version") {
            body = owners_part(&body);
        }
        Ok(Document { origin, kind, body })
    }
}

/// All documents of all files: types first, otherwise in order.
pub fn read_all(files: &Files) -> Result<Vec<Document>, Failure> {
    let mut documents = vec![];
    for path in &files.filename {
        if path == Path::new("-") {
            documents.extend(parse("standard input", &text_of("standard input", io::stdin().lock())?, false)?);
            continue;
        }
        for path in files_at(path, files.recursive)? {
            let name = path.display().to_string();
            let file = fs::File::open(&path).map_err(|error| unreadable(&name, &error))?;
            let is_json = path.extension().is_some_and(|extension| extension == "json");
            documents.extend(parse(&name, &text_of(&name, file)?, is_json)?);
        }
    }
    if documents.is_empty() {
        return Err(Failure::invalid("there is nothing in the files given"));
    }
    documents.sort_by_key(|document| document.kind);
    Ok(documents)
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot read {name}: {error}"))
}

fn text_of(name: &str, source: impl Read) -> Result<String, Failure> {
    let mut text = String::new();
    source.take(LARGEST_FILE + 1).read_to_string(&mut text).map_err(|error| unreadable(name, &error))?;
    if text.len() as u64 > LARGEST_FILE {
        return Err(Failure::invalid(format!("{name}: larger than {} MiB", LARGEST_FILE / 1024 / 1024)));
    }
    Ok(text)
}

fn files_at(path: &Path, recursive: bool) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = vec![];
    collect(path, recursive, &mut found).map_err(|error| unreadable(&path.display().to_string(), &error))?;
    if found.is_empty() {
        let more = if recursive { "" } else { "; -R looks into its folders too" };
        return Err(Failure::usage(format!("no .yaml, .yml or .json file in {}{more}", path.display())));
    }
    found.sort();
    Ok(found)
}

fn collect(dir: &Path, recursive: bool, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        // Linked folders are not followed: they could lead round in a circle.
        if entry.file_type()?.is_dir() {
            if recursive {
                collect(&path, recursive, found)?;
            }
        } else if path.is_file()
            && path.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known))
        {
            found.push(path);
        }
    }
    Ok(())
}

fn parse(name: &str, text: &str, is_json: bool) -> Result<Vec<Document>, Failure> {
    let values = match json_values(text) {
        Ok(values) => values,
        Err(error) if is_json => {
            return Err(Failure::invalid(format!("{name}: not JSON: {error}")));
        }
        // YAML says `{` too; its parser has the last word.
        Err(_) => yaml_values(name, text)?,
    };
    let values = values.into_iter().flat_map(|value| match value {
        Value::Array(items) => items,
        other => vec![other],
    });
    values.enumerate().map(|(index, value)| Document::new(format!("{name}, document {}", index + 1), value)).collect()
}

fn json_values(text: &str) -> serde_json::Result<Vec<Value>> {
    serde_json::Deserializer::from_str(text).into_iter().collect()
}

fn yaml_values(name: &str, text: &str) -> Result<Vec<Value>, Failure> {
    let options = serde_saphyr::options! {
        // `country: NO` is Norway.
        strict_booleans: true,
        with_snippet: false,
        non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::Reject,
        budget: serde_saphyr::budget! {
            max_documents: MOST_DOCUMENTS,
        },
    };
    serde_saphyr::from_multiple_with_options(text, options).map_err(|error| {
        let place = match error.location() {
            Some(at) => format!("{name}, line {}, column {}", at.line(), at.column()),
            None => name.to_string(),
        };
        let what = error.without_snippet().to_string();
        // The parser names the place as well, in its own words.
        let what = what.split(" at line ").next().unwrap_or(&what);
        Failure::invalid(format!("{place}: not YAML: {what}"))
    })
}
