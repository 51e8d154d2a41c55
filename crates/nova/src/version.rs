//! Versions of templates, modules and Kubernetes: numbers with dots between them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `1.4.2`, or fewer numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(Vec<u64>);

impl Version {
    pub fn major(&self) -> u64 {
        self.0.first().copied().unwrap_or(0)
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Version, String> {
        let numbers: Result<Vec<u64>, _> = text.split('.').map(str::parse).collect();
        match numbers {
            Ok(numbers) if numbers.len() <= 4 => Ok(Version(numbers)),
            _ => Err(format!("{text:?} is no version: it is numbers with dots between them, as in \"1.4.2\"")),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Version, String> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}
