//! "Did you mean …?": most unknown names are known ones misspelt.

const LONGEST: usize = 48;

/// The candidate that a typo of one or two letters (a third of a short name) turns into `name`.
pub(super) fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let name: Vec<char> = name.chars().take(LONGEST + 1).collect();
    let allowed = (name.len() / 3).clamp(1, 3);
    if name.len() > LONGEST {
        return None;
    }
    candidates
        .filter(|candidate| candidate.len() <= LONGEST * 4)
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.chars().take(LONGEST + 1).collect();
            (letters.len().abs_diff(name.len()) <= allowed).then(|| (distance(&name, &letters), candidate))
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean "size"?)`, or nothing.
pub(super) fn suggestion<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> String {
    match nearest(name, candidates) {
        Some(near) => format!(" (did you mean {near:?}?)"),
        None => String::new(),
    }
}

/// Levenshtein's distance, case apart: `Size` for `size` is the likeliest mistake of all.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(!left.eq_ignore_ascii_case(right));
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
