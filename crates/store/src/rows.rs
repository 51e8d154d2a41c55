//! Many rows as one argument: `Dialect::rows` makes rows of it again.

use serde::Serialize;

pub(crate) fn json(value: &impl Serialize) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// The rows as one list.
pub(crate) fn list<T: Serialize>(rows: &[T]) -> Result<String, sqlx::Error> {
    Ok(without_nul(json(&rows)?))
}

/// Large ones go in several: the database and this process hold each as a whole.
const BYTES: usize = 1 << 20;

/// The rows as lists of JSON objects, in their order.
pub(crate) fn lists<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Result<Vec<String>, sqlx::Error> {
    let mut lists: Vec<String> = Vec::new();
    for row in rows {
        let row = without_nul(json(&row)?);
        match lists.last_mut() {
            Some(list) if list.len() + row.len() < BYTES => {
                list.push(',');
                list.push_str(&row);
            }
            _ => lists.push(format!("[{row}")),
        }
    }
    lists.iter_mut().for_each(|list| list.push(']'));
    Ok(lists)
}

/// PostgreSQL's texts cannot hold the character 0, which JSON writes as an escape: it becomes the replacement character.
fn without_nul(json: String) -> String {
    const NUL: &str = "\\u0000";
    if !json.contains(NUL) {
        return json;
    }
    let mut clean = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        clean.push_str(before);
        let width = if escape.starts_with(NUL) { NUL.len() } else { 2 };
        clean.push_str(if width == 2 { &escape[..2] } else { "\\ufffd" });
        rest = &escape[width..];
    }
    clean + rest
}
