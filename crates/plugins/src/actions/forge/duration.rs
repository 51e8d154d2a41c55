//! A length of time in a configuration: seconds, or a text such as `30m` or `6h`.

use jiff::SignedDuration;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seconds(pub i64);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(i64),
    Text(String),
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
        let seconds = match Written::deserialize(deserializer) {
            Ok(Written::Number(seconds)) => seconds,
            Ok(Written::Text(text)) => match text.parse::<SignedDuration>() {
                Ok(duration) => duration.as_secs(),
                Err(_) => return Err(D::Error::custom(format!("`{text}` is no length of time, as `30m` or `6h` is"))),
            },
            Err(_) => return Err(D::Error::custom("a length of time is a number of seconds, or a text such as `30m`")),
        };
        if seconds > 0 { Ok(Seconds(seconds)) } else { Err(D::Error::custom("a length of time is more than nothing")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<i64> {
        serde_json::from_str::<Seconds>(json).ok().map(|seconds| seconds.0)
    }

    #[test]
    fn a_length_of_time_is_seconds_or_a_text_with_units() {
        assert_eq!(read("90"), Some(90));
        assert_eq!(read("\"30m\""), Some(1800));
        assert_eq!(read("\"6h\""), Some(21600));
        assert_eq!([read("0"), read("\"soon\""), read("-5"), read("true")], [None; 4]);
    }
}
