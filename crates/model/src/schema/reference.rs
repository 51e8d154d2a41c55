//! `$ref`, which may only name a part of the same schema: a schema that had to be fetched could change after it was admitted.

/// The JSON pointer that a local reference stands for, in the one spelling that the reader files places under.
pub(super) fn pointer(reference: &str) -> Result<String, &'static str> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err("a reference within this schema (\"#/…\"): no other document is read");
    };
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return Err("a reference by JSON pointer (\"#/…\"): there are no anchors");
    }
    let decoded = decode(fragment).ok_or("a reference whose %-escapes are UTF-8")?;
    Ok(normal(&decoded))
}

/// RFC 6901 lets `~` stand only before 0 and 1; anything else is left to not be found.
fn normal(pointer: &str) -> String {
    pointer
        .split('/')
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
        .map(|name| name.replace('~', "~0").replace('/', "~1"))
        .collect::<Vec<_>>()
        .join("/")
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                bytes.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
                after
            }
            (b'%', _) => return None,
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    String::from_utf8(bytes).ok()
}
