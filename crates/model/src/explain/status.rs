//! The HTTP status that a provider passes on, each in its own notation: `Error 403`, `StatusCode=409`, `: 422 `, `[400]`.

use super::text::Text;

/// The first status of 400 or more that is one.
pub(super) fn of(text: &Text) -> Option<u16> {
    let folded = text.folded();
    let mut from = 0;
    while let Some(found) = folded[from..].find(|c: char| c.is_ascii_digit()) {
        let start = from + found;
        let length = folded[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(folded.len() - start);
        let end = start + length;
        if length == 3
            && let Ok(status @ 400..=599) = folded[start..end].parse::<u16>()
            && is_status(&folded[..start], &folded[end..])
        {
            return Some(status);
        }
        from = end;
    }
    None
}

const BEFORE: [&str; 12] = [
    "error",
    "statuscode",
    "status code",
    "status",
    "http",
    "http/1.1",
    "http/2",
    "http/2.0",
    "code",
    "url",
    "response",
    "returned",
];

const AFTER: [&str; 14] = [
    "bad request",
    "unauthorized",
    "forbidden",
    "not found",
    "conflict",
    "precondition failed",
    "unprocessable",
    "locked",
    "too many requests",
    "internal server error",
    "bad gateway",
    "service unavailable",
    "gateway time",
    "request timeout",
];

fn is_status(before: &str, after: &str) -> bool {
    if before.ends_with('[') && after.starts_with(']') {
        return true;
    }
    if before.ends_with(|c: char| c.is_alphanumeric() || ".-_".contains(c)) {
        return false;
    }
    let lead = before.trim_end_matches([' ', ':', '=', '(', '"', '\'', '#']);
    let follow = after.trim_start_matches([' ', ':', ',', '-']);
    let led = BEFORE.iter().any(|word| {
        lead.strip_suffix(word).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    ends && (led || AFTER.iter().any(|word| follow.starts_with(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_providers_notation_is_read() {
        for (text, status) in [
            ("googleapi: Error 403: no", Some(403)),
            ("StatusCode=409 -- Original Error", Some(409)),
            ("\tstatus code: 400, request id: 1f", Some(400)),
            ("https response error StatusCode: 503, RequestID: 5", Some(503)),
            ("POST https://api.digitalocean.com/v2/droplets: 422 (request \"4f\") no", Some(422)),
            ("[400] [type] no such plan", Some(400)),
            ("unexpected status 412 (412 Precondition Failed) with error", Some(412)),
            ("HTTP/1.1 502 Bad Gateway", Some(502)),
            ("429 Too Many Requests", Some(429)),
            ("needs 500 addresses, vpc-0400, port 443, 10.0.0.404", None),
            ("StatusCode: 0, RequestID: , 404s", None),
        ] {
            assert_eq!(of(&Text::of(text)), status, "{text}");
        }
    }
}
