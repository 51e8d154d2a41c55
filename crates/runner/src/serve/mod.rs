//! The runner itself: takes jobs as long as it has room for them, hands in what their supervisors write down, and keeps the
//! jobs by saying so in time. It can be killed at any instant: the supervisors go on, and the next runner on this
//! machine finds them again.

mod courier;
mod ears;
mod showing;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use link::{Assigned, Holding, Keep, Kept, Link, LinkError};
use model::JobId;
use model::job::{Assignment, JobEnd, JobReport, Source, Work};
use model::plugin::Step;
use model::{Class, Failure};
use secrecy::ExposeSecret;
use tokio::sync::{Notify, watch};
use tracing::{info, warn};

use crate::lease::{BootTime, Lease};
use crate::settings::Settings;
use crate::stop::Stop;
use crate::supervise::can_isolate;
use crate::supervised::Supervised;
use crate::workspace::Workspace;
use courier::{Courier, Told};
use ears::Ears;
use showing::Showing;

/// Looked for work this often, whatever was heard.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// After a bell, so that one look serves many.
const MOMENT: Duration = Duration::from_millis(5);
/// How often jobs are kept: also how soon a runner hears that one is to be stopped.
const KEEP: Duration = Duration::from_secs(1);

/// How a runner is set up.
#[derive(Debug, Clone)]
pub struct RunnerSettings {
    /// Where the workspaces are.
    pub root: PathBuf,
    /// What the folders of root modules are relative to, where they are.
    pub base: PathBuf,
    /// How many jobs at once.
    pub capacity: usize,
    /// For each job.
    pub jobs: Settings,
}

pub struct Runner {
    link: Arc<dyn Link>,
    settings: RunnerSettings,
    held: Mutex<HashMap<JobId, Held>>,
    /// A job has ended.
    freed: Notify,
    ears: Ears,
}

/// A job under way.
#[derive(Clone)]
struct Held {
    holding: Holding,
    supervised: Arc<Mutex<Supervised>>,
    told: Arc<watch::Sender<Told>>,
    /// As far as was seen.
    applying: Arc<AtomicBool>,
}

impl Held {
    /// Nobody is waited for: one job's trouble must not keep others from being renewed.
    fn keep(&self) -> Keep {
        if let Ok(mut supervised) = self.supervised.try_lock() {
            self.applying.store(supervised.is_applying(), Ordering::Relaxed);
        }
        Keep { holding: self.holding, applying: self.applying.load(Ordering::Relaxed) }
    }
}

impl Runner {
    /// Within a runtime, as long as which it listens.
    pub fn new(link: Arc<dyn Link>, settings: RunnerSettings) -> Arc<Runner> {
        Arc::new(Runner { link, settings, held: Mutex::default(), freed: Notify::new(), ears: Ears::open() })
    }

    /// Whether jobs can be kept apart where it runs them; why not, where they cannot.
    pub fn can_isolate(&self) -> Result<(), String> {
        can_isolate(&self.settings.root, &self.settings.jobs)
    }

    /// How many jobs it has.
    pub fn jobs(&self) -> usize {
        self.with(|held| held.len())
    }

    /// Run jobs until told to stop. Then no new one is taken; those under way go on under their supervisors, and are found
    /// again by the next runner.
    pub async fn run(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        self.adopt();
        let keeper = tokio::spawn(self.clone().keep());
        let mut offers = self.link.offers();
        while !*stop.borrow() {
            offers.mark_unchanged();
            let free = self.settings.capacity.saturating_sub(self.jobs());
            if free > 0 {
                self.take(free).await;
            }
            let full = self.jobs() >= self.settings.capacity;
            tokio::select! {
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = self.freed.notified() => {}
                changed = offers.changed(), if !full => match changed {
                    Ok(()) => tokio::time::sleep(MOMENT).await,
                    // Nobody will ring any more.
                    Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
                },
                _ = stop.changed() => {}
            }
        }
        keeper.abort();
    }

    /// Those that an earlier runner on this machine has left behind.
    fn adopt(self: &Arc<Self>) {
        let found = match Supervised::find_all(&self.settings.root) {
            Ok(found) => found,
            Err(error) => return warn!(%error, "cannot see what an earlier runner has left behind"),
        };
        for mut supervised in found {
            match supervised.assignment() {
                Ok(assignment) => {
                    let holding = Holding { job: assignment.job, fencing_token: assignment.fencing_token };
                    info!(job = %holding.job, "going on with a job that was under way");
                    self.follow(holding, assignment.log_from, supervised);
                }
                // It was being prepared when the runner was killed: nothing was begun.
                Err(error) => {
                    warn!(%error, folder = %supervised.folder().display(), "an unfinished workspace is removed");
                    let _ = supervised.remove();
                }
            }
        }
    }

    async fn take(self: &Arc<Self>, free: usize) {
        let sent = BootTime::now();
        let assigned = match self.link.claim(free).await {
            Ok(assigned) => assigned,
            Err(error) => return warn!(%error, "cannot ask for work; trying again"),
        };
        for assigned in assigned {
            let holding = Holding { job: assigned.assignment.job, fencing_token: assigned.assignment.fencing_token };
            let log_from = assigned.assignment.log_from;
            let runner = self.clone();
            let started = tokio::task::spawn_blocking(move || runner.start(&assigned, sent)).await;
            match started.map_err(|error| error.to_string()).and_then(|started| started) {
                Ok(supervised) => self.follow(holding, log_from, supervised),
                Err(why) => self.cannot_start(holding, &why).await,
            }
        }
    }

    fn start(&self, assigned: &Assigned, sent: BootTime) -> Result<Supervised, String> {
        let lease = Lease::granted(sent, assigned.lease);
        let secrets = assigned.secrets.iter().map(|(name, value)| (name.clone(), value.expose_secret().to_owned()));
        let assignment = self.at_home(&assigned.assignment);
        let prepare = || Workspace::prepare(&self.settings.root, &assignment, &self.settings.jobs, lease);
        let workspace = match prepare() {
            // Ours from an earlier time, and lost since: nothing of it is alive once it is removed.
            Err(crate::Error::Occupied(folder)) => {
                Supervised::at(&folder).remove().map_err(|error| error.to_string())?;
                prepare()
            }
            prepared => prepared,
        };
        let workspace = workspace.map_err(|error| error.to_string())?;
        Supervised::start(workspace, &secrets.collect()).map_err(|error| error.to_string())
    }

    /// The supervisor works elsewhere: what is relative to this process has to be told it whole.
    fn at_home(&self, assignment: &Assignment) -> Assignment {
        let mut assignment = assignment.clone();
        let Work::Terraform(terraform) = &mut assignment.work;
        if let Source::Folder { path } = &mut terraform.source {
            *path = self.settings.base.join(&path).display().to_string();
        }
        assignment
    }

    async fn cannot_start(&self, holding: Holding, why: &str) {
        warn!(job = %holding.job, why, "a job cannot be started");
        let failure = Failure::new(Class::Crash, Step::Apply, format!("the runner cannot start the job: {why}"))
            .with_hint("Nothing was changed. The runner's log has the details; `terrane doctor` checks its machine.");
        let report = JobReport::ended(JobEnd::Failed { failure });
        if let Err(error) = self.link.finish(holding, report).await {
            warn!(%error, job = %holding.job, "cannot say so; the job goes to another runner when its lease lapses");
        }
    }

    /// Hand in what a job's supervisor writes down, until it is over.
    fn follow(self: &Arc<Self>, holding: Holding, log_from: u64, supervised: Supervised) {
        let heard = self.ears.turn_to(supervised.folder());
        let (watched, shown) = (Supervised::at(supervised.folder()), supervised.log_length());
        let supervised = Arc::new(Mutex::new(supervised));
        let told = Arc::new(watch::Sender::new(Told::default()));
        let held = Held { holding, supervised: supervised.clone(), told: told.clone(), applying: Arc::default() };
        self.with(|jobs| jobs.insert(holding.job, held));
        let showing =
            Showing { link: self.link.clone(), holding, supervised: watched, heard: heard.clone(), log_from, shown };
        let courier = Courier::new(self.link.clone(), holding, log_from, supervised, heard, told.subscribe());
        let runner = self.clone();
        tokio::spawn(async move {
            let showing = tokio::spawn(showing.serve());
            courier.serve().await;
            showing.abort();
            runner.with(|jobs| {
                if jobs.get(&holding.job).is_some_and(|held| held.holding == holding) {
                    jobs.remove(&holding.job);
                }
            });
            runner.freed.notify_one();
        });
    }

    /// Keep every job in time, as long as this process can; pass on what is asked of them.
    async fn keep(self: Arc<Self>) {
        loop {
            tokio::time::sleep(KEEP).await;
            let held: Vec<_> = self.with(|jobs| jobs.values().cloned().collect());
            if held.is_empty() {
                continue;
            }
            let jobs: Vec<_> = held.iter().map(Held::keep).collect();
            let sent = BootTime::now();
            match self.link.renew(&jobs).await {
                Ok(kept) => held.iter().for_each(|held| keep_one(held, &kept, sent)),
                Err(LinkError::Away(why)) => warn!(why, "cannot keep the jobs; trying again"),
                Err(error) => warn!(%error, "cannot keep the jobs"),
            }
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<JobId, Held>) -> T) -> T {
        work(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn keep_one(held: &Held, kept: &[Kept], sent: BootTime) {
    let Some(kept) = kept.iter().find(|kept| kept.job == held.holding.job) else {
        held.told.send_modify(|told| told.lost = true);
        return;
    };
    held.told.send_modify(|told| (told.times, told.log_bytes) = (told.times + 1, kept.log_bytes));
    let supervised = held.supervised.lock().unwrap_or_else(PoisonError::into_inner);
    let stopped = match kept.stop {
        Some(link::Stop::Interrupt) => supervised.stop(Stop::Interrupt),
        Some(link::Stop::Kill) => supervised.stop(Stop::Kill),
        None => Ok(()),
    };
    if let Err(error) = stopped.and(supervised.renew(Lease::granted(sent, kept.lease))) {
        warn!(%error, job = %held.holding.job, "cannot tell the supervisor; it stops when its lease lapses");
    }
}
