//! The part of an error that a person needs: providers wrap the answer of a cloud in what they called, where, how often
//! and under which request number.

use super::facts::after;

pub(super) const LONGEST: usize = 300;

/// The innermost message, without its wrapping.
pub(super) fn of(plain: &str) -> String {
    let mut text = plain.strip_prefix("Error: ").unwrap_or(plain);
    for mark in
        ["api error ", "-- Original Error: ", "with error: ", "googleapi: Error ", "rpc error: code = Unknown desc = "]
    {
        if let Some(rest) = after(text, mark) {
            text = rest;
        }
    }
    let text = match (quoted(text, "Code=\""), quoted(text, "Message=\"")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        _ => text.to_owned(),
    };
    let text = without_request(&without_call(&without_status(&text)));
    let end = [
        " Details: [",
        " More details:",
        " For more information",
        ", status code: ",
        " status code: ",
        ", for more information",
        " Encoded authorization failure message",
        " - to be managed via Terraform",
        " Please visit http",
        " View and manage quotas",
        " Please see ",
    ]
    .iter()
    .filter_map(|mark| text.find(mark))
    .min();
    let text = without_reason(text[..end.unwrap_or(text.len())].trim());
    cut(text.trim_end_matches(['.', ',', ':', '-']), LONGEST)
}

/// At a word's end, where there is one.
pub(super) fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(longest);
    let end = text[..end].rfind(' ').filter(|space| *space > longest / 2).unwrap_or(end);
    format!("{}…", text[..end].trim_end_matches([',', ';', '.', ' ']))
}

fn quoted<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let rest = after(text, mark)?;
    Some(&rest[..rest.find('"').unwrap_or(rest.len())])
}

/// `403: Permission denied, forbidden` begins with what the class says already.
fn without_status(text: &str) -> String {
    match text.split_once(": ") {
        Some((status, rest)) if status.len() == 3 && status.chars().all(|c| c.is_ascii_digit()) => rest.to_owned(),
        _ => text.to_owned(),
    }
}

/// `creating X: operation error IAM: CreateRole, https response error StatusCode: 409, RequestID: 4, text`: the text. And
/// `Error creating a Linode Instance: [400] text`: likewise.
fn without_call(text: &str) -> String {
    if let Some(rest) = after(text, "response error StatusCode: ") {
        let numbered = rest.split_once("RequestID: ").map_or(rest, |(_, rest)| rest);
        return numbered.split_once(", ").map_or(text, |(_, rest)| rest).to_owned();
    }
    match text.split_once(": [") {
        Some((_, rest)) if rest.get(3..5) == Some("] ") && rest.starts_with(|c: char| c.is_ascii_digit()) => {
            rest[5..].to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Google ends a sentence with its reason in one word: `It is unavailable., backendError`.
fn without_reason(text: &str) -> &str {
    match text.rsplit_once("., ") {
        Some((sentence, reason)) if !reason.contains(' ') => sentence,
        _ => text,
    }
}

/// `POST https://api.digitalocean.com/v2/droplets: 422 (request "4f…") text`: the text.
fn without_request(text: &str) -> String {
    match text.split_once("(request \"").and_then(|(_, rest)| rest.split_once("\") ")) {
        Some((_, rest)) => rest.to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_called_and_how_is_left_out() {
        for (text, gist) in [
            (
                "creating EC2 VPC: operation error EC2: CreateVpc, https response error StatusCode: 400, RequestID: 1f, api error VpcLimitExceeded: The maximum number of VPCs has been reached.",
                "VpcLimitExceeded: The maximum number of VPCs has been reached",
            ),
            (
                "Error creating Network: googleapi: Error 409: The resource 'x' already exists, alreadyExists",
                "The resource 'x' already exists, alreadyExists",
            ),
            (
                "network.SubnetsClient#Delete: Failure sending request: StatusCode=400 -- Original Error: Code=\"InUseSubnetCannotBeDeleted\" Message=\"Subnet a is in use by b.\" Details=[]",
                "InUseSubnetCannotBeDeleted: Subnet a is in use by b",
            ),
            ("POST https://api.digitalocean.com/v2/droplets: 422 (request \"4f\") size is invalid", "size is invalid"),
            ("Error creating a Linode Instance: [400] [type] no such plan", "[type] no such plan"),
            (
                "creating IAM Role: operation error IAM: CreateRole, https response error StatusCode: 409, RequestID: 4, EntityAlreadyExists: it is there",
                "EntityAlreadyExists: it is there",
            ),
            (
                "VpcLimitExceeded: full\tstatus code: 400, request id: 7".replace('\t', " ").as_str(),
                "VpcLimitExceeded: full",
            ),
        ] {
            assert_eq!(of(text), gist);
        }
    }

    #[test]
    fn a_long_text_is_cut_at_a_word() {
        let text = cut(&"läng ".repeat(200), LONGEST);
        assert!(text.len() <= LONGEST + 3 && text.ends_with("läng…"), "{text}");
    }
}
