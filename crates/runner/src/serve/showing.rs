//! Shows what a job writes to whoever reads along, at once. The courier hands the same in a moment later: what is lost here is
//! read from there.

use std::sync::Arc;

use link::{Holding, Link};
use tokio::sync::watch;

use crate::supervised::Supervised;

/// Bytes that are shown at once.
const PIECE: usize = 64 * 1024;

pub(super) struct Showing {
    pub link: Arc<dyn Link>,
    pub holding: Holding,
    pub supervised: Supervised,
    /// Without it nothing is shown: whoever reads along hears of what is kept.
    pub heard: Option<watch::Receiver<()>>,
    /// Where in the log the spool begins.
    pub log_from: u64,
    /// Bytes of the spool that were there before, or are shown.
    pub shown: u64,
}

impl Showing {
    pub async fn serve(mut self) {
        let Some(mut heard) = self.heard.take() else { return };
        while heard.changed().await.is_ok() {
            while let Some(bytes) = self.next() {
                let start = self.log_from + self.shown;
                self.shown += bytes.len() as u64;
                self.link.show(self.holding, start, bytes).await;
            }
        }
    }

    fn next(&self) -> Option<Vec<u8>> {
        self.supervised.log(self.shown, PIECE).ok().filter(|bytes| !bytes.is_empty())
    }
}
