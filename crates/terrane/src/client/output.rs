//! The forms in which objects are shown.

use clap::ValueEnum;
use serde_json::Value;

use super::failure::Failure;
use super::print;
use super::table::Table;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    /// A table with more columns
    Wide,
    Json,
    /// Documents that `apply` takes again
    Yaml,
    /// TYPE/NAME alone, for other commands
    Name,
}

impl Format {
    pub fn is_table(self) -> bool {
        matches!(self, Format::Table | Format::Wide)
    }
}

/// How a kind of object is laid out.
pub struct Layout {
    pub header: &'static [&'static str],
    /// The further columns of `-o wide`.
    pub wide: &'static [&'static str],
    /// Columns that come last in either.
    pub tail: &'static [&'static str],
    /// One for each column, those of `wide` included.
    pub cells: fn(&Value) -> Result<Vec<String>, Failure>,
    pub name: fn(&Value) -> String,
    /// What to say where there are none.
    pub none: &'static str,
}

impl Layout {
    pub fn table(&self, format: Format) -> Table {
        let wide = if format == Format::Wide { self.wide } else { &[] };
        Table::new(&[self.header, wide, self.tail].concat())
    }

    pub fn row(&self, format: Format, object: &Value) -> Result<Vec<String>, Failure> {
        let mut cells = (self.cells)(object)?;
        if format != Format::Wide {
            cells.drain(self.header.len()..self.header.len() + self.wide.len());
        }
        Ok(cells)
    }

    pub fn show(&self, format: Format, objects: &[Value]) -> Result<(), Failure> {
        match format {
            Format::Json => print::json(objects),
            Format::Yaml => objects.iter().try_for_each(document),
            Format::Name => objects.iter().try_for_each(|object| print::line(&(self.name)(object))),
            Format::Table | Format::Wide if objects.is_empty() => {
                print::note(self.none);
                Ok(())
            }
            Format::Table | Format::Wide => {
                let mut table = self.table(format);
                for object in objects {
                    table.row(self.row(format, object)?);
                }
                table.print()
            }
        }
    }

    /// One object that was asked for by name: not a list of one.
    pub fn show_one(&self, format: Format, object: &Value) -> Result<(), Failure> {
        match format {
            Format::Json => print::json(object),
            Format::Yaml => print::yaml(object),
            _ => self.show(format, std::slice::from_ref(object)),
        }
    }
}

/// One of several YAML documents.
pub fn document(object: &Value) -> Result<(), Failure> {
    print::raw(&format!("---\n{}", print::yaml_text(object)?))
}

/// A time, or a dash.
pub fn age_or_dash(time: Option<jiff::Timestamp>) -> String {
    time.map_or("-".into(), super::time::age)
}

pub fn text_of(object: &Value, field: &str) -> String {
    object.get(field).and_then(Value::as_str).unwrap_or("").to_string()
}

/// `env=prod,tier=db`
pub fn pairs(labels: &model::Labels) -> String {
    let pairs: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if pairs.is_empty() { "-".into() } else { pairs.join(",") }
}
