//! A stand-in for GitLab's REST API: the operations on pipelines and triggers as its documentation has them.

use axum::http::Method;
use serde_json::{Value, json};

use crate::journey::Time;
use crate::stand::{Asked, Forge, Told, only, page, told};

pub const TOKEN: &str = "glpat-operators";
pub const TRIGGER: &str = "glptt-trigger";

pub struct Pipeline {
    pub id: u64,
    pub reference: String,
    pub source: &'static str,
    /// Pairs of key and value.
    pub variables: Vec<(String, String)>,
    pub inputs: Value,
    created: i64,
    /// What it is at each look; the last stays.
    pub script: Vec<&'static str>,
}

pub struct Gitlab {
    time: Time,
    pub tokens: Vec<String>,
    /// Whether anybody may look without a token.
    pub is_public: bool,
    /// Every creation that had an effect.
    pub pipelines: Vec<Pipeline>,
    pub script: Vec<&'static str>,
    pub jobs: Vec<Value>,
    pub shows_variables: bool,
}

impl Gitlab {
    pub fn new(time: &Time) -> Gitlab {
        Gitlab {
            time: time.clone(),
            tokens: vec![TOKEN.into()],
            is_public: false,
            pipelines: Vec::new(),
            script: vec!["pending", "running", "success"],
            jobs: vec![job("deploy", "success")],
            shows_variables: true,
        }
    }

    fn create(&mut self, asked: &Asked, source: &'static str) -> Told {
        let fields = asked.body.as_object().ok_or("the body is not an object")?;
        let known = if source == "trigger" {
            vec!["ref", "token", "variables", "inputs"]
        } else {
            vec!["ref", "variables", "inputs"]
        };
        only("fields", fields.keys(), &known)?;
        let reference = fields.get("ref").and_then(Value::as_str).ok_or("`ref` is required")?;
        if source == "trigger" && fields.get("token") != Some(&json!(TRIGGER)) {
            return told(404, json!({ "message": "404 Not Found" }));
        }
        if reference == "nowhere" {
            return told(400, json!({ "message": { "base": ["Reference not found"] } }));
        }
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or("a variable is text");
        let variables = match (source, fields.get("variables")) {
            (_, None) => Vec::new(),
            ("trigger", Some(Value::Object(map))) => {
                map.iter().map(|(key, value)| Ok((key.clone(), text(value)?))).collect::<Result<_, String>>()?
            }
            ("api", Some(Value::Array(pairs))) => {
                let pair = |pair: &Value| {
                    only("fields of a variable", pair.as_object().ok_or("no object")?.keys(), &["key", "value"])?;
                    Ok((text(&pair["key"])?, text(&pair["value"])?))
                };
                pairs.iter().map(pair).collect::<Result<_, String>>()?
            }
            (_, Some(other)) => return Err(format!("variables {other}")),
        };
        self.pipelines.push(Pipeline {
            id: 60 + self.pipelines.len() as u64,
            reference: reference.to_owned(),
            source,
            variables,
            inputs: fields.get("inputs").cloned().unwrap_or_default(),
            created: self.time.now(),
            script: self.script.clone(),
        });
        told(201, self.pipelines.last().map(describe).unwrap_or_default())
    }

    fn list(&self, asked: &Asked) -> Told {
        let known = [
            "name",
            "order_by",
            "ref",
            "scope",
            "sha",
            "sort",
            "source",
            "status",
            "updated_after",
            "updated_before",
            "created_after",
            "created_before",
            "username",
            "yaml_errors",
            "page",
            "per_page",
        ];
        only("parameters", asked.query.keys(), &known)?;
        let since = asked.query.get("updated_after").map_or(Ok(0), |at| {
            at.parse::<jiff::Timestamp>().map(|at| at.as_second()).map_err(|error| error.to_string())
        })?;
        let is = |key: &str, value: &str| asked.query.get(key).is_none_or(|wanted| wanted == value);
        let found = self.pipelines.iter().rev();
        let found = found.filter(|it| it.created >= since && is("ref", &it.reference) && is("source", it.source));
        told(200, Value::Array(page(found.map(describe).collect(), asked, 20)))
    }

    fn pipeline(&mut self, id: &str) -> Option<&mut Pipeline> {
        let id: u64 = id.parse().ok()?;
        self.pipelines.iter_mut().find(|pipeline| pipeline.id == id)
    }

    fn look(&mut self, id: &str) -> Told {
        let Some(pipeline) = self.pipeline(id) else { return told(404, json!({ "message": "404 Not found" })) };
        let described = describe(pipeline);
        if pipeline.script.len() > 1 {
            pipeline.script.remove(0);
        }
        told(200, described)
    }

    fn variables(&mut self, id: &str) -> Told {
        if !self.shows_variables {
            return told(403, json!({ "message": "403 Forbidden" }));
        }
        let Some(pipeline) = self.pipeline(id) else { return told(404, json!({ "message": "404 Not found" })) };
        let shown = |(key, value): &(String, String)| json!({ "variable_type": "env_var", "key": key, "value": value });
        told(200, pipeline.variables.iter().map(shown).collect())
    }

    fn cancel(&mut self, id: &str) -> Told {
        let Some(pipeline) = self.pipeline(id) else { return told(404, json!({ "message": "404 Not found" })) };
        pipeline.script = vec!["canceling", "canceled"];
        told(200, describe(pipeline))
    }
}

impl Forge for Gitlab {
    const NAME: &'static str = "gitlab";

    fn ask(&mut self, asked: &Asked) -> Told {
        let post = asked.method == Method::POST;
        let path = asked.path.strip_prefix("/api/v4/").ok_or("there is no such path")?;
        let parts: Vec<_> = path.split('/').collect();
        let ["projects", project, rest @ ..] = parts.as_slice() else { return Err("there is no such path".into()) };
        let token = asked.header("private-token").unwrap_or_default();
        let known = self.tokens.iter().any(|known| known == token);
        if rest == ["trigger", "pipeline"] && post {
            return match token {
                "" => self.create(asked, "trigger"),
                _ => Err("the token has nothing to do with a trigger".into()),
            };
        }
        if !known && (post || !self.is_public || !token.is_empty()) {
            return told(401, json!({ "message": "401 Unauthorized" }));
        }
        if *project != "acme%2Finfra" {
            return told(404, json!({ "message": "404 Project Not Found" }));
        }
        if !post && asked.method != Method::GET || post && !asked.query.is_empty() {
            return Err("there is no such method here".into());
        }
        match (post, rest) {
            (false, []) => {
                told(200, json!({ "id": 1, "path_with_namespace": "acme/infra", "default_branch": "trunk" }))
            }
            (true, ["pipeline"]) => self.create(asked, "api"),
            (false, ["pipelines"]) => self.list(asked),
            (false, ["pipelines", id]) => self.look(id),
            (false, ["pipelines", id, "variables"]) => self.variables(id),
            (false, ["pipelines", _, "jobs"]) => {
                only("parameters", asked.query.keys(), &["scope", "include_retried", "page", "per_page"])?;
                told(200, Value::Array(page(self.jobs.clone(), asked, 20)))
            }
            (true, ["pipelines", id, "cancel"]) => self.cancel(id),
            _ => Err("there is no such path".into()),
        }
    }
}

pub fn job(name: &str, status: &str) -> Value {
    let reason = (status == "failed").then_some("script_failure");
    json!({
        "id": 7, "name": name, "stage": "deploy", "status": status, "allow_failure": false, "failure_reason": reason,
        "started_at": "2024-01-15T10:30:00Z", "finished_at": "2024-01-15T10:35:00Z",
        "artifacts": [
            { "file_type": "archive", "size": 1000, "filename": "artifacts.zip", "file_format": "zip" },
            { "file_type": "metadata", "size": 186, "filename": "metadata.gz", "file_format": "gzip" },
            { "file_type": "trace", "size": 1500, "filename": "job.log", "file_format": "raw" },
        ],
    })
}

fn describe(pipeline: &Pipeline) -> Value {
    let created = jiff::Timestamp::from_second(pipeline.created).expect("a time").to_string();
    json!({
        "id": pipeline.id, "iid": 12, "project_id": 1, "status": pipeline.script[0], "source": pipeline.source,
        "ref": pipeline.reference, "sha": "a91957a858320c0e17f3a0eca7cfacbff50ea29a", "created_at": created,
        "updated_at": created, "web_url": format!("https://gitlab.com/acme/infra/-/pipelines/{}", pipeline.id),
    })
}
