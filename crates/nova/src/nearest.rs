//! What somebody may have meant: the names nearest to one that there is not.

/// More would be no help.
const MOST: usize = 3;
const LONGEST: usize = 64;

/// The nearest first; none where none is near.
pub fn nearest<'c>(name: &str, candidates: &[&'c str]) -> Vec<&'c str> {
    let plain = |text: &str| -> Vec<char> {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).take(LONGEST).collect()
    };
    let name = plain(name);
    let allowed = (name.len() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = candidates
        .iter()
        .map(|candidate| (distance(&name, &plain(candidate)), *candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(MOST).map(|(_, candidate)| candidate).collect()
}

/// How many letters have to be put in, taken out, exchanged or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (at, row) in rows.iter_mut().enumerate() {
        row[0] = at;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let exchanged = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = exchanged.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}
