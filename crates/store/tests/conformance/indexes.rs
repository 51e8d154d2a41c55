//! The cost of a statement is what it reads or writes, not what there is: none goes through a table that grows.

use model::{EventSeq, Kind, Selector, Status};
use serde_json::json;
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use store::{EventFilter, IdempotencyKey, Recorded, ResourceFilter, Store};

use crate::acts::*;
use crate::db::{Db, execute};
use crate::wire::{Statement, Wire};

on_postgres!(no_statement_goes_through_a_table_that_grows);

const GROWING: [&str; 7] = [
    "resources",
    "resource_labels",
    "events",
    "reconciliation_history",
    "idempotency_keys",
    "tokens",
    "resource_types",
];

/// What the store calls them in joins.
const ALIASES: [&str; 2] = ["r", "type"];

/// Both databases get the same texts, so those that pass on the way to PostgreSQL serve for SQLite too.
async fn no_statement_goes_through_a_table_that_grows(db: Db) {
    let wire = Wire::to(&db).await;
    let store = Store::open(&wire.location).await.expect("opened");
    do_everything(&store).await;
    let statements: Vec<_> = wire.statements().into_iter().filter(|it| is_often_asked(&it.text)).collect();
    assert!(statements.len() > 40, "only {} statements were seen", statements.len());

    populate(&db).await;
    let mut postgres = db.raw().await;
    // What is rare in a table of test size may be cheaper to come upon than to look up: that choice is taken away, and
    // whatever goes through a table still has no index to use.
    // The same goes for joins with a batch, of whose size the planner knows nothing.
    execute(
        &mut postgres,
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_mergejoin = off; SET enable_hashjoin = off",
    )
    .await;
    for statement in &statements {
        let plan = explain_on_postgres(&mut postgres, statement).await;
        let scan = scan_on_postgres(&plan);
        assert!(scan.is_none(), "PostgreSQL: {scan:?} in\n{}\nfor\n{}", plan.join("\n"), statement.text);
    }

    let other = Db::sqlite().await;
    let mut sqlite = other.raw().await;
    let horizon = "SELECT coalesce(max(seq), 0) AS horizon, coalesce(max(seq), 0) AS newest FROM events".to_string();
    // What is only PostgreSQL's own way of putting it, SQLite does not read.
    let shared = |text: &String| !text.contains("pg_") && !text.contains("json_to_recordset");
    let texts = statements.into_iter().map(|it| it.text).filter(shared).chain([horizon]);
    for text in texts {
        let text = in_sqlites_words(&text);
        let plan = explain_on_sqlite(&mut sqlite, &text).await;
        // An INSERT's plan also shows how foreign keys would be repaired, which never happens: only what it names counts.
        let is_named = |name: &str| text.split([' ', '(', '.']).any(|word| word == name);
        let scan = plan.iter().find(|line| {
            let scanned = line.strip_prefix("SCAN ").and_then(|rest| rest.split(' ').next());
            scanned.is_some_and(|name| is_named(name) && (GROWING.contains(&name) || ALIASES.contains(&name)))
        });
        assert!(scan.is_none(), "SQLite: {scan:?} in\n{}\nfor\n{text}", plan.join("\n"));
    }
}

/// What `dialect` says differently.
fn in_sqlites_words(text: &str) -> String {
    let text = text.replace(" FOR UPDATE", "").replace(" FOR SHARE", "").replace("json_build_array(", "json_array(");
    let Some((before, rest)) = text.split_once("json_to_recordset($1::json) AS v (") else { return text };
    let (columns, after) = rest.split_once(')').expect("the end of the columns");
    let columns: Vec<_> = columns.split(", ").filter_map(|column| column.split(' ').next()).collect();
    let columns: Vec<_> = columns.iter().map(|name| format!("value ->> '{name}' AS {name}")).collect();
    format!("{before}(SELECT {} FROM json_each($1)) AS v{after}", columns.join(", "))
}

/// Whether anybody could sign in is asked only when a server starts.
fn is_often_asked(text: &str) -> bool {
    GROWING.iter().any(|table| text.contains(table)) && !text.starts_with("SELECT 1 FROM tokens WHERE deleted_at")
}

/// The part of a plan that goes through a table or a whole index.
fn scan_on_postgres(plan: &[String]) -> Option<&String> {
    plan.iter().enumerate().find_map(|(at, node)| {
        let is_growing = GROWING.iter().any(|table| node.contains(&format!(" {table}")));
        let details = plan[at + 1..].iter().take_while(|line| !line.contains("->"));
        let is_scan = node.contains("Seq Scan on")
            || node.contains("Index")
                && node.contains("Scan")
                && !details.into_iter().any(|line| line.contains("Index Cond"));
        (is_growing && is_scan).then_some(node)
    })
}

async fn explain_on_postgres(raw: &mut AnyConnection, statement: &Statement) -> Vec<String> {
    let types: Vec<_> =
        statement.arguments.iter().map(|id| if *id == 0 { "unknown" } else { type_name(*id) }).collect();
    let types = if types.is_empty() { String::new() } else { format!("({})", types.join(", ")) };
    execute(raw, &format!("PREPARE it {types} AS {}", statement.text)).await;
    let nulls = vec!["NULL"; statement.arguments.len()].join(", ");
    let nulls = if nulls.is_empty() { nulls } else { format!("({nulls})") };
    let rows =
        sqlx::raw_sql(AssertSqlSafe(format!("EXPLAIN EXECUTE it{nulls}"))).fetch_all(&mut *raw).await.expect("a plan");
    execute(raw, "DEALLOCATE it").await;
    rows.iter().map(|row| row.get(0)).collect()
}

/// PostgreSQL's fixed numbers of the types that the store binds.
fn type_name(id: u32) -> &'static str {
    match id {
        16 => "boolean",
        17 => "bytea",
        20 => "bigint",
        23 => "integer",
        25 => "text",
        1043 => "varchar",
        other => panic!("an argument of type {other}"),
    }
}

async fn explain_on_sqlite(raw: &mut AnyConnection, text: &str) -> Vec<String> {
    let rows = sqlx::raw_sql(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {text}"))).fetch_all(raw).await;
    rows.unwrap_or_else(|error| panic!("{error}: {text}")).iter().map(|row| row.get::<String, _>("detail")).collect()
}

/// Enough of everything that going through a table would be the wrong choice.
async fn populate(db: &Db) {
    let text = "
        INSERT INTO tenants (name, description, created_at) SELECT 'tenant-' || n, '', 0 FROM generate_series(1, 50) n;
        INSERT INTO tokens (tenant_id, name, prefix, hash, role, created_at)
            SELECT 2 + n % 50, 'token-' || n, 'prefix-' || n, '', 'viewer', 0 FROM generate_series(1, 2000) n;
        INSERT INTO resource_types (tenant_id, name, version, description, schema, resource_version, created_at, updated_at)
            SELECT 2 + n % 50, 'Type' || n / 50, 'v1', '', '{}', n, 0, 0 FROM generate_series(1, 2000) n;
        INSERT INTO resources (tenant_id, type_id, resource_type_name, resource_type_version, name, action_plugin, plugin_config,
            spec, labels, annotations, lifecycle, lifecycle_since, status_message, generation, observed_generation, created_at,
            updated_at, resource_version)
            SELECT 2 + n % 50, (SELECT min(id) FROM resource_types) + n % 2000, 'Type' || n % 100, 'v1', 'r' || n,
            'plugin-' || n % 10, '{}', '{}', '{}', '{}', (ARRAY['pending', 'active', 'failed', 'updating'])[1 + n % 4], 0, '', 1, 0,
            0, 0, n FROM generate_series(1, 5000) n;
        INSERT INTO resource_labels (resource_id, tenant_id, key, value)
            SELECT id, tenant_id, key, 'value-' || id % 20 FROM resources, (VALUES ('env'), ('tier'), ('team')) keys (key)
            ON CONFLICT DO NOTHING;
        INSERT INTO reconciliation_history (tenant_id, resource_id, generation, success, phase, resources_created,
            resources_updated, resources_deleted, reconcile_time)
            SELECT tenant_id, id, 1, true, '', 0, 0, 0, 0 FROM resources;
        INSERT INTO events (seq, tenant_id, at, kind, object_id, object_name, action, actor)
            SELECT -n, 2 + n % 50, 0, (ARRAY['resource', 'resource_type', 'token'])[1 + n % 3], n / 10, '', 'updated', ''
            FROM generate_series(1, 10000) n;
        INSERT INTO idempotency_keys (tenant_id, key, fingerprint, status, body, created_at)
            SELECT 2 + n % 50, 'key-' || n, '', 201, '{}', extract(epoch FROM now())::bigint * 1000000 + n
            FROM generate_series(1, 5000) n;
        ANALYZE";
    db.execute(text).await;
}

/// Every function of the store, with every filter.
async fn do_everything(store: &Store) {
    let acme = &tenant(store, "acme").await;
    let kind = some_type(store, acme, "Database").await;
    let mut new = new_resource("orders", &kind);
    new.desired.labels = labels(&[("env", "prod")]);
    let id = create_resource(store, acme, &new).await.expect("created").id;
    exists(create_resource(store, acme, &new).await);
    update_resource(store, acme, id, &kind, |desired| desired.labels = labels(&[("env", "dev")]))
        .await
        .expect("updated");
    request_reconcile(store, acme, id).await.expect("asked");
    record_attempt(store, acme, id, 1).await.expect("recorded");
    let token = create_token(store, acme, &new_token("ci")).await.expect("created");
    store.note_token_use(vec![(token.id, jiff::Timestamp::now())]).await.expect("noted");
    read_everything(store, acme, &kind, id, token.id).await;

    let of = kind.id;
    let changed = work!([acme], |tx| {
        tx.hold_type(&acme, of).await?;
        tx.specs_changed_after(of, EventSeq(0)).await
    });
    store.write(0, changed).await.expect("read");
    let key = IdempotencyKey { key: "key".into(), fingerprint: String::new() };
    let once = work!([acme, key], |tx| {
        tx.recall(&acme, &key).await?;
        tx.remember(&acme, &key, &Recorded { status: 200, body: String::new() }).await
    });
    store.write(0, once).await.expect("recorded");
    let kind = update_type(store, acme, kind.id, &json!({})).await.expect("updated");
    refused(delete_type(store, acme, kind.id).await);
    refused(delete_tenant(store, "acme").await);
    delete_token(store, acme, token.id).await.expect("deleted");
    delete_resource(store, acme, id).await.expect("deleted");
    delete_type(store, acme, kind.id).await.expect("deleted");
    delete_tenant(store, "acme").await.expect("deleted");
}

async fn read_everything(
    store: &Store,
    scope: &model::Scope,
    of: &model::ResourceType,
    id: model::ResourceId,
    token: model::TokenId,
) {
    store.scope("acme").await.expect("read");
    store.tenant("acme").await.expect("read");
    store.tenants(0, 10).await.expect("read");
    store.token(scope, token).await.expect("read");
    store.tokens(scope, 0, 10).await.expect("read");
    store.token_by_prefix("prefix-ci").await.expect("read");
    store.has_tokens().await.expect("read");
    store.is_token_good(token).await.expect("read");
    store.resource_type(scope, of.id).await.expect("read");
    store.resource_type_by_name(scope, "Database", "v1").await.expect("read");
    store.resource_types(scope, None, 0, 10).await.expect("read");
    store.resource_types(scope, Some("Database"), 0, 10).await.expect("read");
    store.resource(scope, id).await.expect("read");
    store.resource_text(scope, id).await.expect("read");
    store.resource_by_name(scope, "Database", "orders").await.expect("read");
    store.resource_texts(scope, &ResourceFilter::default(), 0, 10).await.expect("read");
    store.outputs(scope, id).await.expect("read");
    store.history(scope, id, None, 10).await.expect("read");
    store.specs_of_type(of.id, 0, EventSeq(i64::MAX), 10).await.expect("read");
    store.horizon().await.expect("read");
    for selector in
        ["", "env=prod", "env in (prod, dev)", "env", "env!=prod", "env notin (prod, dev)", "!env", "env,!tier"]
    {
        let filter = ResourceFilter { selector: Selector::parse(selector).expect("legal"), ..Default::default() };
        store.resources(scope, &filter, 0, 10).await.expect("read");
        let all = ResourceFilter {
            status: Some(Status::Reconciling),
            resource_type_name: Some("Database".into()),
            action_plugin: Some("terraform".into()),
            name: Some("orders".into()),
            ..filter
        };
        let none = || ResourceFilter { selector: all.selector.clone(), ..Default::default() };
        for filter in [
            ResourceFilter { status: all.status, ..none() },
            ResourceFilter { resource_type_name: all.resource_type_name.clone(), ..none() },
            ResourceFilter { action_plugin: all.action_plugin.clone(), ..none() },
            ResourceFilter { name: all.name.clone(), ..none() },
            all.clone(),
        ] {
            store.resources(scope, &filter, 0, 10).await.expect("read");
        }
    }
    for (object_id, with_fleet) in [(None, false), (None, true), (Some(id.0), false)] {
        for kinds in [Kind::ALL.to_vec(), vec![Kind::Resource]] {
            let filter = EventFilter { scope: scope.clone(), kinds, object_id, with_fleet };
            store.events(&filter, EventSeq(0), 10).await.expect("read");
        }
    }
}
