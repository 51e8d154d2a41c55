//! Requests per second of both sides, in turn: whatever else the machine does hits both.

use std::sync::Arc;

use anyhow::ensure;

use crate::Plan;
use crate::child::Server;
use crate::database::{Database, Kind};
use crate::http::Connection;
use crate::load::{Until, Work, run};
use crate::requests::{self, Creates};
use crate::table::{Table, median};

/// Connections in the bare server's pool, as one commonly sets it.
const POOL: u32 = 16;
/// How many different resources are read.
const READ: usize = 500;

/// Measure; what is left is a database of Terrane's with `plan.resources` in it.
pub async fn measure(kind: Kind, plan: Plan, table: &mut Table) -> anyhow::Result<Database> {
    let (bare_data, data) = (Database::fresh(kind, "bare").await?, Database::fresh(kind, "terrane").await?);
    let bare = Server::bare(&bare_data, POOL).await?;
    let terrane = Server::terrane(&data).await?;
    let mut connection = Connection::open(terrane.port).await?;
    let made = connection.send(&requests::post("/api/v1/resource-types", &requests::database_cluster())).await?;
    ensure!(made == 201, "the type was not made: {made}");

    let name = kind.name();
    let both = Both { bare: bare.port, terrane: terrane.port, plan };

    let post = Work::Create(Arc::new(Creates::of("github_actions", 0)));
    let posted = both.in_turn(&post).await?;
    let mut there = posted.requests;
    table.rates(format!("{name}: durable POST, bare pool of {POOL}"), posted.bare, posted.terrane, Some(1.5));
    if kind == Kind::Sqlite {
        // Writers that wait for each other's lock do worse than a single one: the stricter comparison.
        let single_data = Database::fresh(kind, "single").await?;
        let single = Server::bare(&single_data, 1).await?;
        let posted = Both { bare: single.port, ..both }.in_turn(&post).await?;
        there += posted.requests;
        table.rates(format!("{name}: durable POST, bare single connection"), posted.bare, posted.terrane, Some(1.5));
    }

    let get = |id: usize| requests::get(&format!("/api/v1/resources/{id}"));
    let got = both.in_turn(&Work::OneOf(Arc::new((1..=READ).map(get).collect()))).await?;
    table.rates(format!("{name}: GET by id"), got.bare, got.terrane, Some(0.9));
    let listed = both.in_turn(&Work::Same(Arc::new(requests::get("/api/v1/resources")))).await?;
    table.rates(format!("{name}: LIST of 100"), listed.bare, listed.terrane, None);
    let ceiling = both.in_turn(&Work::Same(Arc::new(requests::get("/health")))).await?;
    table.rates(format!("{name}: the client's ceiling (GET /health)"), ceiling.bare, ceiling.terrane, None);

    if there < plan.resources {
        eprintln!("{name}: from {there} to {} resources", plan.resources);
        run(terrane.port, plan.connections, &post, Until::Requests(plan.resources - there)).await?;
    }
    terrane.stop().await?;
    Ok(data)
}

#[derive(Clone, Copy)]
struct Both {
    bare: u16,
    terrane: u16,
    plan: Plan,
}

impl Both {
    /// A B A B A B.
    async fn in_turn(&self, work: &Work) -> anyhow::Result<InTurn> {
        let (mut bare, mut terrane, mut requests) = (Vec::new(), Vec::new(), 0);
        for _ in 0..self.plan.rounds {
            let until = Until::Seconds(self.plan.seconds);
            bare.push(run(self.bare, self.plan.connections, work, until).await?.per_second);
            let done = run(self.terrane, self.plan.connections, work, until).await?;
            terrane.push(done.per_second);
            requests += done.requests;
        }
        Ok(InTurn { bare: median(bare), terrane: median(terrane), requests })
    }
}

/// The medians per second of both sides, and how many requests Terrane answered in all.
struct InTurn {
    bare: f64,
    terrane: f64,
    requests: usize,
}
