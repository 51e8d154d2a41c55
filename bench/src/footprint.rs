//! What Terrane takes when nobody asks anything of it: memory at rest and the time to start, empty and full.

use std::time::Duration;

use crate::Plan;
use crate::child::Server;
use crate::database::{Database, Kind};
use crate::http::Connection;
use crate::requests;
use crate::table::{Table, median};

/// MB: at rest, and how much more the resources may take.
const AT_REST: f64 = 42.0;
const FOR_RESOURCES: f64 = 64.0;

#[derive(Default)]
struct Found {
    starts: Vec<f64>,
    at_rest: Vec<f64>,
    after_list: Vec<f64>,
}

pub async fn measure(kind: Kind, plan: Plan, full: Database, table: &mut Table) -> anyhow::Result<()> {
    let empty = Database::fresh(kind, "empty").await?;
    // The first start makes the tables; the others are what a restart takes.
    Server::terrane(&empty).await?.stop().await?;
    let (mut of_none, mut of_many) = (Found::default(), Found::default());
    for _ in 0..plan.starts {
        look(&empty, &mut of_none).await?;
        look(&full, &mut of_many).await?;
    }
    let name = kind.name();
    let resources = plan.resources;
    let at_rest = median(of_none.at_rest);
    let most = at_rest + FOR_RESOURCES;
    table.alone(format!("{name}: resident, idle, no resources"), at_rest, "MB", Some(AT_REST));
    table.alone(format!("{name}: resident, after one list"), median(of_none.after_list), "MB", Some(AT_REST));
    table.alone(format!("{name}: resident, idle, {resources} resources"), median(of_many.at_rest), "MB", Some(most));
    let listed = median(of_many.after_list);
    table.alone(format!("{name}: resident, {resources}, after one list"), listed, "MB", Some(most));
    let start = median(of_none.starts);
    table.alone(format!("{name}: start, no resources"), start, "ms", None);
    // Flat: within half as much again, and the scheduler's noise.
    table.alone(format!("{name}: start, {resources} resources"), median(of_many.starts), "ms", Some(start * 1.5 + 5.0));
    Ok(())
}

async fn look(database: &Database, found: &mut Found) -> anyhow::Result<()> {
    let server = Server::terrane(database).await?;
    found.starts.push(server.start.as_secs_f64() * 1e3);
    tokio::time::sleep(Duration::from_millis(500)).await;
    found.at_rest.push(server.resident()?);
    Connection::open(server.port).await?.send(&requests::get("/api/v1/resources")).await?;
    found.after_list.push(server.resident()?);
    server.stop().await
}
