//! Carries what a supervisor writes down to the control plane: log, states, and in the end the report. What could not be handed
//! in stays in the workspace until it can.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use link::{Handing, Holding, Link, LinkError};
use model::job::{JobReport, RunProgress};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::stop::Stop;
use crate::supervised::Supervised;

/// Bytes of log that are handed in at once.
const PIECE: usize = 256 * 1024;
/// How often the workspace is looked at where nobody tells that something is written there.
const LOOK: Duration = Duration::from_millis(50);
/// And where somebody does: only so that the end of a supervisor that says nothing is noticed.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// What is written within this time is handed in together.
const BATCH: Duration = Duration::from_millis(25);
/// A supervisor that has written its report is gone as soon.
const ENDING: Duration = Duration::from_millis(3);
/// Between tries to hand something in: twice as long each time, up to the last.
const AGAIN: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(4);

pub(super) struct Courier {
    way: Way,
    heard: Option<watch::Receiver<()>>,
    told: watch::Receiver<Told>,
    /// Where in the log the spool begins.
    log_from: u64,
    sent: Sent,
    /// What was last told of the job, and how much log had been handed in by then.
    last: (Told, u64),
    /// The last state that the control plane has.
    state: Option<(u64, i64, i64)>,
    progress: Far,
}

/// How much of the log was handed in.
struct Sent {
    until: u64,
    /// Whether all of that is known to have arrived.
    arrived: bool,
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

/// From a workspace to the control plane.
struct Way {
    link: Arc<dyn Link>,
    holding: Holding,
    supervised: Arc<Mutex<Supervised>>,
}

/// How far the job is, as far as it was read, and whether the control plane knows.
#[derive(Default)]
struct Far {
    place: u64,
    newest: Option<RunProgress>,
    is_known: bool,
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
        log_from: u64,
        supervised: Arc<Mutex<Supervised>>,
        heard: Option<watch::Receiver<()>>,
        told: watch::Receiver<Told>,
    ) -> Courier {
        let way = Way { link, holding, supervised };
        let sent = Sent { until: log_from, arrived: false };
        let last = (Told::default(), log_from);
        Courier { way, heard, told, log_from, sent, last, state: None, progress: Far::default() }
    }

    pub async fn serve(mut self) {
        let job = self.way.holding.job;
        let mut again = AGAIN;
        let over = loop {
            if let Some(heard) = &mut self.heard {
                heard.mark_unchanged();
            }
            let mut pause = None;
            match self.round().await {
                Ok(true) => break None,
                Ok(false) => again = AGAIN,
                Err(LinkError::Away(why)) => {
                    warn!(%job, why, "cannot hand in what a job has written; trying again");
                    pause = Some(again);
                    again = (again * 2).min(LONGEST);
                }
                Err(LinkError::Lost) => break Some(Over::Lost),
                Err(LinkError::Refused(why)) => break Some(Over::Broken(why)),
            }
            let ending = self.way.look(|supervised| Ok(supervised.is_ending())).unwrap_or(false);
            tokio::select! {
                () = rest(&mut self.heard, ending, pause) => {}
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
        let report = self.way.report().await?;
        self.go_back_to_what_arrived();
        // Together, so that it is written together.
        tokio::try_join!(
            self.way.hand_in_log(self.log_from, &mut self.sent, report.is_some()),
            self.way.hand_in_state(&mut self.state),
            self.way.hand_in_progress(self.log_from, &mut self.progress),
        )?;
        let Some(report) = report else { return Ok(false) };
        self.way.finish(JobReport { log_bytes: self.sent.until, ..report }).await?;
        Ok(true)
    }

    /// What had been handed in by the last answer but one, and has not come any further since, is lost on its way.
    fn go_back_to_what_arrived(&mut self) {
        let told = *self.told.borrow();
        let (before, sent) = self.last;
        if told.times == before.times {
            return;
        }
        self.last = (told, self.sent.until);
        if told.log_bytes == before.log_bytes && told.log_bytes < sent {
            self.sent = Sent { until: told.log_bytes.max(self.log_from), arrived: false };
        }
    }

    /// Nothing of the job is alive when this is done, and nothing of it is left.
    async fn bury(self) {
        let supervised = self.way.supervised;
        let buried = tokio::task::spawn_blocking(move || {
            let mut supervised = supervised.lock().unwrap_or_else(PoisonError::into_inner);
            if supervised.alive() {
                supervised.stop(Stop::Kill)?;
            }
            supervised.remove()
        });
        match buried.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(%error, job = %self.way.holding.job, "a workspace cannot be removed"),
            Err(error) => warn!(%error, job = %self.way.holding.job, "a workspace cannot be removed"),
        }
    }
}

impl Way {
    /// That of a supervisor which died may take seconds: nothing of its job is alive once it is told.
    async fn report(&self) -> Result<Option<JobReport>, LinkError> {
        let supervised = self.supervised.clone();
        let report = tokio::task::spawn_blocking(move || {
            supervised.lock().unwrap_or_else(PoisonError::into_inner).report().map_err(|error| error.to_string())
        });
        report.await.map_err(|error| error.to_string()).and_then(|report| report).map_err(LinkError::Away)
    }

    /// Quickly, but for the first piece, which tells what an earlier runner has handed in, and for the end, where nothing may be
    /// missing.
    async fn hand_in_log(&self, log_from: u64, sent: &mut Sent, is_over: bool) -> Result<(), LinkError> {
        loop {
            // Whatever the control plane has of this run, it has from its beginning on.
            let place = sent.until.saturating_sub(log_from);
            let bytes = self.look(|supervised| supervised.log(place, PIECE))?;
            if bytes.is_empty() && (sent.arrived || !is_over) {
                return Ok(());
            }
            let how = if is_over || place == 0 { Handing::Sure } else { Handing::Quick };
            let passed = self.link.log(self.holding, sent.until, bytes, how).await?;
            *sent = Sent { until: passed.until, arrived: passed.arrived };
        }
    }

    async fn hand_in_state(&self, known: &mut Option<(u64, i64, i64)>) -> Result<(), LinkError> {
        let mark = self.look(|supervised| Ok(supervised.good_state_mark()))?;
        if mark == *known {
            return Ok(());
        }
        if let Some(state) = self.look(|supervised| supervised.good_state())? {
            self.link.state(self.holding, &state).await?;
        }
        *known = mark;
        Ok(())
    }

    async fn hand_in_progress(&self, log_from: u64, told: &mut Far) -> Result<(), LinkError> {
        let (lines, place) = self.look(|supervised| supervised.progress(told.place))?;
        told.place = place;
        for line in lines {
            told.newest = Some(line.after(told.newest.take(), log_from));
            told.is_known = false;
        }
        if let Some(newest) = told.newest.clone().filter(|_| !told.is_known) {
            self.link.progress(self.holding, newest).await?;
            told.is_known = true;
        }
        Ok(())
    }

    async fn finish(&self, report: JobReport) -> Result<(), LinkError> {
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
}

/// Until there may be something to hand in.
async fn rest(heard: &mut Option<watch::Receiver<()>>, ending: bool, pause: Option<Duration>) {
    if let Some(pause) = pause {
        return tokio::time::sleep(pause).await;
    }
    let Some(heard) = heard.as_mut().filter(|_| !ending) else {
        return tokio::time::sleep(if ending { ENDING } else { LOOK }).await;
    };
    if let Ok(told) = tokio::time::timeout(LOOK_AGAIN, heard.changed()).await {
        // Nobody tells any more where the folder is gone.
        tokio::time::sleep(if told.is_ok() { BATCH } else { LOOK }).await;
    }
}
