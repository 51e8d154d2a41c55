//! Where an object is kept: whose it is, what it is, and by what it is known among its kind.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// File systems allow 255 bytes; ids of some clouds are longer.
const LONGEST: usize = 120;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    pub provider: String,
    pub account: String,
    pub r#type: String,
    pub key: String,
}

impl Address {
    /// Below the folder of the world's objects.
    pub fn path(&self) -> PathBuf {
        folder(&self.provider, &self.account).join(file_name(&self.r#type)).join(file_name(&self.key) + ".json")
    }
}

/// Where all that one account has with one provider is kept.
pub fn folder(provider: &str, account: &str) -> PathBuf {
    PathBuf::from(file_name(provider)).join(file_name(account))
}

/// What is no plain name is told apart by its hash: neither does `a/b` meet `a_b`, nor does anything leave its folder.
pub fn file_name(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if !text.is_empty() && text.len() <= LONGEST && text.chars().all(plain) && !text.starts_with('.') {
        return text.to_owned();
    }
    let readable: String = text.chars().take(LONGEST / 2).map(|c| if plain(c) { c } else { '_' }).collect();
    let hash: String = Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{}~{hash}", readable.trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_its_folder_and_no_two_meet() {
        let long = "x".repeat(5000);
        let names = ["..", ".", "", "a/b", "a_b", "../../etc/passwd", "a\0b", &long, "ü"].map(file_name);
        for name in &names {
            assert!(name.len() <= LONGEST && !name.starts_with('.') && !name.contains(['/', '\0']), "{name:?}");
        }
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
