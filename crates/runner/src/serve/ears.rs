//! Hears when something is written in a workspace, so that a line of a log is on its way at once. Where the system does not
//! tell, couriers look by themselves.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use inotify::{EventMask, EventStream, Inotify, WatchDescriptor, WatchMask, Watches};
use tokio::sync::watch;
use tracing::warn;

/// For the names of the files that were written, many events at once.
const BUFFER: usize = 16 << 10;

type Workspaces = HashMap<WatchDescriptor, watch::Sender<()>>;

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct Ears {
    watches: Option<Watches>,
    workspaces: Arc<Mutex<Workspaces>>,
}

impl Ears {
    /// Listens as long as this runtime lives.
    pub fn open() -> Ears {
        let opened = Inotify::init().and_then(|inotify| {
            let watches = inotify.watches();
            Ok((watches, inotify.into_event_stream(vec![0; BUFFER])?))
        });
        let workspaces = Arc::default();
        match opened {
            Ok((watches, events)) => {
                let ears = Ears { watches: Some(watches), workspaces };
                tokio::spawn(ears.clone().listen(events));
                ears
            }
            Err(error) => {
                warn!(%error, "the system does not tell when jobs write; their workspaces are looked at now and then");
                Ears { watches: None, workspaces }
            }
        }
    }

    /// Changes whenever something is written in this folder; none where that is not told.
    pub fn turn_to(&self, folder: &Path) -> Option<watch::Receiver<()>> {
        // Held meanwhile: the first word may come at once.
        let mut workspaces = self.workspaces();
        let mask = WatchMask::MODIFY | WatchMask::MOVED_TO | WatchMask::ONLYDIR;
        let number = self.watches.clone()?.add(folder, mask).ok()?;
        Some(workspaces.entry(number).or_default().subscribe())
    }

    async fn listen(self, mut events: EventStream<Vec<u8>>) {
        while let Some(Ok(event)) = events.next().await {
            let mut workspaces = self.workspaces();
            if event.mask.contains(EventMask::Q_OVERFLOW) {
                // Whoever was meant.
                workspaces.values().for_each(|heard| heard.send_modify(|()| {}));
            } else if event.mask.contains(EventMask::IGNORED) {
                workspaces.remove(&event.wd);
            } else if let Some(heard) = workspaces.get(&event.wd) {
                heard.send_modify(|()| {});
            }
        }
        warn!("the system does not tell any more when jobs write; their workspaces are looked at now and then");
        self.workspaces().clear();
    }

    fn workspaces(&self) -> MutexGuard<'_, Workspaces> {
        self.workspaces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
