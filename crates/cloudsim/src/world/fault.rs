//! What is to go wrong, by whose wish: a list that people and tests add to, and that requests run into.

use serde::{Deserialize, Serialize};

use super::WorldError;

/// One way in which requests fail, and which of them. What is not said, is any.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of failure it is, in the words of `cloudsim fault`; a cloud has its own text for each.
    pub kind: String,
    /// Said instead of the cloud's own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Only the request for one more than so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<u64>,
    /// How often it strikes before it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// Of a hundred requests, so many are struck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// The object is made all the same: it exists, and its create has failed.
    #[serde(default)]
    pub partial: bool,
    #[serde(default)]
    pub struck: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Create,
    Update,
    Destroy,
    Read,
}

/// A request that may be struck.
pub struct Strike<'a> {
    pub provider: &'a str,
    pub account: &'a str,
    pub region: &'a str,
    pub r#type: &'a str,
    pub action: Action,
}

impl Fault {
    pub fn concerns(&self, strike: &Strike<'_>) -> bool {
        let any_or = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        any_or(&self.provider, strike.provider)
            && any_or(&self.account, strike.account)
            && any_or(&self.region, strike.region)
            && any_or(&self.r#type, strike.r#type)
            // A read is struck only by who says so: else no refresh would get past a fault that is for creates.
            && self.action.map_or(strike.action != Action::Read, |action| action == strike.action)
            && (self.beyond.is_none() || strike.action == Action::Create)
    }

    pub fn dice(&self) -> Result<bool, WorldError> {
        let Some(percent) = self.percent else { return Ok(true) };
        let thrown = getrandom::u64()? as f64 / u64::MAX as f64;
        Ok(thrown * 100.0 < percent)
    }
}
