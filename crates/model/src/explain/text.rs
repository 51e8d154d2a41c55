//! What Terraform and its providers print, made comparable: without colours, frames and line breaks, and without what a
//! user may have named. A cluster called `quota-exceeded` must not decide what kind of failure it is.

use super::signs::NOISE;

/// No failure needs more than this to be recognised, and a provider may print megabytes.
const LONGEST: usize = 64 * 1024;

pub(super) struct Text {
    /// As it was printed, on one line.
    plain: String,
    /// The same in lower case, with addresses on the net and ARNs left out.
    folded: String,
}

impl Text {
    pub(super) fn of(raw: &str) -> Text {
        let plain = one_line(bounded(raw));
        let mut text = Text { folded: fold(&plain), plain };
        for phrase in NOISE {
            while let Some((start, end)) = text.at(phrase) {
                text.folded.replace_range(start..end, "");
            }
        }
        text
    }

    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    pub(super) fn folded(&self) -> &str {
        &self.folded
    }

    /// Whether it says this, in whole words. `*` at an end of a part lets the word go on there; ` .. ` stands for up to a
    /// dozen words. Hyphens and underscores belong to words: names have them. `&quota&exceeded` is one word, usually a code,
    /// with both in it, in this order.
    pub(super) fn says(&self, phrase: &str) -> bool {
        match phrase.strip_prefix('&') {
            Some(fragments) => self.codes().any(|code| has_all(code, fragments)),
            None => self.at(phrase).is_some(),
        }
    }

    fn codes(&self) -> impl Iterator<Item = &str> {
        self.folded.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).filter(|code| !code.contains('-'))
    }

    pub(super) fn says_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.says(phrase))
    }

    pub(super) fn begins(&self, phrases: &[&str]) -> bool {
        let start = self.folded.strip_prefix("error: ").unwrap_or(&self.folded);
        phrases.iter().any(|phrase| start.starts_with(phrase))
    }

    fn at(&self, phrase: &str) -> Option<(usize, usize)> {
        let mut parts = phrase.split(" .. ");
        let first = parts.next()?;
        let rest: Vec<&str> = parts.collect();
        let mut from = 0;
        while let Some((start, mut end)) = find(&self.folded, first, from) {
            let after_first = end;
            let follows = rest.iter().all(|part| match find(&self.folded, part, end) {
                Some((next, after)) if self.folded[end..next].split(' ').count() <= GAP => {
                    end = after;
                    true
                }
                _ => false,
            });
            if follows {
                return Some((start, end));
            }
            from = after_first;
        }
        None
    }
}

fn has_all(code: &str, fragments: &str) -> bool {
    fragments.split('&').try_fold(code, |rest, fragment| rest.split_once(fragment).map(|(_, rest)| rest)).is_some()
}

/// Twelve words, and the empty strings before and after them.
const GAP: usize = 14;

/// Where `part` next stands in whole words: its start and its end.
fn find(text: &str, part: &str, from: usize) -> Option<(usize, usize)> {
    let open_start = part.starts_with('*');
    let open_end = part.ends_with('*');
    let word = part.trim_matches('*');
    let mut from = from;
    while let Some(found) = text.get(from..)?.find(word) {
        let start = from + found;
        let end = start + word.len();
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        let starts = open_start || !joins(before, word.chars().next());
        let ends = open_end || !joins(after, word.chars().next_back());
        if starts && ends {
            return Some((start, end));
        }
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

fn joins(neighbour: Option<char>, edge: Option<char>) -> bool {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    in_word(neighbour) && in_word(edge)
}

/// Both ends of what is too long: the beginning says what was done, the end how it failed.
fn bounded(raw: &str) -> std::borrow::Cow<'_, str> {
    if raw.len() <= LONGEST {
        return raw.into();
    }
    let head = raw.floor_char_boundary(LONGEST / 2);
    let tail = raw.ceil_char_boundary(raw.len() - LONGEST / 2);
    format!("{} {}", &raw[..head], &raw[tail..]).into()
}

/// Without escape sequences.
pub(super) fn uncoloured(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                if chars.next() == Some('[') {
                    chars.by_ref().find(|c| ('@'..='~').contains(c));
                }
            }
            c => text.push(c),
        }
    }
    text
}

fn one_line(raw: std::borrow::Cow<'_, str>) -> String {
    let text: String = uncoloured(&raw)
        .chars()
        .map(|c| match c {
            '│' | '╷' | '╵' | '┃' | '\u{feff}' => ' ',
            '‘' | '’' | '`' => '\'',
            '“' | '”' => '"',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn fold(plain: &str) -> String {
    let mut folded = String::with_capacity(plain.len());
    let lower = without_called(plain).to_lowercase();
    let mut rest = lower.as_str();
    while let Some((start, kind)) = next_name(rest) {
        folded.push_str(&rest[..start]);
        folded.push_str(kind);
        let name = &rest[start..];
        let end = name.find(|c: char| c.is_whitespace() || "\"'<>)]},\\".contains(c)).unwrap_or(name.len());
        rest = &name[name[..end].trim_end_matches([':', '.', ';']).len()..];
    }
    folded.push_str(rest);
    folded
}

/// `creating EKS Cluster (throttled): …` is about a cluster of that name. Codes in brackets have capitals or digits only.
fn without_called(plain: &str) -> String {
    let mut text = String::with_capacity(plain.len());
    let mut rest = plain;
    while let Some((before, after)) = rest.split_once(" (") {
        text.push_str(before);
        text.push_str(" (");
        rest = after;
        let Some((name, next)) = after.split_once(')') else { break };
        let code =
            name.contains(|c: char| c.is_uppercase() || c.is_whitespace()) || name.bytes().all(|b| b.is_ascii_digit());
        if !code && [":", " create", " update", " delete", " to "].iter().any(|verb| next.starts_with(verb)) {
            rest = &after[name.len()..];
        }
    }
    text.push_str(rest);
    text
}

/// The next thing that was named by somebody: where it starts, and what stands for it.
fn next_name(text: &str) -> Option<(usize, &'static str)> {
    [("https://", "url"), ("http://", "url"), ("arn:", "arn")]
        .into_iter()
        .filter_map(|(start, kind)| text.find(start).map(|at| (at, kind)))
        .min_by_key(|(at, _)| *at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_frames_and_line_breaks_do_not_matter() {
        let text = Text::of("\u{1b}[31m│\u{1b}[0m \u{1b}[1mError: \u{1b}[0mRate\n\u{1b}[31m│\u{1b}[0m exceeded\n╵");
        assert_eq!(text.plain(), "Error: Rate exceeded");
        assert!(text.says("rate exceeded"));
    }

    #[test]
    fn a_word_is_not_found_in_a_name_or_in_another_word() {
        let text = Text::of("cluster already-exists-x in https://example.com/already%20exists is not alreadyexisting");
        assert!(!text.says("already exists"));
        assert!(!text.says("already"));
        assert!(text.says("alreadyexist*"));
    }

    #[test]
    fn a_code_is_known_by_its_parts() {
        let text = Text::of("NodeQuotaForCustomerExceeded: no. my-quota-was-exceeded");
        assert!(text.says("&quota&exceeded") && !text.says("&exceeded&quota") && !text.says("&my&quota"));
    }

    #[test]
    fn a_gap_is_a_dozen_words_at_most() {
        let text = Text::of("request requires '12' and is short '4' of a b c d e f g h i j k l m n o p q quota");
        assert!(text.says("requires .. short"));
        assert!(!text.says("requires .. quota"));
    }

    #[test]
    fn an_address_leaves_what_follows_it() {
        assert_eq!(Text::of("GET https://api.example.com/v2/x: 422 no").folded(), "get url: 422 no");
        assert_eq!(Text::of("on arn:aws:iam::1:role/AccessDenied, no").folded(), "on arn, no");
    }

    #[test]
    fn what_is_too_long_keeps_both_ends() {
        let text = Text::of(&format!("first {} last", "ä ".repeat(LONGEST)));
        assert!(text.says("first") && text.says("last") && text.plain().len() <= LONGEST + 1);
    }
}
