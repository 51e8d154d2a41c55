//! While Terraform works, everything is killed at random with kill -9: the server, supervisors, Terraform itself, the database.
//! The cloud's ledger is the witness: nothing is lost, nothing is done by two at once, every log is whole, and nobody has to
//! unlock anything.
//!
//! `make test` tells it in short, `make chaos` in full.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use e2e::cloud::Cloud;
use e2e::processes::{JobProcesses, jobs_of, kill};
use e2e::{Api, Database, Postgres, Server};
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

const THING: &str = r#"
variable "name" { type = string }
variable "size" { type = number }
resource "cloudsim_thing" "it" {
  name            = var.name
  size            = var.size
  create_seconds  = 1
  destroy_seconds = 0.5
}
"#;

/// Sizes that each resource is given, one after the other.
const SIZES: i64 = 3;
/// Resources that live at the same time.
const LANES: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_killed_nothing_is_lost_and_nothing_is_done_twice() {
    let database = Database::sqlite().await;
    tell(&database, None, runs().unwrap_or(32)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "in full only: make chaos"]
async fn nor_is_it_when_the_database_is_killed_too() {
    let postgres = Postgres::start().await;
    let database = Database::on(&postgres.url).await;
    tell(&database, Some(&postgres), runs().unwrap_or(300)).await;
}

/// How many runs there shall be, where it is told in full.
fn runs() -> Option<usize> {
    std::env::var("TERRANE_CHAOS_RUNS").ok().map(|runs| runs.parse().expect("a number of runs"))
}

struct Story<'a> {
    cloud: &'a Cloud,
    api: Api,
    module: Value,
    deadline: Instant,
    /// How often something came to rest: so many runs there were at least.
    rested: AtomicUsize,
    /// How often a person had to ask for another try.
    asked: AtomicUsize,
}

async fn tell(database: &Database, postgres: Option<&Postgres>, runs: usize) {
    let started = Instant::now();
    let cloud = Cloud::open();
    let flags = [
        "--runner-capacity",
        "6",
        "--job-lease",
        "15s",
        "--lease",
        "3s",
        "--backoff-base",
        "1s",
        "--backoff-cap",
        "2s",
    ];
    let mut server = cloud.server(database, &flags).await;
    let story = Story {
        api: server.api(),
        module: json!(cloud.module("thing", THING)),
        cloud: &cloud,
        deadline: started + Duration::from_secs(600).max(Duration::from_secs(6) * runs as u32),
        rested: AtomicUsize::new(0),
        asked: AtomicUsize::new(0),
    };
    let (is_enough, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
    let born = AtomicUsize::new(0);
    let lane = async || {
        let mut lives = BTreeMap::new();
        while story.rested.load(Ordering::Relaxed) < runs {
            let name = format!("thing-{}", born.fetch_add(1, Ordering::Relaxed));
            lives.insert(name.clone(), story.live(&name).await);
        }
        // From here on nothing is killed any more, and what is under way comes to rest.
        is_enough.store(true, Ordering::Relaxed);
        lives
    };
    let living = async {
        let lives = join_all((0..LANES).map(|_| lane())).await;
        is_done.store(true, Ordering::Relaxed);
        lives.into_iter().flatten().collect::<BTreeMap<String, Life>>()
    };
    let (lives, kills, seen) =
        tokio::join!(living, kill_at_random(&cloud, &mut server, postgres, &is_enough), watch(&cloud, &is_done),);
    let count = story.check(&lives, &seen).await;
    assert!(!server.log().contains("panicked"), "{}", server.log());
    assert!(count.runs >= runs, "{} runs", count.runs);
    assert!(kills.values().sum::<usize>() > 0, "something was killed");
    let suspected = lives.values().filter(|life| **life == Life::Uncertain).count();
    println!(
        "chaos: {} runs of {} resources in {:.0} s; killed: {kills:?}; {} effects in the ledger; {} bytes of log; \
         {suspected} left to a person with their suspects named, {} tries asked for by a person; \
         0 lost, 0 by two at once, 0 missing from state and suspects, 0 unlocked by hand, every log whole",
        count.runs,
        lives.len(),
        started.elapsed().as_secs_f64(),
        count.effects,
        count.log_bytes,
        story.asked.load(Ordering::Relaxed),
    );
}

/// What became of a resource.
#[derive(Debug, PartialEq)]
enum Life {
    /// Made, changed and removed.
    Whole,
    /// Something may exist that no state has: a person has to look.
    Uncertain,
}

struct Count {
    runs: usize,
    effects: usize,
    log_bytes: usize,
}

impl Story<'_> {
    async fn live(&self, name: &str) -> Life {
        let resource = json!({
            "name": name, "resource_type_name": "Thing", "resource_type_version": "v1", "action_plugin": "terraform",
            "plugin_config": { "source": { "path": self.module }, "variables": { "name": "${resource.name}", "size": "${spec.size}" } },
            "spec": { "size": 1 },
        });
        let post =
            || self.api.request(Method::POST, "/api/v1/resources").header("idempotency-key", name).json(&resource);
        let id = self.ask(&post).await["id"].as_i64().expect("an id");
        let path = format!("/api/v1/resources/{id}");
        for size in 1..=SIZES {
            if size > 1 {
                let spec = json!({ "spec": { "size": size } }).to_string();
                let patch = || {
                    let patch = self.api.request(Method::PATCH, &path);
                    patch.header("content-type", "application/merge-patch+json").body(spec.clone())
                };
                self.ask(&patch).await;
            }
            if self.settle(&path, size).await == Life::Uncertain {
                return Life::Uncertain;
            }
        }
        self.ask(&|| self.api.request(Method::DELETE, &path)).await;
        self.settle(&path, 0).await
    }

    /// Until it stands as wanted, or only a person can say how it goes on; 0 is gone.
    async fn settle(&self, path: &str, size: i64) -> Life {
        loop {
            let resource = self.ask(&|| self.api.request(Method::GET, path)).await;
            let is_gone = resource["status"] == 404;
            let is_right = resource["status"] == "ready"
                && resource["spec"]["size"] == size
                && resource["observed_generation"] == resource["generation"];
            if is_gone || (is_right && resource["operation_id"].is_null()) {
                self.rested.fetch_add(1, Ordering::Relaxed);
                return Life::Whole;
            }
            let is_stalled = resource["operation_id"].is_null()
                && resource["lifecycle"] == "failed"
                && resource["next_reconcile_at"].is_null();
            if is_stalled {
                assert!(resource["failure"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{resource}");
                if self.suspects(path).await {
                    self.rested.fetch_add(1, Ordering::Relaxed);
                    return Life::Uncertain;
                }
                // A person reads the failure, and tries again.
                self.asked.fetch_add(1, Ordering::Relaxed);
                self.ask(&|| self.api.request(Method::POST, &format!("{path}/reconcile"))).await;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn suspects(&self, path: &str) -> bool {
        let jobs = self.jobs(path).await;
        jobs.iter().any(|job| job["report"]["suspects"].as_array().is_some_and(|suspects| !suspects.is_empty()))
    }

    async fn jobs(&self, path: &str) -> Vec<Value> {
        let jobs = self.ask(&|| self.api.request(Method::GET, &format!("{path}/jobs"))).await;
        jobs.as_array().cloned().unwrap_or_default()
    }

    /// Ask until somebody answers: servers come and go here.
    async fn ask(&self, request: &dyn Fn() -> reqwest::RequestBuilder) -> Value {
        loop {
            assert!(Instant::now() < self.deadline, "it takes too long");
            match self.api.send(request()).await {
                Some(answer) if answer.status == 503 => {}
                // A delete that was done already, though its answer was lost; what is under way needs no asking.
                Some(answer) if [404, 409].contains(&answer.status) => return answer.body,
                Some(answer) => return answer.ok(),
                None => {}
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// When all is at rest: what the ledger says is what is known here.
    async fn check(&self, lives: &BTreeMap<String, Life>, seen: &Seen) -> Count {
        let existing: BTreeMap<String, String> = self
            .cloud
            .objects()
            .into_iter()
            .map(|object| (text(&object["name"]).to_owned(), text(&object["id"]).to_owned()))
            .collect();
        let mut count = Count { runs: 0, effects: 0, log_bytes: 0 };
        for (name, life) in lives {
            let effects = self.cloud.effects(name);
            count.effects += effects.len();
            let made = effects.iter().filter(|effect| *effect == "create").count();
            let unmade = effects.iter().filter(|effect| *effect == "destroy").count();
            assert_eq!(made - unmade, usize::from(existing.contains_key(name)), "{name}: {effects:?}");
            if *life == Life::Whole {
                assert!(!existing.contains_key(name), "{name} was deleted: {effects:?}");
            }
        }
        let jobs = self.all_jobs().await;
        assert!(seen.processes.is_empty(), "two at once: {:?}", seen.processes);
        let of: BTreeMap<i64, &Value> =
            jobs.iter().filter_map(|job| Some((job["id"].as_i64()?, &job["resource_id"]))).collect();
        for (one, other) in &seen.jobs {
            assert_ne!(of[one], of[other], "jobs {one} and {other} worked on the same at once");
        }
        for job in &jobs {
            count.runs += 1;
            count.log_bytes += self.check_log(job).await;
        }
        for resource in self.api.all("/api/v1/resources").await {
            let name = text(&resource["name"]);
            let mut its = jobs.iter().filter(|job| job["resource_id"] == resource["id"]);
            if let Some(id) = existing.get(name) {
                assert!(its.any(|job| knows(job, id)), "{name} ({id}) is in no state and no suspect: {resource}");
            }
        }
        count
    }

    /// Those of resources that were deleted, too.
    async fn all_jobs(&self) -> Vec<Value> {
        let (mut jobs, mut missing) = (Vec::new(), 0);
        // A transaction that was undone may have used up some numbers.
        for id in 1.. {
            let job = self.ask(&|| self.api.request(Method::GET, &format!("/api/v1/jobs/{id}"))).await;
            if job["status"] != 404 {
                jobs.push(job);
                missing = 0;
            } else if missing < 100 {
                missing += 1;
            } else {
                break;
            }
        }
        jobs
    }

    async fn check_log(&self, job: &Value) -> usize {
        assert!(["finished", "cancelled"].contains(&text(&job["state"])), "a run was lost: {job}");
        let path = format!("/api/v1/jobs/{}/log", job["id"]);
        let log = self.api.text(&path).await;
        assert_eq!(job["log_bytes"], log.len(), "{job}");
        assert_eq!(self.api.text(&format!("{path}?follow=true")).await, log);
        if job["state"] == "finished" {
            assert_eq!(job["report"]["log_bytes"], log.len(), "{job}: {log}");
        }
        let applied = job["report"]["end"]["end"] == "succeeded" && job["report"]["changes"]["created"] == 1;
        if applied {
            for line in ["cloudsim_thing.it: Creating...", "cloudsim_thing.it: Creation complete", "Apply complete!"] {
                assert!(log.contains(line), "{line}: {log}");
            }
        }
        log.len()
    }
}

/// Whether a job's report tells of this object: in the state it left, or among what may exist.
fn knows(job: &Value, id: &str) -> bool {
    let objects = job["report"]["objects"].as_array().into_iter().flatten();
    let suspects = job["report"]["suspects"].as_array().into_iter().flatten();
    objects.chain(suspects).any(|it| it["id"] == id || (it["id"].is_null() && it["address"] == "cloudsim_thing.it"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Until all is done: every now and then something dies.
async fn kill_at_random(
    cloud: &Cloud,
    server: &mut Server,
    postgres: Option<&Postgres>,
    is_done: &AtomicBool,
) -> BTreeMap<&'static str, usize> {
    let seed = std::env::var("TERRANE_CHAOS_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut chance = Chance(seed.unwrap_or_else(|| jiff::Timestamp::now().as_microsecond().unsigned_abs() | 1));
    println!("chaos: TERRANE_CHAOS_SEED={} draws the same", chance.0);
    let mut kills = BTreeMap::new();
    while !is_done.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(100 + chance.below(900))).await;
        let jobs = jobs_of(&cloud.workspaces_folder());
        let supervisors: Vec<u32> = jobs.values().flat_map(|job| job.supervisors.clone()).collect();
        let terraforms: Vec<u32> = jobs.values().flat_map(|job| job.terraforms.clone()).collect();
        let (what, victim) = match chance.below(10) {
            _ if kills.is_empty() => ("server", None),
            0 | 1 => ("server", None),
            2..=5 => ("supervisor", chance.pick(&supervisors)),
            6..=8 => ("terraform", chance.pick(&terraforms)),
            _ => ("database", None),
        };
        match (what, victim, postgres) {
            ("server", ..) => {
                server.kill();
                server.restart().await;
            }
            ("database", _, Some(postgres)) => postgres.restart(),
            (_, Some(pid), _) => kill(pid),
            _ => continue,
        }
        *kills.entry(what).or_default() += 1;
    }
    kills
}

/// Who was seen at work at the same time: jobs, and processes of one job.
#[derive(Default)]
struct Seen {
    jobs: BTreeSet<(i64, i64)>,
    processes: BTreeSet<String>,
}

/// Looks at the processes all the time. A look takes a moment, so that only what is there in two of them was there together.
async fn watch(cloud: &Cloud, is_done: &AtomicBool) -> Seen {
    let (mut seen, mut before) = (Seen::default(), BTreeMap::<i64, JobProcesses>::new());
    while !is_done.load(Ordering::Relaxed) {
        let now = jobs_of(&cloud.workspaces_folder());
        let stayed: Vec<(i64, JobProcesses)> =
            now.iter().filter_map(|(job, processes)| Some((*job, processes.and(before.get(job)?)))).collect();
        for (job, processes) in &stayed {
            if processes.supervisors.len() > 1 || processes.terraforms.len() > 1 {
                seen.processes.insert(format!("job {job}: {processes:?}"));
            }
        }
        let working = || stayed.iter().filter(|(_, processes)| !processes.supervisors.is_empty()).map(|(job, _)| *job);
        seen.jobs.extend(working().flat_map(|job| working().map(move |other| (job, other))).filter(|(a, b)| a < b));
        before = now;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    seen
}

/// Numbers that look random and can be drawn again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn pick(&mut self, of: &[u32]) -> Option<u32> {
        let index = usize::try_from(self.below(of.len().max(1) as u64)).unwrap_or(0);
        of.get(index).copied()
    }
}
