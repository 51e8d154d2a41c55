//! Times as people write and read them: `30d` in, `4d` out.

use std::time::Duration;

use jiff::Timestamp;

/// How long ago, as kubectl shows it: the one or two largest units that matter.
pub fn age(then: Timestamp) -> String {
    age_at(then, Timestamp::now())
}

/// How long from now.
pub fn until(then: Timestamp) -> String {
    age_at(Timestamp::now(), then)
}

/// A time, as itself and from now.
pub fn moment(time: Timestamp) -> String {
    let text = time.strftime("%Y-%m-%dT%H:%M:%SZ");
    if time > Timestamp::now() { format!("{text} (in {})", until(time)) } else { format!("{text} ({} ago)", age(time)) }
}

fn age_at(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second()).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0..=1) => format!("{seconds}s"),
        (0, 0, 2..=9) if seconds % 60 != 0 => format!("{minutes}m{}s", seconds % 60),
        (0, 0..=2, _) => format!("{minutes}m"),
        (0..=1, ..) => format!("{hours}h"),
        (2..=729, ..) => format!("{days}d"),
        _ => format!("{}y", days / 365),
    }
}

/// `90s`, `10m`, `2h`, `30d`, `2w`, or several of them: `1h30m`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time span such as 90s, 10m, 2h or 30d");
    let mut total = Duration::ZERO;
    let mut digits = String::new();
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let unit: u64 = match c {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            'w' => 7 * 86_400,
            _ => return Err(wrong()),
        };
        let count: u64 = std::mem::take(&mut digits).parse().map_err(|_| wrong())?;
        let span = Duration::from_secs(count.checked_mul(unit).ok_or_else(wrong)?);
        total = total.checked_add(span).ok_or_else(wrong)?;
    }
    if text.is_empty() || !digits.is_empty() { Err(wrong()) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_shown_as_kubectl_shows_it() {
        let now = Timestamp::from_second(1_000_000_000).unwrap();
        let shown = |seconds: i64| age_at(Timestamp::from_second(1_000_000_000 - seconds).unwrap(), now);
        let ages = [-5, 0, 5, 119, 120, 125, 600, 7_200, 10_800, 172_799, 172_800, 86_400 * 800].map(shown);
        assert_eq!(ages, ["0s", "0s", "5s", "119s", "2m", "2m5s", "10m", "120m", "3h", "47h", "2d", "2y"]);
    }

    #[test]
    fn a_time_span_is_a_number_and_a_unit() {
        assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("30d"), Ok(Duration::from_secs(30 * 86_400)));
        for wrong in ["", "5", "m", "5x", "-5s", "99999999999999999999s", "18446744073709551615w"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
