//! Tiny applies through the whole platform beside a bare loop of `terraform init` and `terraform apply`, and how soon Terraform
//! starts when there is room.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use sqlx::{AnyConnection, Connection as _};

use crate::child::Server;
use crate::database::{Database, Kind};
use crate::ground::{Ground, resource};
use crate::http::Connection;
use crate::requests;
use crate::table::{Table, quantiles};

/// MB that the control plane may take while 50 jobs run.
const RESIDENT: f64 = 100.0;
/// What the platform gives Terraform; the bare loop is measured as a person runs it, and with these.
const COLLECTOR: [(&str, &str); 2] = [("GOGC", "off"), ("GOMEMLIMIT", "536870912")];

pub async fn measure(applies: usize, table: &mut Table) -> anyhow::Result<()> {
    let ground = Ground::prepare()?;
    for parallel in [4, 50] {
        let bare = bare(&ground, &format!("bare-{parallel}"), applies, parallel, &[])?;
        let platform = platform(&ground, applies, parallel).await?;
        let what = format!("{applies} applies, {parallel} at once");
        table.times(format!("{what}, bare as it is"), bare, platform.seconds, Some(1.0));
        if parallel == 4 {
            let tuned = self::bare(&ground, "tuned", applies, parallel, &COLLECTOR)?;
            table.times(format!("{what}, bare with GOGC=off as ours"), tuned, platform.seconds, None);
        }
        table.alone(format!("{what}: control plane resident"), platform.resident, "MB", Some(RESIDENT));
        table.alone(format!("{what}: control plane CPU"), platform.cpu, "s", None);
    }
    let (p50, p99) = starts(&ground, (applies / 4).max(20)).await?;
    table.alone("accepted to Terraform started, p50, slots free".into(), p50, "ms", None);
    table.alone("accepted to Terraform started, p99, slots free".into(), p99, "ms", None);
    Ok(())
}

/// Seconds for all: folders with the module are there, `init` is part of it.
fn bare(
    ground: &Ground,
    name: &str,
    applies: usize,
    parallel: usize,
    settings: &[(&str, &str)],
) -> anyhow::Result<f64> {
    let module = ground.thing("tiny", 0)?;
    for number in 0..applies {
        let folder = ground.path(name).join(number.to_string());
        fs::create_dir_all(&folder)?;
        fs::copy(module.join("main.tf"), folder.join("main.tf"))?;
    }
    eprintln!("{name}: a bare loop of {applies} applies, {parallel} at once");
    let each = format!(
        "cd {name}/$1 && {tf} init -input=false -no-color >init.log 2>&1 && \
         {tf} apply -input=false -no-color -auto-approve -var name={name}-$1 >apply.log 2>&1",
        tf = ground.terraform.display()
    );
    let script = format!("seq 0 {} | xargs -P {parallel} -n 1 sh -c '{each}' sh", applies - 1);
    let started = Instant::now();
    let status = Command::new("sh")
        .args(["-c", &script])
        .current_dir(ground.path(""))
        .env("TF_CLI_CONFIG_FILE", ground.path("terraform.rc"))
        .env("CHECKPOINT_DISABLE", "1")
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .status()?;
    ensure!(status.success(), "the bare loop failed: see {}", ground.path(name).display());
    Ok(started.elapsed().as_secs_f64())
}

struct Platform {
    seconds: f64,
    resident: f64,
    cpu: f64,
}

async fn platform(ground: &Ground, applies: usize, parallel: usize) -> anyhow::Result<Platform> {
    let database = Database::fresh(Kind::Sqlite, &format!("applies_{parallel}")).await?;
    let server = ground.server(&database, parallel, &ground.terraform).await?;
    let module = ground.thing("tiny", 0)?;
    declare_type(&server).await?;
    eprintln!("the same through the platform");
    let started = Instant::now();
    let mut connection = Connection::open(server.port).await?;
    for number in 0..applies {
        let name = format!("platform-{parallel}-{number}");
        let made = resource(&name, &module, json!({ "name": "${resource.name}" }));
        let status = connection.send(&requests::post("/api/v1/resources", &made)).await?;
        ensure!(status == 201, "not made: {status}");
    }
    let mut resident: f64 = 0.0;
    let mut eye = open(&database).await?;
    loop {
        resident = resident.max(server.resident()?);
        let (active, failed) = standing(&mut eye).await?;
        ensure!(failed == 0, "{failed} applies failed");
        if active == applies {
            break;
        }
        ensure!(started.elapsed() < Duration::from_secs(1800), "only {active} of {applies} were applied");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let seconds = started.elapsed().as_secs_f64();
    let cpu = server.cpu()?;
    server.stop().await?;
    Ok(Platform { seconds, resident, cpu })
}

/// From the answer to a creation to the first start of Terraform, in milliseconds: its program is one that notes the time.
async fn starts(ground: &Ground, samples: usize) -> anyhow::Result<(f64, f64)> {
    let notes = ground.path("world").join("starts");
    let noting = ground.path("noting");
    let terraform = ground.terraform.display();
    fs::write(&noting, format!("#!/bin/sh\ndate +%s%N >> {}\nexec {terraform} \"$@\"\n", notes.display()))?;
    fs::set_permissions(&noting, fs::Permissions::from_mode(0o755))?;
    fs::write(&notes, "")?;
    fs::set_permissions(&notes, fs::Permissions::from_mode(0o666))?;
    let database = Database::fresh(Kind::Sqlite, "starts").await?;
    // Found as what it is called by, since what it calls is beside it.
    let server = ground.server(&database, 4, &noting).await?;
    let module = ground.thing("tiny", 0)?;
    declare_type(&server).await?;
    let mut connection = Connection::open(server.port).await?;
    let mut eye = open(&database).await?;
    let mut found = Vec::new();
    for number in 0..samples {
        let before = fs::read_to_string(&notes)?.lines().count();
        let made = resource(&format!("start-{number}"), &module, json!({ "name": "${resource.name}" }));
        let status = connection.send(&requests::post("/api/v1/resources", &made)).await?;
        ensure!(status == 201, "not made: {status}");
        let answered = now()?;
        until(&mut eye, number + 1).await?;
        let noted = fs::read_to_string(&notes)?;
        let first: u128 = noted.lines().nth(before).context("Terraform was started")?.trim().parse()?;
        found.push(first.saturating_sub(answered) as f64 / 1e6);
    }
    server.stop().await?;
    Ok(quantiles(found))
}

async fn until(eye: &mut AnyConnection, wanted: usize) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let (active, failed) = standing(eye).await?;
        ensure!(failed == 0, "{failed} applies failed");
        if active >= wanted {
            return Ok(());
        }
        ensure!(started.elapsed() < Duration::from_secs(300), "only {active} of {wanted} came to rest");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub async fn declare_type(server: &Server) -> anyhow::Result<()> {
    let kind = json!({ "name": "Thing", "version": "v1", "schema": { "type": "object" } });
    let made = Connection::open(server.port).await?.send(&requests::post("/api/v1/resource-types", &kind)).await?;
    ensure!(made == 201, "the type was not made: {made}");
    Ok(())
}

/// How many are active, how many failed.
pub async fn standing(eye: &mut AnyConnection) -> anyhow::Result<(usize, usize)> {
    let text = "SELECT count(CASE WHEN lifecycle = 'active' THEN 1 END), count(CASE WHEN lifecycle = 'failed' THEN 1 END) \
                FROM resources";
    let (active, failed): (i64, i64) = sqlx::query_as(text).fetch_one(eye).await?;
    Ok((usize::try_from(active)?, usize::try_from(failed)?))
}

pub async fn open(database: &Database) -> anyhow::Result<AnyConnection> {
    sqlx::any::install_default_drivers();
    Ok(AnyConnection::connect(&format!("{}?mode=ro", database.url)).await?)
}

/// Nanoseconds since 1970, as `date +%s%N` has them.
pub fn now() -> anyhow::Result<u128> {
    Ok(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_nanos())
}
