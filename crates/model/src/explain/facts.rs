//! Facts picked out of an error's text: numbers, names and places. Everything here answers none rather than guesses.

/// What follows `mark`, whatever its case.
pub(super) fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let at = text.to_ascii_lowercase().find(&mark.to_ascii_lowercase())?;
    text.get(at + mark.len()..)
}

/// What follows the first of these that is there.
pub(super) fn after_any<'t>(text: &'t str, marks: &[&str]) -> Option<&'t str> {
    marks.iter().find_map(|mark| after(text, mark))
}

/// What stands between the two.
pub(super) fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let rest = after(text, start)?;
    let at = rest.to_ascii_lowercase().find(&end.to_ascii_lowercase())?;
    Some(rest[..at].trim()).filter(|found| !found.is_empty())
}

const OPENING: [char; 7] = [' ', ':', '=', '"', '\'', '(', '\\'];

/// The number that the text begins with, as it is written; `12.0` is 12.
pub(super) fn number(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(OPENING);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let digits = text[..end].trim_end_matches('.');
    let whole = digits.strip_suffix(".0").unwrap_or(digits);
    whole.starts_with(|c: char| c.is_ascii_digit()).then_some(whole)
}

/// The word that the text begins with, out of its quotes.
pub(super) fn word(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(OPENING);
    let end = text.find(|c: char| c.is_whitespace() || "\"',;()\\".contains(c)).unwrap_or(text.len());
    Some(text[..end].trim_end_matches([':', '.'])).filter(|word| !word.is_empty())
}

/// Up to the end of the sentence.
pub(super) fn clause(text: &str) -> &str {
    let text = text.trim_start_matches([' ', ':']);
    let end = [". ", "; ", ", status code", " status code", "\n"].iter().filter_map(|mark| text.find(mark)).min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

/// In seconds.
pub(super) fn retry_after(text: &str) -> Option<u64> {
    let marks = [
        "retry-after",
        "retry after",
        "retryafter",
        "retry in",
        "again in",
        "again after",
        "retrydelay",
        "please wait",
    ];
    marks.iter().find_map(|mark| {
        let rest = after(text, mark)?;
        let digits = number(rest)?;
        let unit = after(rest, digits)?.trim_start_matches(['"', '\'', ' ']);
        let seconds = digits.split('.').next()?.parse::<u64>().ok()?;
        let minutes = unit.starts_with("min") || unit.starts_with("m ") || unit == "m";
        let hours = unit.starts_with("hour");
        Some(seconds.saturating_mul(if hours {
            3600
        } else if minutes {
            60
        } else {
            1
        }))
    })
}

/// A region or a zone.
pub(super) fn place(text: &str) -> Option<&str> {
    let named = || {
        let rest =
            after_any(text, &["location: ", "in location ", "location '", "in region ", "for region ", "region: "])?;
        word(rest).filter(|place| place.len() > 2 && !["the", "this", "your"].contains(place))
    };
    tokens(text).find(|token| is_place(token)).or_else(named)
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .flat_map(|token| if token.contains("://") { "" } else { token }.split(".amazonaws"))
        .map(|token| token.trim_matches(['.', '-', '_']))
        .map(|token| token.rsplit_once('.').map_or(token, |(_, last)| if is_place(last) { last } else { token }))
        .filter(|token| !token.is_empty())
}

fn is_place(token: &str) -> bool {
    const AWS: [&str; 11] = ["us", "eu", "ap", "sa", "ca", "me", "af", "il", "cn", "mx", "us-gov"];
    const GCP: [&str; 8] = ["us", "europe", "asia", "northamerica", "southamerica", "australia", "me", "africa"];
    let parts: Vec<&str> = token.split('-').collect();
    let numbered = |part: &str| part.len() > 3 && part.ends_with(|c: char| c.is_ascii_digit());
    match parts.as_slice() {
        [area, side, number] if AWS.contains(area) && side.chars().all(|c| c.is_ascii_lowercase()) => {
            let digits = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
            !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) && number.len() <= digits.len() + 1
        }
        ["us", "gov", _, number] => number.starts_with(|c: char| c.is_ascii_digit()),
        [area, side] | [area, side, _] if GCP.contains(area) => {
            numbered(side) && parts.get(2).is_none_or(|zone| zone.len() == 1)
        }
        _ => false,
    }
}

/// A type of machine: `t3.micro`, `n2-standard-4`, `Standard_D2s_v3`, `s-2vcpu-4gb`, `g6-standard-2`.
pub(super) fn size(text: &str) -> Option<&str> {
    tokens(text).find(|token| {
        let aws = token.split_once('.').is_some_and(|(family, size)| {
            family.len() < 12
                && ["nano", "micro", "small", "medium", "metal"].contains(&size)
                || size.ends_with("large") && family.starts_with(|c: char| c.is_ascii_alphabetic())
        });
        let azure = token.starts_with("Standard_") && token.contains(|c: char| c.is_ascii_digit());
        let parts: Vec<&str> = token.split('-').collect();
        let gcp = matches!(parts.as_slice(), [family, kind, count]
            if family.contains(|c: char| c.is_ascii_digit()) && count.ends_with(|c: char| c.is_ascii_digit())
                && ["standard", "highmem", "highcpu", "megamem", "highgpu", "ultragpu", "dedicated", "nanode"].contains(kind));
        let droplet = parts.len() >= 3 && parts.iter().any(|part| part.ends_with("vcpu")) && token.ends_with("gb");
        aws || azure || gcp || droplet
    })
}

/// Who could not be reached.
pub(super) fn host(text: &str) -> Option<&str> {
    let looked_up = || after(text, "lookup ").and_then(word).filter(|host| host.contains('.'));
    let in_url = || {
        let rest = after(text, "://")?;
        let end = rest.find(|c: char| c == '/' || c == '"' || c.is_whitespace() || c == '?').unwrap_or(rest.len());
        Some(rest[..end].trim_end_matches(':')).filter(|host| !host.is_empty())
    };
    let dialled = || after(text, "dial tcp ").and_then(word);
    let named = || {
        after_any(text, &["could not connect to ", "connect to host "]).and_then(word).filter(|host| host.contains('.'))
    };
    looked_up().or_else(in_url).or_else(dialled).or_else(named)
}

pub(super) fn request_id(text: &str) -> Option<&str> {
    let rest = after_any(
        text,
        &["request id: ", "requestid: ", "request-id: ", "correlation id: ", "(request \"", "x-ms-request-id: "],
    )?;
    word(rest).filter(|id| id.len() >= 8)
}

/// A provider's address and version, such as `hashicorp/aws 5.0.1`.
pub(super) fn provider(text: &str) -> Option<String> {
    let rest = after_any(
        text,
        &[
            "versions for provider ",
            "installing ",
            "importing ",
            "package for ",
            "from provider ",
            "a provider named ",
            "provider registry ",
            "provider ",
        ],
    )?;
    let name = word(rest).filter(|name| name.contains('/'))?;
    let version = word(after(rest, name)?)
        .map(|version| version.trim_start_matches('v'))
        .filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    let name = name.trim_start_matches("registry.terraform.io/").trim_start_matches("registry.opentofu.org/");
    Some(match version {
        Some(version) => format!("{name} {version}"),
        None => name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_hosts_zones_and_sentences() {
        assert_eq!(place("Post \"https://ec2.us-east-1.amazonaws.com/\": x"), Some("us-east-1"));
        assert_eq!(place("in the zone 'projects/p/zones/europe-west4-a'."), Some("europe-west4-a"));
        assert_eq!(place("Location: eastus, Current Limit: 10"), Some("eastus"));
        assert_eq!(place("Availability Zone (us-gov-west-1b)"), Some("us-gov-west-1b"));
        assert_eq!(place("a vpc-0a1b in me-and-you-2 of this region"), None);
    }

    #[test]
    fn sizes_of_all_clouds_are_found() {
        assert_eq!(size("sufficient p4d.24xlarge capacity"), Some("p4d.24xlarge"));
        assert_eq!(size("type 'n2-standard-4' in"), Some("n2-standard-4"));
        assert_eq!(size("size Standard_D2s_v3 is"), Some("Standard_D2s_v3"));
        assert_eq!(size("s-2vcpu-4gb."), Some("s-2vcpu-4gb"));
        assert_eq!(size("g6-dedicated-8"), Some("g6-dedicated-8"));
        assert_eq!(size("hello.small-town e.g. this"), None);
    }

    #[test]
    fn waiting_times_are_read_with_their_units() {
        assert_eq!(retry_after("Retry-After: 17"), Some(17));
        assert_eq!(retry_after("Please try again in 2 minutes."), Some(120));
        assert_eq!(retry_after("Please retry after '30' seconds"), Some(30));
        assert_eq!(retry_after("\"retryDelay\": \"9.5s\""), Some(9));
        assert_eq!(retry_after("please retry after a while"), None);
    }

    #[test]
    fn the_host_is_the_one_that_was_looked_up_or_called() {
        assert_eq!(
            host("dial tcp: lookup eks.us-east-1.amazonaws.com on 10.0.0.2:53: no such host"),
            Some("eks.us-east-1.amazonaws.com")
        );
        assert_eq!(
            host("Get \"https://api.linode.com/v4/x\": dial tcp 1.2.3.4:443: i/o timeout"),
            Some("api.linode.com")
        );
        assert_eq!(host("dial tcp 10.0.0.1:6443: connect: connection refused"), Some("10.0.0.1:6443"));
    }

    #[test]
    fn providers_are_named_without_the_usual_registry() {
        let text = "Error while installing hashicorp/aws v5.31.0: could not query provider registry for registry.terraform.io/hashicorp/aws";
        assert_eq!(provider(text).as_deref(), Some("hashicorp/aws 5.31.0"));
    }
}
