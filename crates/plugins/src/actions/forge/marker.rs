//! Markers: what a run carries so that it can be found when the answer to its dispatch is lost.

use model::plugin::Call;

const FIRST_WORD: &str = "terrane-";

/// The nonce makes it unique among all installations that share a repository.
pub(super) fn marker(call: &Call, nonce: &str) -> String {
    format!("{FIRST_WORD}{}-{}-{}-{nonce}", call.resource.tenant, call.resource.name, call.operation.id)
}

/// Whether a text shows this marker, and not merely a longer one that begins or ends with it.
pub(crate) fn carries(text: &str, marker: &str) -> bool {
    let part_of_a_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(marker).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + marker.len()..].chars().next();
        !before.is_some_and(part_of_a_word) && !after.is_some_and(part_of_a_word)
    })
}

/// Whether a text shows some marker, be it another dispatch's.
pub(crate) fn looks_like_one(text: &str) -> bool {
    text.contains(FIRST_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_as_a_whole_word_only() {
        assert!(carries("Deploy (terrane-default-pg-7-ab)", "terrane-default-pg-7-ab"));
        assert!(carries("terrane-default-pg-7-ab", "terrane-default-pg-7-ab"));
        assert!(!carries("Deploy terrane-default-pg-7-abc", "terrane-default-pg-7-ab"));
        assert!(!carries("Deploy xterrane-default-pg-7-ab", "terrane-default-pg-7-ab"));
        assert!(!carries("Deploy", "terrane-default-pg-7-ab"));
    }
}
