//! How long to rest before a stream is taken up again. An ordinary end is not worth a word; a server that is away is.

use std::time::Duration;

use super::failure::{Code, Failure};
use super::print;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

pub struct Rest {
    next: Duration,
    told: bool,
}

impl Default for Rest {
    fn default() -> Self {
        Rest { next: FIRST, told: false }
    }
}

impl Rest {
    pub async fn a_while(&mut self) {
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(LONGEST);
    }

    /// After a failure to connect; any other is not cured by waiting.
    pub async fn after(&mut self, failure: Failure) -> Result<(), Failure> {
        if failure.code != Code::NotReachable {
            return Err(failure);
        }
        if !self.told {
            print::note(&format!("{}; trying again…", failure.message));
            self.told = true;
        }
        self.a_while().await;
        Ok(())
    }

    /// The server is there again.
    pub fn tell(&mut self) {
        if std::mem::take(&mut self.told) {
            print::note("connected again");
        }
    }

    /// Something was heard: the next rest is short.
    pub fn is_over(&mut self) {
        self.tell();
        self.next = FIRST;
    }
}
