//! How Kubernetes may be upgraded: by one minor version at a time, and never back.

use crate::{provider::Request, value, world::Action};

use super::Refusal;

/// Major and minor version.
fn minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Refuses an update that skips a minor version or goes back. `says` is what the cloud says, by what was and what is
/// wished.
pub fn check(request: &Request<'_>, path: &str, says: impl Fn(&str, &str) -> String) -> Result<(), Refusal> {
    if request.action != Action::Update {
        return Ok(());
    }
    let id = value::text(request.values, "id");
    let objects = request.objects(request.resource.name)?;
    let Some(before) = objects.iter().find(|object| object.id == id) else { return Ok(()) };
    let (was, wished) = (value::text(&before.attributes, path), value::text(request.values, path));
    match (minor(was), minor(wished)) {
        (Some((major, was_minor)), Some((wished_major, wished_minor)))
            if major != wished_major || wished_minor < was_minor || wished_minor > was_minor + 1 =>
        {
            Err(Refusal::Said(says(was, wished)))
        }
        _ => Ok(()),
    }
}
