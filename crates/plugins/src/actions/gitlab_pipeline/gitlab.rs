//! GitLab, as a forge.

use jiff::Timestamp;
use model::Class;
use model::Failure;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::api::Api;
use super::config::Work;
use super::{explain, pipelines, webhook};
use crate::actions::forge::{Credential, Dispatched, Forge, Found, Intent, Look, Run, Trouble};
use crate::door::Outgoing;

/// Everything but what names are made of: a project's path is one part of an address.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');
/// How far GitLab's clock may be behind ours.
const SKEW: i64 = 60;
const MOST_PAGES: usize = 3;

pub(super) struct Gitlab<'a> {
    pub api: Api<'a>,
    /// What to run, if anything.
    pub work: Option<Work>,
    pub marked: bool,
    /// Starts pipelines in place of the token.
    pub trigger: Option<Credential>,
}

impl Gitlab<'_> {
    fn run(&self, place: &str, pipeline: &Value) -> Option<Run> {
        let id = pipeline.get("id").and_then(Value::as_u64)?;
        let project = pipeline.get("project_id").and_then(Value::as_u64).unwrap_or_default();
        let url = pipeline.get("web_url").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Run { id, url, place: place.to_owned(), signal: webhook::signal_of(project, id) })
    }

    /// The branch or tag to run on.
    async fn reference(&self, work: &Work, place: &str) -> Result<String, Trouble> {
        if let Some(reference) = &work.reference {
            return Ok(reference.clone());
        }
        let asked = self.api.send(Outgoing::get(place), &[200]).await.map_err(Trouble::before_anything)?;
        let project = self.api.json(&asked).map_err(Trouble::before_anything)?;
        Ok(project.get("default_branch").and_then(Value::as_str).unwrap_or("main").to_owned())
    }

    /// Whether a pipeline was created with the marker; none if we may not know.
    async fn carries(&self, place: &str, id: u64, marker: &str) -> Result<Option<bool>, Trouble> {
        let url = format!("{place}/pipelines/{id}/variables");
        let answer = self.api.send(Outgoing::get(url), &[200, 401, 403]).await?;
        if answer.status != 200 {
            return Ok(None);
        }
        let variables = self.api.json(&answer)?;
        let mut variables = variables.as_array().into_iter().flatten();
        Ok(Some(variables.any(|variable| variable.get("value").and_then(Value::as_str) == Some(marker))))
    }
}

impl Forge for Gitlab<'_> {
    fn name(&self) -> &'static str {
        "GitLab"
    }

    fn noun(&self) -> &'static str {
        "pipeline"
    }

    fn marker_advice(&self) -> &'static str {
        "To have it found by itself the next time, do not set `marker_variable` to null in `plugin_config`"
    }

    fn aim(&self) -> (String, String) {
        self.work.as_ref().map_or_else(Default::default, |work| {
            let project = utf8_percent_encode(&work.project, SEGMENT).to_string();
            (format!("{}/projects/{project}", self.api.base), work.reference.clone().unwrap_or_default())
        })
    }

    fn marked(&self) -> bool {
        self.marked
    }

    async fn dispatch(&self, intent: &Intent) -> Result<Dispatched, Trouble> {
        let nothing = || Trouble::Refused(self.api.failure(Class::Plugin, "There is nothing to run"));
        let work = self.work.as_ref().ok_or_else(nothing)?;
        let (place, _) = self.aim();
        let mut variables = work.variables.clone();
        if let (Some(name), Some(marker)) = (&work.marker_variable, &intent.marker) {
            variables.insert(name.clone(), marker.clone());
        }
        let mut body = json!({ "ref": self.reference(work, &place).await? });
        if !work.inputs.is_empty() {
            body["inputs"] = json!(work.inputs);
        }
        let answer = match &self.trigger {
            Some(trigger) => {
                body["token"] = json!(trigger.0.expose_secret());
                if !variables.is_empty() {
                    body["variables"] = json!(variables);
                }
                let request = Outgoing::post(format!("{place}/trigger/pipeline")).json(&body);
                self.api.send_bare(request, &[200, 201]).await?
            }
            None => {
                if !variables.is_empty() {
                    let pairs = variables.iter().map(|(key, value)| json!({ "key": key, "value": value }));
                    body["variables"] = pairs.collect();
                }
                self.api.send(Outgoing::post(format!("{place}/pipeline")).json(&body), &[200, 201]).await?
            }
        };
        let pipeline = answer.json().unwrap_or_default();
        Ok(self.run(&place, &pipeline).map_or(Dispatched::Somewhere, Dispatched::Run))
    }

    async fn find(&self, intent: &Intent, marker: &str) -> Result<Found, Trouble> {
        if !self.api.owns(&intent.place) {
            return Ok(Found::CannotTell("it was at another server than the one configured now".into()));
        }
        let since = Timestamp::from_second(intent.since - SKEW).unwrap_or_default().to_string();
        let encoded = |text: &str| utf8_percent_encode(text, SEGMENT).to_string();
        let source = if self.trigger.is_some() { "trigger" } else { "api" };
        let mut list = format!("{}/pipelines?source={source}&updated_after={}", intent.place, encoded(&since));
        if !intent.work.is_empty() {
            list.push_str(&format!("&ref={}", encoded(&intent.work)));
        }
        let mut unseen = None;
        for page in 1..=MOST_PAGES {
            let (found, is_last) = pipelines::page(&self.api, &list, page).await?;
            for pipeline in found.iter().filter(|pipeline| created_since(pipeline, intent.since - SKEW)) {
                let Some(run) = self.run(&intent.place, pipeline) else { continue };
                match self.carries(&intent.place, run.id, marker).await? {
                    Some(true) => return Ok(Found::Run(run)),
                    Some(false) => {}
                    None => unseen = Some(run.url),
                }
            }
            if is_last {
                return Ok(match unseen {
                    Some(url) => Found::CannotTell(format!("{url} may be it, but the token may not see its variables")),
                    None => Found::NotThere,
                });
            }
        }
        Ok(Found::CannotTell("there are too many pipelines to look through".into()))
    }

    async fn look(&self, run: &Run, etag: Option<&str>) -> Result<Look, Trouble> {
        if !self.api.owns(&run.place) {
            return Ok(Look::Gone);
        }
        let mut request = Outgoing::get(format!("{}/pipelines/{}", run.place, run.id));
        if let Some(etag) = etag {
            request = request.header("If-None-Match", etag);
        }
        let answer = self.api.send(request, &[200, 304, 404]).await?;
        match answer.status {
            304 => Ok(Look::Unchanged),
            404 => Ok(Look::Gone),
            _ => {
                let etag = answer.header("etag").map(str::to_owned);
                Ok(Look::Now { progress: pipelines::progress(&self.api.json(&answer)?), etag })
            }
        }
    }

    async fn outputs(&self, run: &Run) -> Result<Value, Trouble> {
        Ok(pipelines::outputs(&pipelines::jobs(&self.api, run).await?))
    }

    async fn explain(&self, run: &Run, end: &str) -> Result<Failure, Trouble> {
        let jobs = if end == "failed" { pipelines::jobs(&self.api, run).await? } else { Vec::new() };
        Ok(explain::explain(self.api.step, run, end, &jobs))
    }

    /// GitLab knows of no stronger way: it is told once more.
    async fn cancel(&self, run: &Run, _insist: bool) -> Result<(), Trouble> {
        let url = format!("{}/pipelines/{}/cancel", run.place, run.id);
        self.api.send(Outgoing::post(url), &[200, 201]).await.map(|_| ())
    }
}

/// What is older was only touched since, and cannot be ours.
fn created_since(pipeline: &Value, since: i64) -> bool {
    let created = pipeline.get("created_at").and_then(Value::as_str).and_then(|at| at.parse::<Timestamp>().ok());
    created.is_none_or(|at| at.as_second() >= since)
}
