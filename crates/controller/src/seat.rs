//! One runner's side of the dispatcher. The runner inside of a server is trusted with all; one that was enrolled gets work of its own
//! tenants alone, and has a say only about jobs that are in its hands: fencing tokens are small numbers, and no secret.

use futures::FutureExt;
use futures::future::BoxFuture;
use link::{Assigned, Handing, Holding, Keep, Kept, Link, LinkError, Passed};
use model::job::{JobReport, RunProgress};
use model::{JobId, RunnerId};
use tokio::sync::watch;

use crate::dispatch::{Dispatcher, away};

/// Which runner asks.
#[derive(Debug, Clone)]
pub enum Who {
    /// Inside of this process, under this name.
    Embedded(String),
    Enrolled {
        id: RunnerId,
        name: String,
    },
}

pub struct Seat {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) who: Who,
}

impl Seat {
    /// The newest job after this one that waits for such a runner.
    pub async fn newest_offer(&self, after: JobId) -> Result<Option<JobId>, LinkError> {
        let (id, _) = self.identity();
        self.dispatcher.store.newest_offer(id, after).await.map_err(away)
    }

    fn identity(&self) -> (RunnerId, &str) {
        match &self.who {
            Who::Embedded(name) => (RunnerId::EMBEDDED, name),
            Who::Enrolled { id, name } => (*id, name),
        }
    }

    /// Those of the jobs that it has a say about. Whether it still has them is for the fencing token to tell.
    async fn own(&self, jobs: &[JobId]) -> Result<Vec<JobId>, LinkError> {
        let Who::Enrolled { id, name } = &self.who else { return Ok(jobs.to_vec()) };
        self.dispatcher.store.jobs_held_by(*id, name, jobs).await.map_err(away)
    }

    async fn check(&self, of: Holding) -> Result<(), LinkError> {
        if self.own(&[of.job]).await?.is_empty() { Err(LinkError::Lost) } else { Ok(()) }
    }
}

impl Link for Seat {
    fn claim(&self, free: usize) -> BoxFuture<'_, Result<Vec<Assigned>, LinkError>> {
        let (id, name) = self.identity();
        self.dispatcher.claim(id, name, free).boxed()
    }

    fn renew<'a>(&'a self, jobs: &'a [Keep]) -> BoxFuture<'a, Result<Vec<Kept>, LinkError>> {
        async move {
            let own = self.own(&jobs.iter().map(|keep| keep.holding.job).collect::<Vec<_>>()).await?;
            let jobs: Vec<_> = jobs.iter().filter(|keep| own.contains(&keep.holding.job)).copied().collect();
            self.dispatcher.renew(&jobs).await
        }
        .boxed()
    }

    fn show<'a>(&'a self, of: Holding, start: u64, bytes: Vec<u8>) -> BoxFuture<'a, ()> {
        self.dispatcher.show(of, start, bytes);
        std::future::ready(()).boxed()
    }

    fn log<'a>(
        &'a self,
        of: Holding,
        start: u64,
        bytes: Vec<u8>,
        _: Handing,
    ) -> BoxFuture<'a, Result<Passed, LinkError>> {
        async move {
            self.check(of).await?;
            if matches!(self.who, Who::Enrolled { .. }) {
                // Nothing was shown before it came here.
                self.dispatcher.show(of, start, bytes.clone());
            }
            let until = self.dispatcher.take_log(of, start, bytes).await?;
            Ok(Passed { until, arrived: true })
        }
        .boxed()
    }

    fn progress<'a>(&'a self, of: Holding, progress: RunProgress) -> BoxFuture<'a, Result<(), LinkError>> {
        async move {
            self.check(of).await?;
            self.dispatcher.take_progress(of, progress).await
        }
        .boxed()
    }

    fn state<'a>(&'a self, of: Holding, state: &'a str) -> BoxFuture<'a, Result<(), LinkError>> {
        async move {
            self.check(of).await?;
            self.dispatcher.take_state(of, state).await
        }
        .boxed()
    }

    fn finish<'a>(&'a self, of: Holding, report: JobReport) -> BoxFuture<'a, Result<(), LinkError>> {
        async move {
            self.check(of).await?;
            self.dispatcher.take_report(of, report).await
        }
        .boxed()
    }

    fn offers(&self) -> watch::Receiver<u64> {
        self.dispatcher.store.bell().listen()
    }
}
