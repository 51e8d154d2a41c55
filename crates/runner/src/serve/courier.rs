//! Carries what a supervisor writes down to the control plane: log, states, and in the end the report. What could not be handed
//! in stays in the workspace until it can.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use link::{Handing, Holding, Link, LinkError};
use model::job::JobReport;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::stop::Stop;
use crate::supervised::Supervised;

/// Bytes of log that are handed in at once.
const PIECE: usize = 256 * 1024;
/// How often the workspace is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Between tries to hand something in: twice as long each time, up to the last.
const AGAIN: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(4);

pub(super) struct Courier {
    link: Arc<dyn Link>,
    holding: Holding,
    supervised: Arc<Mutex<Supervised>>,
    told: watch::Receiver<Told>,
    /// Where this run's log begins in the job's.
    log_start: u64,
    /// How much of the job's log was handed in.
    sent: u64,
    /// Whether all of that is known to have arrived.
    arrived: bool,
    /// What was last told of the job, and how much log had been handed in by then.
    last: (Told, u64),
    /// The last state that it has.
    state: Option<String>,
}

/// What the control plane says of the job.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    pub lost: bool,
    /// How often it was asked.
    pub times: u64,
    /// Bytes of log that have arrived.
    pub log_bytes: u64,
}

/// Why it does not go on.
enum Over {
    Lost,
    /// Nothing more can be handed in, and trying again is no use.
    Broken(String),
}

impl Courier {
    pub fn new(
        link: Arc<dyn Link>,
        holding: Holding,
        log_start: u64,
        supervised: Arc<Mutex<Supervised>>,
        told: watch::Receiver<Told>,
    ) -> Courier {
        let (sent, last) = (log_start, (Told::default(), log_start));
        Courier { link, holding, supervised, told, log_start, sent, arrived: false, last, state: None }
    }

    pub async fn serve(mut self) {
        let job = self.holding.job;
        let mut rest = LOOK;
        let over = loop {
            match self.round().await {
                Ok(true) => break None,
                Ok(false) => rest = LOOK,
                Err(LinkError::Away(why)) => {
                    rest = (rest * 2).clamp(AGAIN, LONGEST);
                    warn!(%job, why, "cannot hand in what a job has written; trying again");
                }
                Err(LinkError::Lost) => break Some(Over::Lost),
                Err(LinkError::Refused(why)) => break Some(Over::Broken(why)),
            }
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                _ = self.told.wait_for(|told| told.lost) => break Some(Over::Lost),
            }
        };
        match over {
            None => {}
            Some(Over::Lost) => warn!(%job, "the job is not ours any more; it is ended here"),
            Some(Over::Broken(why)) => warn!(%job, why, "what the job has written is refused; it is ended here"),
        }
        self.bury().await;
    }

    /// Hand in what is new. True once the job is over and all is handed in.
    async fn round(&mut self) -> Result<bool, LinkError> {
        // First the report, then the rest: what is read after it is complete.
        let report = self.report().await?;
        self.go_back_to_what_arrived();
        self.hand_in_log(report.is_some()).await?;
        self.hand_in_state().await?;
        let Some(report) = report else { return Ok(false) };
        self.finish(report).await?;
        Ok(true)
    }

    /// That of a supervisor which died may take seconds: nothing of its job is alive once it is told.
    async fn report(&self) -> Result<Option<JobReport>, LinkError> {
        let supervised = self.supervised.clone();
        let report = tokio::task::spawn_blocking(move || {
            supervised.lock().unwrap_or_else(PoisonError::into_inner).report().map_err(|error| error.to_string())
        });
        report.await.map_err(|error| error.to_string()).and_then(|report| report).map_err(LinkError::Away)
    }

    /// What had been handed in by the last answer but one, and has not come any further since, is lost on its way.
    fn go_back_to_what_arrived(&mut self) {
        let told = *self.told.borrow();
        let (before, sent) = self.last;
        if told.times == before.times {
            return;
        }
        self.last = (told, self.sent);
        if told.log_bytes == before.log_bytes && told.log_bytes < sent {
            self.sent = told.log_bytes;
        }
    }

    /// Quickly, but for the first piece, which tells what an earlier runner has handed in, and for the end, where nothing may be missing.
    async fn hand_in_log(&mut self, is_over: bool) -> Result<(), LinkError> {
        loop {
            let (from, start) = (self.sent, self.log_start);
            let bytes = self.look(|supervised| supervised.log(from.saturating_sub(start), PIECE))?;
            let all = bytes.is_empty();
            if all && (self.arrived || !is_over) {
                return Ok(());
            }
            let how = if is_over || from == start { Handing::Sure } else { Handing::Quick };
            let passed = self.link.log(self.holding, from, bytes, how).await?;
            (self.sent, self.arrived) = (passed.until, passed.arrived);
        }
    }

    async fn hand_in_state(&mut self) -> Result<(), LinkError> {
        let state = self.look(|supervised| supervised.good_state())?;
        if let Some(state) = state.filter(|state| self.state.as_ref() != Some(state)) {
            self.link.state(self.holding, &state).await?;
            self.state = Some(state);
        }
        Ok(())
    }

    async fn finish(&mut self, report: JobReport) -> Result<(), LinkError> {
        let report = JobReport { log_bytes: self.sent, ..report };
        match self.link.finish(self.holding, report).await {
            // Said already, by a runner that was killed before it heard so.
            Err(LinkError::Lost) => info!(job = %self.holding.job, "the job's end is known already"),
            done => done?,
        }
        Ok(())
    }

    fn look<T>(&self, look: impl FnOnce(&mut Supervised) -> Result<T, crate::Error>) -> Result<T, LinkError> {
        look(&mut self.supervised.lock().unwrap_or_else(PoisonError::into_inner))
            .map_err(|error| LinkError::Away(error.to_string()))
    }

    /// Nothing of the job is alive when this is done, and nothing of it is left.
    async fn bury(self) {
        let supervised = self.supervised;
        let buried = tokio::task::spawn_blocking(move || {
            let mut supervised = supervised.lock().unwrap_or_else(PoisonError::into_inner);
            if supervised.alive() {
                supervised.stop(Stop::Kill)?;
            }
            supervised.remove()
        });
        match buried.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(%error, job = %self.holding.job, "a workspace cannot be removed"),
            Err(error) => warn!(%error, job = %self.holding.job, "a workspace cannot be removed"),
        }
    }
}
