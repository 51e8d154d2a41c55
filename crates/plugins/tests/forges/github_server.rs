//! A stand-in for GitHub's REST API, of the version 2022-11-28: the operations on workflows and runs that are documented in its
//! OpenAPI description.

use axum::http::Method;
use serde_json::{Value, json};

use crate::journey::Time;
use crate::stand::{Asked, Forge, Told, only, page, told};

pub const TOKEN: &str = "ghp_operators";

pub struct Run {
    pub id: u64,
    pub title: String,
    pub workflow: String,
    pub reference: String,
    pub inputs: Value,
    created: i64,
    /// What it is at each look; the last stays.
    pub script: Vec<(&'static str, Option<&'static str>)>,
}

pub struct Github {
    time: Time,
    /// The inputs that the workflows declare.
    pub declared: Vec<&'static str>,
    /// The input that they show in their `run-name`.
    pub run_name: Option<&'static str>,
    pub tokens: Vec<String>,
    /// Every dispatch that had an effect.
    pub runs: Vec<Run>,
    pub script: Vec<(&'static str, Option<&'static str>)>,
    pub jobs: Vec<Value>,
    pub artifacts: Vec<Value>,
    pub knows_run_details: bool,
    pub ignores_cancel: bool,
    /// Answers that cost nothing.
    pub unchanged: usize,
}

pub const SUCCEEDS: [(&str, Option<&str>); 3] =
    [("queued", None), ("in_progress", None), ("completed", Some("success"))];

impl Github {
    pub fn new(time: &Time) -> Github {
        Github {
            time: time.clone(),
            declared: vec!["size"],
            run_name: None,
            tokens: vec![TOKEN.into()],
            runs: Vec::new(),
            script: SUCCEEDS.to_vec(),
            jobs: vec![job("deploy", "success")],
            artifacts: vec![json!({ "id": 5, "node_id": "A", "name": "build-output", "size_in_bytes": 1234567 })],
            knows_run_details: true,
            ignores_cancel: false,
            unchanged: 0,
        }
    }

    pub fn shows(mut self, input: &'static str) -> Github {
        self.declared.push(input);
        self.run_name = Some(input);
        self
    }

    fn run(&mut self, id: &str) -> Option<&mut Run> {
        let id: u64 = id.parse().ok()?;
        self.runs.iter_mut().find(|run| run.id == id)
    }

    fn dispatch(&mut self, workflow: &str, asked: &Asked) -> Told {
        let fields = asked.body.as_object().ok_or("the body is not an object")?;
        only("fields", fields.keys(), &["ref", "inputs", "return_run_details"])?;
        let reference = fields.get("ref").and_then(Value::as_str).ok_or("`ref` is required")?;
        let details = fields.get("return_run_details").is_some_and(|wanted| wanted == &json!(true));
        if fields.contains_key("return_run_details") && !self.knows_run_details {
            return told(
                400,
                json!({ "message": "Invalid request.\n\n\"return_run_details\" is not a permitted key." }),
            );
        }
        let inputs = fields.get("inputs").cloned().unwrap_or(json!({}));
        let given = inputs.as_object().ok_or("`inputs` is not an object")?;
        if given.len() > 25 || given.values().any(|value| !value.is_string()) {
            return Err(format!("inputs {given:?}"));
        }
        let unexpected: Vec<_> = given.keys().filter(|name| !self.declared.contains(&name.as_str())).collect();
        if !unexpected.is_empty() {
            return told(422, json!({ "message": format!("Unexpected inputs provided: {unexpected:?}") }));
        }
        let marker = self.run_name.and_then(|input| given.get(input)).and_then(Value::as_str);
        let title = marker.map_or("Deploy".to_owned(), |marker| format!("Deploy ({marker})"));
        let id = 1000 + self.runs.len() as u64;
        self.runs.push(Run {
            id,
            title,
            workflow: workflow.to_owned(),
            reference: reference.to_owned(),
            inputs,
            created: self.time.now(),
            script: self.script.clone(),
        });
        if !details {
            return told(204, Value::Null);
        }
        let api = format!("https://api.github.com/repos/acme/infra/actions/runs/{id}");
        told(200, json!({ "workflow_run_id": id, "run_url": api, "html_url": html(id) }))
    }

    fn list(&mut self, workflow: &str, asked: &Asked) -> Told {
        let known =
            ["actor", "branch", "event", "status", "per_page", "page", "created", "exclude_pull_requests", "head_sha"];
        only("parameters", asked.query.keys(), &known)?;
        let since = asked.query.get("created").map_or(Ok(0), |range| {
            let at = range.strip_prefix(">=").ok_or(format!("the range {range}"))?;
            at.parse::<jiff::Timestamp>().map(|at| at.as_second()).map_err(|error| error.to_string())
        })?;
        let event = asked.query.get("event").is_none_or(|event| event == "workflow_dispatch");
        let found = self.runs.iter().rev().filter(|run| event && run.workflow == workflow && run.created >= since);
        let found: Vec<_> = found.map(describe).collect();
        let total = found.len();
        told(200, json!({ "total_count": total, "workflow_runs": page(found, asked, 30) }))
    }

    fn look(&mut self, id: &str, asked: &Asked) -> Told {
        only("parameters", asked.query.keys(), &["exclude_pull_requests"])?;
        let Some(run) = self.run(id) else { return told(404, json!({ "message": "Not Found" })) };
        let described = describe(run);
        if run.script.len() > 1 {
            run.script.remove(0);
        }
        let etag = format!("W/\"{}-{}\"", described["status"], described["conclusion"]).replace(['"', '\\'], "");
        let etag = format!("\"{etag}\"");
        if asked.header("if-none-match") == Some(&etag) {
            self.unchanged += 1;
            return Ok((304, vec![("etag", etag)], Value::Null));
        }
        Ok((200, vec![("etag", etag)], described))
    }

    fn cancel(&mut self, id: &str, insists: bool) -> Told {
        let ignores = self.ignores_cancel && !insists;
        let Some(run) = self.run(id) else { return told(404, json!({ "message": "Not Found" })) };
        if run.script[0].0 == "completed" {
            return told(409, json!({ "message": "Cannot cancel a workflow run that is completed" }));
        }
        if !ignores {
            run.script = vec![("in_progress", None), ("completed", Some("cancelled"))];
        }
        told(202, json!({}))
    }
}

impl Forge for Github {
    const NAME: &'static str = "github";

    fn ask(&mut self, asked: &Asked) -> Told {
        let needed = [("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")];
        for (name, value) in needed {
            if asked.header(name) != Some(value) {
                return Err(format!("the header {name} is {:?}", asked.header(name)));
            }
        }
        if asked.header("user-agent").is_none_or(str::is_empty) {
            return Err("requests without a user agent are refused".into());
        }
        let token = asked.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        if !self.tokens.iter().any(|known| known == token) {
            return told(401, json!({ "message": "Bad credentials" }));
        }
        let parts: Vec<_> = asked.path.trim_start_matches('/').split('/').collect();
        let ["repos", "acme", "infra", rest @ ..] = parts.as_slice() else {
            return match parts.first() {
                Some(&"repos") => told(404, json!({ "message": "Not Found" })),
                _ => Err("there is no such path".into()),
            };
        };
        let list = |items: &[Value], key: &str| {
            only("parameters", asked.query.keys(), &["filter", "per_page", "page", "name", "direction"])?;
            told(200, json!({ "total_count": items.len(), key: page(items.to_vec(), asked, 30) }))
        };
        let post = asked.method == Method::POST;
        if !post && asked.method != Method::GET || post && !asked.query.is_empty() {
            return Err("there is no such method here".into());
        }
        match (post, rest) {
            (false, []) => told(200, json!({ "id": 1, "full_name": "acme/infra", "default_branch": "trunk" })),
            (true, ["actions", "workflows", workflow, "dispatches"]) => self.dispatch(workflow, asked),
            (false, ["actions", "workflows", workflow, "runs"]) => self.list(workflow, asked),
            (false, ["actions", "runs", id]) => self.look(id, asked),
            (false, ["actions", "runs", _, "jobs"]) => list(&self.jobs, "jobs"),
            (false, ["actions", "runs", _, "artifacts"]) => list(&self.artifacts, "artifacts"),
            (true, ["actions", "runs", id, "cancel"]) => self.cancel(id, false),
            (true, ["actions", "runs", id, "force-cancel"]) => self.cancel(id, true),
            _ => Err("there is no such path".into()),
        }
    }
}

pub fn job(name: &str, conclusion: &str) -> Value {
    json!({
        "id": 21, "run_id": 1000, "node_id": "J", "name": name, "status": "completed", "conclusion": conclusion,
        "started_at": "2024-01-15T10:30:00Z", "completed_at": "2024-01-15T10:35:00Z",
        "steps": [
            { "name": "Checkout", "status": "completed", "conclusion": "success", "number": 1 },
            { "name": "Apply", "status": "completed", "conclusion": conclusion, "number": 2 },
        ],
    })
}

fn html(id: u64) -> String {
    format!("https://github.com/acme/infra/actions/runs/{id}")
}

fn describe(run: &Run) -> Value {
    let (status, conclusion) = run.script[0];
    let created = jiff::Timestamp::from_second(run.created).expect("a time").to_string();
    json!({
        "id": run.id, "node_id": "R", "name": "Deploy", "display_title": run.title, "event": "workflow_dispatch",
        "status": status, "conclusion": conclusion, "html_url": html(run.id), "head_branch": run.reference,
        "run_number": 1, "workflow_id": 9, "created_at": created, "updated_at": created, "path": run.workflow,
    })
}
