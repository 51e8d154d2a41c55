//! A kill -9 at any moment loses nothing that was acknowledged, leaves nothing half-done, and no watcher misses a change
//! or is told of one twice.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};

use e2e::{Change, Crowd, Database, Server, Watch, database_cluster, name_of, spec_of, until};
use serde_json::Value;

const PILE: usize = 10_000;
const KILLS: usize = 3;

async fn ten_thousand_creates_survive_kills_and_a_watcher_sees_each_once(database: Database) {
    let mut server = Server::start(&database, &["--log", "warn"]).await;
    let api = server.api();
    api.post("/api/v1/resource-types", &database_cluster()).await.ok();
    let watch = Watch::begin(&api);
    let crowd = Crowd::gather(&api, 64, PILE, true);

    let moments = moments();
    eprintln!("killing after {moments:?} acknowledged creates");
    for moment in &moments {
        until("the crowd to get on", async || crowd.acknowledged() >= *moment).await;
        server.kill();
        server.restart().await;
    }
    let acknowledged = crowd.done().await;

    let resources = by_number(&api.all("/api/v1/resources?limit=1000").await);
    let lost: Vec<_> = acknowledged.iter().filter(|number| !resources.contains_key(number)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    // Those without an answer were asked for again until there was one.
    assert_eq!(resources.len(), PILE);
    for (number, resource) in &resources {
        assert_eq!(resource["spec"], spec_of(*number));
        assert_eq!(resource["generation"], 1);
    }
    for shard in 0..16 {
        let found = by_number(&api.all(&format!("/api/v1/resources?limit=1000&label_selector=shard={shard}")).await);
        let expected: BTreeSet<_> = (0..PILE).filter(|number| number % 16 == shard).collect();
        assert_eq!(found.keys().copied().collect::<BTreeSet<_>>(), expected, "by the label shard={shard}");
    }

    // Another story's transaction on the same PostgreSQL may hold the last events back for a moment.
    let mut events = Vec::new();
    until("all events to be there", async || {
        events = api.all("/api/v1/events?kind=resource&since=0&limit=1000").await;
        events.len() >= PILE
    })
    .await;
    assert_eq!(events.len(), PILE, "one event for each resource");
    for event in &events {
        assert_eq!((&event["action"], &event["before"]), (&"created".into(), &Value::Null));
        let resource = &resources[&number_of(&event["after"])];
        assert_eq!(&event["after"], resource, "the event holds the resource as it is");
        assert_eq!(event["seq"], resource["resource_version"]);
    }
    let told: Vec<_> = events.iter().map(change).collect();
    assert!(told.is_sorted_by(|one, next| one.seq < next.seq), "strictly in order");

    until("the watcher to have seen everything", async || watch.count() >= PILE).await;
    assert!(watch.opened() > KILLS, "the watcher came back after every kill");
    assert_eq!(first_difference(&watch.changes(), &told), None, "the watcher saw what the events tell, once, in order");
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

/// Points in the middle of the work, in order and apart.
fn moments() -> Vec<usize> {
    let share = PILE * 8 / 10 / KILLS;
    (0..KILLS).map(|kill| PILE / 10 + kill * share + RandomState::new().hash_one(kill) as usize % share).collect()
}

fn number_of(resource: &Value) -> usize {
    resource["labels"]["number"].as_str().and_then(|text| text.parse().ok()).expect("its number is a label")
}

fn by_number(resources: &[Value]) -> BTreeMap<usize, Value> {
    let mut found = BTreeMap::new();
    for resource in resources {
        let number = number_of(resource);
        assert_eq!(resource["name"], name_of(number));
        assert!(found.insert(number, resource.clone()).is_none(), "{number} is there twice");
    }
    found
}

fn change(event: &Value) -> Change {
    let name = event["object_name"].as_str().expect("a name").into();
    Change { seq: event["seq"].as_i64().expect("a number"), kind: "ADDED".into(), name }
}

/// Where two accounts part: a better message than both in full.
fn first_difference(one: &[Change], other: &[Change]) -> Option<String> {
    let at = (0..one.len().max(other.len())).find(|at| one.get(*at) != other.get(*at))?;
    Some(format!("at {at}: {:?} and {:?}", one.get(at), other.get(at)))
}

on_both!(ten_thousand_creates_survive_kills_and_a_watcher_sees_each_once);
