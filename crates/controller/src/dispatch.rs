//! What stands behind the link: picks the fair next job, hands out its state and secrets with it, and takes in what its
//! runner brings. The row is the job; whoever has lost it writes nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use link::{Assigned, Holding, Keep, Kept, LinkError, Stop};
use model::job::{Assignment, JobEnd, JobReport, PlanFile, RUNNER_CONTRACT, RunProgress, Work};
use model::plugin::Step;
use model::state::Corruption;
use model::state_lock::StateHold;
use model::{Class, Failure, JobId, RunnerId, TenantId};
use secrecy::{ExposeSecret, SecretString};
use store::{LogPiece, Refusal, SealedPlan, SealedSecret, Store, TakenJob};
use tracing::error;

use crate::fair;
use crate::keyring::Keyring;
use crate::live::Live;
use crate::outputs;
use crate::seat::{Seat, Who};
use crate::states::Unkept;

/// How many offers are looked at to find the fair next ones.
const WINDOW: usize = 512;

#[derive(Clone)]
pub struct Dispatcher {
    pub(crate) store: Store,
    keyring: Option<Arc<Keyring>>,
    leases: Leases,
    live: Live,
    /// Until when jobs are certainly their runners', as far as this process knows.
    certain: Arc<Mutex<HashMap<JobId, (i64, Instant)>>>,
}

/// How long a job is a runner's without being renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leases {
    /// Before anything is applied: a dead runner's job is soon another's.
    pub before: Duration,
    /// During an apply, which an outage must not interrupt.
    pub applying: Duration,
}

impl Default for Leases {
    fn default() -> Self {
        Leases { before: Duration::from_secs(30), applying: Duration::from_secs(600) }
    }
}

impl Dispatcher {
    pub fn new(store: Store, keyring: Option<Arc<Keyring>>, leases: Leases, live: Live) -> Dispatcher {
        Dispatcher { store, keyring, leases, live, certain: Arc::default() }
    }

    /// These were granted, each for so long, by what was asked at that time. What has run out is forgotten.
    fn grant(&self, granted: impl IntoIterator<Item = (Holding, Duration)>, asked: Instant) {
        let mut certain = self.certain.lock().unwrap_or_else(PoisonError::into_inner);
        certain.retain(|_, (_, until)| *until > asked);
        certain.extend(granted.into_iter().map(|(of, lease)| (of.job, (of.fencing_token, asked + lease))));
    }

    /// Whether nobody else can have the job by now.
    fn is_certain(&self, of: Holding) -> bool {
        let certain = self.certain.lock().unwrap_or_else(PoisonError::into_inner);
        certain.get(&of.job).is_some_and(|(token, until)| *token == of.fencing_token && *until > Instant::now())
    }

    /// To whoever reads along, before it is kept.
    pub(crate) fn show(&self, of: Holding, start: u64, bytes: impl Into<Bytes>) {
        if self.is_certain(of) {
            self.live.show(of.job, of.fencing_token, start, bytes.into());
        }
    }

    /// Where this runner asks and hands in.
    pub fn seat(&self, who: Who) -> Seat {
        Seat { dispatcher: self.clone(), who }
    }

    pub(crate) async fn claim(&self, id: RunnerId, runner: &str, free: usize) -> Result<Vec<Assigned>, LinkError> {
        let offered = self.store.offered_jobs(id, WINDOW).await.map_err(away)?;
        if offered.is_empty() || free == 0 {
            return Ok(Vec::new());
        }
        let running = self.store.running_jobs().await.map_err(away)?;
        let busy: HashMap<_, _> =
            running.into_iter().map(|(tenant, jobs)| (tenant, usize::try_from(jobs).unwrap_or(0))).collect();
        let offers: Vec<_> = offered.iter().map(|offer| (offer.id, offer.tenant)).collect();
        let ids = fair::pick(&offers, &busy, usize::MAX, free);
        let asked = Instant::now();
        let taken = self.store.take_jobs(ids, runner.into(), self.leases.before).await.map_err(away)?;
        let holding = |taken: &TakenJob| Holding { job: taken.job.id, fencing_token: taken.job.fencing_token };
        self.grant(taken.iter().map(|taken| (holding(taken), self.leases.before)), asked);
        let mut assigned = Vec::with_capacity(taken.len());
        for taken in taken {
            let holding = holding(&taken);
            match self.assign(taken).await {
                Ok(work) => assigned.push(work),
                Err(Trouble::Ours(error)) => error!(%error, job = %holding.job, "a job cannot be handed out now"),
                Err(Trouble::Its(failure)) => self.end_unbegun(holding, failure).await?,
            }
        }
        Ok(assigned)
    }

    /// The job as its runner gets it: with the state to go on from, and its secrets beside it.
    async fn assign(&self, taken: TakenJob) -> Result<Assigned, Trouble> {
        let TakenJob { job, tenant_name, resource_name, type_name, trace_id, locked } = taken;
        if let Some(hold) = locked {
            return Err(Trouble::Its(kept_out(&hold)));
        }
        if self.keyring.is_none() {
            let message = "states are kept sealed, and this server has no key to seal them with";
            let hint = "Give the controllers a key: --secrets-key-file, or TERRANE_SECRETS_KEY_FILE";
            return Err(Trouble::Its(Failure::new(Class::Credentials, Step::Apply, message).with_hint(hint)));
        }
        let mut secrets = BTreeMap::new();
        for (variable, name) in &job.request.secrets {
            secrets.insert(variable.clone(), self.secret(job.tenant, name).await?);
        }
        let mut work = job.request.work;
        match &mut work {
            Work::Terraform(terraform) => {
                if let Some(name) = &job.request.account {
                    self.sign_in(job.tenant, name, &mut secrets, &mut terraform.environment).await?;
                }
                let state = self.store.newest_state(job.tenant, job.resource).await.map_err(Trouble::from_store)?;
                terraform.state = state.map(|sealed| self.open_state(&sealed)).transpose()?;
                if job.request.imports {
                    terraform.import =
                        self.store.import(job.tenant, job.resource).await.map_err(Trouble::from_store)?;
                }
                if let Some(of) = job.request.plan_of {
                    terraform.plan = Some(self.approved_plan(job.tenant, of).await?);
                }
            }
        }
        let assignment = Assignment {
            contract: RUNNER_CONTRACT.into(),
            job: job.id,
            fencing_token: job.fencing_token,
            tenant: tenant_name,
            resource: job.resource,
            resource_name,
            type_name,
            operation: job.operation,
            trace_id,
            log_from: u64::try_from(job.log_bytes).unwrap_or(0),
            work,
            limits: job.request.limits,
        };
        Ok(Assigned { assignment, secrets, lease: self.leases.before })
    }

    /// The account's credentials go by the provider's own variables, and nobody else sets those.
    async fn sign_in(
        &self,
        tenant: TenantId,
        name: &str,
        secrets: &mut BTreeMap<String, SecretString>,
        environment: &mut BTreeMap<String, String>,
    ) -> Result<(), Trouble> {
        let account = self.store.account_of(tenant, name).await.map_err(Trouble::from_store)?;
        let account = account.ok_or_else(|| {
            let failure = Failure::new(Class::Credentials, Step::Apply, format!("there is no cloud account {name}"));
            Trouble::Its(failure.with_hint(format!("Register it: terrane account create {name} --provider …")))
        })?;
        for (variable, reference) in &account.credentials {
            if environment.contains_key(variable) || secrets.contains_key(variable) {
                let message = format!("`environment` sets {variable}, which is a credential of the account {name}");
                let failure = Failure::new(Class::InvalidConfig, Step::Apply, message);
                return Err(Trouble::Its(failure.with_hint("Leave it to the account, or name no account.")));
            }
            secrets.insert(variable.clone(), self.secret(tenant, &reference.secret).await?);
        }
        for variable in account.provider.region_variables() {
            if let Some(region) = &account.region {
                environment.entry(variable.to_string()).or_insert_with(|| region.clone());
            }
        }
        Ok(())
    }

    async fn secret(&self, tenant: TenantId, name: &str) -> Result<SecretString, Trouble> {
        let sealed = self.store.sealed_secret(tenant, name).await.map_err(Trouble::from_store)?;
        let opened = sealed.zip(self.keyring.as_ref()).map(|(sealed, keyring)| keyring.open(&sealed));
        match opened {
            Some(Ok(value)) => Ok(value),
            _ => Err(Trouble::Its(
                Failure::new(
                    Class::Credentials,
                    Step::Apply,
                    format!("the secret {name} does not exist, or cannot be opened"),
                )
                .with_hint(format!("Set it: terrane secret set {name}")),
            )),
        }
    }

    fn open_state(&self, state: &store::SealedState) -> Result<String, Trouble> {
        let opened = self.keyring.as_ref().ok_or(Corruption::Sealed).and_then(|keyring| keyring.open_state(state));
        let text = opened.map_err(|why| {
            let message = format!("version {} of the state cannot be used: {why}", state.version.id);
            let hint = "Bring back another version: terrane state versions, terrane state restore";
            Trouble::Its(Failure::new(Class::StateCorruption, Step::Apply, message).with_hint(hint))
        })?;
        Ok(text.expose_secret().to_owned())
    }

    async fn approved_plan(&self, tenant: TenantId, of: JobId) -> Result<PlanFile, Trouble> {
        let found = self.store.approved_plan(tenant, of).await.map_err(Trouble::from_store)?;
        let opened = found.zip(self.keyring.as_ref()).and_then(|(plan, keyring)| {
            let text = keyring.open(&sealed(tenant, plan_name(of), plan.sealed, plan.key_id)).ok()?;
            Some(PlanFile { sha256: plan.sha256, base64: text.expose_secret().to_owned() })
        });
        opened.ok_or_else(|| {
            let message = format!("the approved plan of job {of} cannot be opened");
            Trouble::Its(Failure::new(Class::Conflict, Step::Apply, message).with_hint("Plan anew: terrane reconcile"))
        })
    }

    pub(crate) async fn renew(&self, jobs: &[Keep]) -> Result<Vec<Kept>, LinkError> {
        let lease_of = |keep: &Keep| if keep.applying { self.leases.applying } else { self.leases.before };
        let renewals = jobs.iter().map(|keep| (keep.holding.job, keep.holding.fencing_token, lease_of(keep))).collect();
        let asked = Instant::now();
        let kept = self.store.renew_jobs(renewals).await.map_err(away)?;
        let is_kept = |keep: &&Keep| kept.iter().any(|kept| kept.id == keep.holding.job);
        self.grant(jobs.iter().filter(is_kept).map(|keep| (keep.holding, lease_of(keep))), asked);
        let to_kept = |kept: store::KeptJob| Kept {
            job: kept.id,
            lease: jobs.iter().find(|keep| keep.holding.job == kept.id).map_or(self.leases.before, lease_of),
            stop: kept.stop.as_deref().and_then(Stop::parse),
            log_bytes: u64::try_from(kept.log_bytes).unwrap_or(0),
        };
        Ok(kept.into_iter().map(to_kept).collect())
    }

    pub(crate) async fn take_log(&self, of: Holding, start: u64, bytes: Vec<u8>) -> Result<u64, LinkError> {
        let start = i64::try_from(start).map_err(|_| LinkError::Refused("no log is that long".into()))?;
        let length = self.store.append_log(of.job, of.fencing_token, LogPiece { start, bytes }).await;
        let length = length.map_err(away)?.ok_or(LinkError::Lost)?;
        Ok(u64::try_from(length).unwrap_or(0))
    }

    pub(crate) async fn take_progress(&self, of: Holding, progress: RunProgress) -> Result<(), LinkError> {
        let noted = self.store.note_progress(of.job, of.fencing_token, progress).await.map_err(away)?;
        if noted { Ok(()) } else { Err(LinkError::Lost) }
    }

    /// What is secret in a report is not written down with it: the plan and sensitive outputs are sealed, each for itself.
    pub(crate) async fn take_report(&self, of: Holding, mut report: JobReport) -> Result<(), LinkError> {
        let job = self.store.any_job(of.job).await.map_err(away)?.ok_or(LinkError::Lost)?;
        let outputs = outputs::seal(self.keyring()?, job.tenant, job.resource, &mut report.outputs)
            .map_err(|error| LinkError::Away(error.to_string()))?;
        // Only a run that ended well says that there are none any more.
        if (outputs.is_some() || report.end == JobEnd::Succeeded)
            && !self.store.put_sealed_outputs(of.job, of.fencing_token, job.resource, outputs).await.map_err(away)?
        {
            return Err(LinkError::Lost);
        }
        let plan = match report.plan_file.take() {
            None => None,
            Some(plan) if plan.sha256.len() != 64 || !plan.sha256.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
                return Err(LinkError::Refused("the plan's sha256 is not 64 hexadecimal digits".into()));
            }
            Some(plan) => {
                let keyring = self.keyring()?;
                let (sealed, key_id) = keyring
                    .seal(job.tenant, &plan_name(of.job), &SecretString::from(plan.base64))
                    .map_err(|error| LinkError::Away(error.to_string()))?;
                Some(SealedPlan { tenant: job.tenant, job: of.job, sha256: plan.sha256, sealed, key_id })
            }
        };
        let taken = self.store.finish_job(of.job, of.fencing_token, report, plan).await.map_err(away)?;
        self.live.end(of.job);
        if taken { Ok(()) } else { Err(LinkError::Lost) }
    }

    fn keyring(&self) -> Result<&Keyring, LinkError> {
        self.keyring.as_deref().ok_or_else(|| LinkError::Away("there is no key to seal states with".into()))
    }

    pub(crate) async fn take_state(&self, of: Holding, state: &str) -> Result<(), LinkError> {
        let job = self.store.any_job(of.job).await.map_err(away)?.ok_or(LinkError::Lost)?;
        let text = SecretString::from(state.to_owned());
        let new = self.keyring()?.seal_state(job.tenant, job.resource, &text).map_err(|error| match error {
            Unkept::Corrupt(why) => LinkError::Refused(why.to_string()),
            Unkept::Unsealed(error) => LinkError::Away(error.to_string()),
        })?;
        match self.store.put_state(of.job, of.fencing_token, new).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(LinkError::Lost),
            Err(store::Error::Refused(Refusal::UnfitState { why })) => Err(LinkError::Refused(why.to_string())),
            Err(error) => Err(away(error)),
        }
    }

    /// A job that cannot be begun is over.
    async fn end_unbegun(&self, of: Holding, failure: Failure) -> Result<(), LinkError> {
        let report = JobReport::ended(JobEnd::Failed { failure });
        self.store.finish_job(of.job, of.fencing_token, report, None).await.map_err(away)?;
        Ok(())
    }
}

/// Why a job cannot be handed out.
pub enum Trouble {
    /// Nothing can be done about it by trying again.
    Its(Failure),
    Ours(store::Error),
}

impl Trouble {
    fn from_store(error: store::Error) -> Trouble {
        Trouble::Ours(error)
    }
}

/// A person with plain Terraform is let finish.
fn kept_out(hold: &StateHold) -> Failure {
    let hint = format!(
        "It is tried again by itself once the lock is gone. If its holder is gone, break it: terrane state unlock TYPE/NAME {}",
        hold.lock.id
    );
    Failure::new(Class::StateLock, Step::Apply, format!("the state is not to be written now: {hold}")).with_hint(hint)
}

fn plan_name(job: JobId) -> String {
    format!("plan of job {job}")
}

/// As the keyring opens it.
fn sealed(tenant: TenantId, name: String, sealed: Vec<u8>, key_id: String) -> SealedSecret {
    SealedSecret { id: 0, tenant, name, sealed, key_id, hosts: Vec::new() }
}

pub(crate) fn away(error: store::Error) -> LinkError {
    LinkError::Away(error.to_string())
}
