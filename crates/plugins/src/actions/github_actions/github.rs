//! GitHub, as a forge.

use jiff::Timestamp;
use model::{Class, Failure};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::api::{Api, said};
use super::config::Work;
use super::webhook;
use super::{explain, runs};
use crate::actions::forge::{Dispatched, Forge, Found, Intent, Look, Run, Trouble, carries, looks_like_one};
use crate::door::Outgoing;

/// Everything but what names are made of.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'=').add(b'&').add(b'+');
/// How far GitHub's clock may be behind ours.
const SKEW: i64 = 60;
const MOST_PAGES: usize = 5;

pub(super) struct Github<'a> {
    pub api: Api<'a>,
    /// What to dispatch, if anything.
    pub work: Option<Work>,
    pub marked: bool,
}

impl Github<'_> {
    fn run(&self, place: &str, id: u64, url: &str) -> Run {
        let names: Vec<_> = place.rsplit('/').take(2).collect();
        let (repo, owner) = (names.first().unwrap_or(&""), names.get(1).unwrap_or(&""));
        Run {
            id,
            url: url.to_owned(),
            place: place.to_owned(),
            signal: webhook::signal_of(&format!("{owner}/{repo}"), id),
        }
    }

    /// The branch or tag to run on.
    async fn reference(&self, work: &Work, place: &str) -> Result<String, Trouble> {
        match &work.reference {
            Some(reference) => Ok(reference.clone()),
            None => {
                let repository = self.api.get_json(place.to_owned()).await.map_err(Trouble::before_anything)?;
                Ok(repository.get("default_branch").and_then(Value::as_str).unwrap_or("main").to_owned())
            }
        }
    }

    fn no_work(&self) -> Trouble {
        Trouble::Refused(self.api.failure(Class::Plugin, "There is nothing to dispatch"))
    }
}

impl Forge for Github<'_> {
    fn name(&self) -> &'static str {
        "GitHub"
    }

    fn noun(&self) -> &'static str {
        "run"
    }

    fn marker_advice(&self) -> &'static str {
        "To have it found by itself the next time, let the workflow take an input and show it in its `run-name`, and name \
         that input as `marker_input` in `plugin_config`"
    }

    fn aim(&self) -> (String, String) {
        self.work.as_ref().map_or_else(Default::default, |work| {
            let segment = |text: &str| utf8_percent_encode(text, SEGMENT).to_string();
            let place = format!("{}/repos/{}/{}", self.api.base, segment(&work.owner), segment(&work.repo));
            (place, segment(&work.workflow))
        })
    }

    fn marked(&self) -> bool {
        self.marked
    }

    async fn dispatch(&self, intent: &Intent) -> Result<Dispatched, Trouble> {
        let work = self.work.as_ref().ok_or_else(|| self.no_work())?;
        let (place, workflow) = self.aim();
        let mut inputs = work.inputs.clone();
        if let (Some(name), Some(marker)) = (&work.marker_input, &intent.marker) {
            inputs.insert(name.clone(), marker.clone());
        }
        let mut body = json!({ "ref": self.reference(work, &place).await?, "return_run_details": true });
        if !inputs.is_empty() {
            body["inputs"] = json!(inputs);
        }
        let url = format!("{place}/actions/workflows/{workflow}/dispatches");
        let answers = [200, 204, 400, 422];
        let mut answer = self.api.send(Outgoing::post(&url).json(&body), &answers).await?;
        let refused = |status: u16| status == 400 || status == 422;
        if refused(answer.status) && said(&answer).contains("return_run_details") {
            // An older GitHub Enterprise Server: it refused the field, so nothing was dispatched.
            if intent.marker.is_none() {
                return Err(Trouble::Refused(too_old(
                    self.api
                        .failure(Class::InvalidConfig, "This GitHub server does not say which run a dispatch becomes"),
                )));
            }
            if let Some(fields) = body.as_object_mut() {
                fields.remove("return_run_details");
            }
            answer = self.api.send(Outgoing::post(&url).json(&body), &answers).await?;
        }
        if refused(answer.status) {
            let message = format!("GitHub does not take the dispatch: {}", said(&answer));
            return Err(Trouble::Refused(
                self.api
                    .failure(Class::InvalidConfig, message)
                    .with_hint("See that the workflow has `on: workflow_dispatch` with these inputs on that `ref`"),
            ));
        }
        let details = answer.json().unwrap_or_default();
        let url = details.get("html_url").and_then(Value::as_str).unwrap_or_default();
        Ok(match details.get("workflow_run_id").and_then(Value::as_u64) {
            Some(id) => Dispatched::Run(self.run(&place, id, url)),
            None => Dispatched::Somewhere,
        })
    }

    async fn find(&self, intent: &Intent, marker: &str) -> Result<Found, Trouble> {
        if !self.api.owns(&intent.place) {
            return Ok(Found::CannotTell("it was at another server than the one configured now".into()));
        }
        let since = Timestamp::from_second(intent.since - SKEW).unwrap_or_default();
        let created = utf8_percent_encode(&format!(">={since}"), QUERY).to_string();
        let list = format!(
            "{}/actions/workflows/{}/runs?event=workflow_dispatch&created={created}",
            intent.place, intent.work
        );
        let mut without_marker = None;
        for page in 1..=MOST_PAGES {
            let (found, is_last) = runs::page(&self.api, &list, page, "workflow_runs").await?;
            for run in &found {
                let text = |key: &str| run.get(key).and_then(Value::as_str).unwrap_or_default();
                let titles = [text("display_title"), text("name")];
                if titles.iter().any(|title| carries(title, marker)) {
                    let id = run.get("id").and_then(Value::as_u64).unwrap_or_default();
                    return Ok(Found::Run(self.run(&intent.place, id, text("html_url"))));
                }
                if !titles.iter().any(|title| looks_like_one(title)) {
                    without_marker = Some(text("html_url").to_owned());
                }
            }
            if is_last {
                return Ok(match without_marker {
                    Some(url) => Found::CannotTell(format!("{url} was dispatched since, and shows no marker")),
                    None => Found::NotThere,
                });
            }
        }
        Ok(Found::CannotTell("there are too many runs to look through".into()))
    }

    async fn look(&self, run: &Run, etag: Option<&str>) -> Result<Look, Trouble> {
        if !self.api.owns(&run.place) {
            return Ok(Look::Gone);
        }
        let mut request = Outgoing::get(format!("{}/actions/runs/{}?exclude_pull_requests=true", run.place, run.id));
        if let Some(etag) = etag {
            request = request.header("If-None-Match", etag);
        }
        let answer = self.api.send(request, &[200, 304, 404]).await?;
        match answer.status {
            304 => Ok(Look::Unchanged),
            404 => Ok(Look::Gone),
            _ => {
                let etag = answer.header("etag").map(str::to_owned);
                Ok(Look::Now { progress: runs::progress(&self.api.json(&answer)?), etag })
            }
        }
    }

    async fn outputs(&self, run: &Run) -> Result<Value, Trouble> {
        let jobs = runs::jobs(&self.api, run).await?;
        let artifacts = runs::artifacts(&self.api, run).await?;
        Ok(runs::outputs(&jobs, &artifacts))
    }

    async fn explain(&self, run: &Run, end: &str) -> Result<Failure, Trouble> {
        let jobs = if end == "failure" { runs::jobs(&self.api, run).await? } else { Vec::new() };
        Ok(explain::explain(self.api.step, run, end, &jobs))
    }

    async fn cancel(&self, run: &Run, insist: bool) -> Result<(), Trouble> {
        let how = if insist { "force-cancel" } else { "cancel" };
        let url = format!("{}/actions/runs/{}/{how}", run.place, run.id);
        // A conflict is a run that has ended meanwhile; the next look shows it.
        self.api.send(Outgoing::post(url), &[202, 409]).await.map(|_| ())
    }
}

fn too_old(failure: Failure) -> Failure {
    failure.with_hint(
        "GitHub Enterprise Server does so from 3.21 on. Before that, let the workflow take an input and show it in its \
         `run-name`, and name that input as `marker_input` in `plugin_config`",
    )
}
