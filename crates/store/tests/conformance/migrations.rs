//! The database's version.

use futures::future::join_all;
use store::{Location, MigrateError, Migrated, Store};

use crate::acts::*;
use crate::db::Db;

on_both!(
    a_second_migration_does_nothing,
    many_processes_may_migrate_at_once,
    a_database_newer_than_the_program_is_refused,
    a_database_that_is_not_migrated_is_not_opened,
    a_migration_that_fails_leaves_the_database_as_it_was,
);

mod sqlite_only {
    #[tokio::test]
    async fn a_database_may_lie_in_a_folder_of_any_name() {
        super::a_database_may_lie_in_a_folder_of_any_name().await;
    }
}

async fn a_second_migration_does_nothing(db: Db) {
    some_type(&db.store, &home(), "Database").await;
    let before = db.contents().await;
    let Migrated { from, to } = Store::migrate(&db.location).await.expect("migrated again");
    assert_eq!(from, to);
    assert_eq!(db.contents().await, before);
}

async fn many_processes_may_migrate_at_once(db: Db) {
    let blank = db.blank().await;
    let migrations = join_all((0..8).map(|_| {
        let location = blank.location.clone();
        tokio::spawn(async move { Store::migrate(&location).await })
    }))
    .await;
    let mut did_it = 0;
    for migrated in migrations {
        let Migrated { from, to } = migrated.expect("no panic").expect("migrated");
        assert!(from == 0 || from == to);
        did_it += usize::from(from == 0);
    }
    assert_eq!(did_it, 1);
    some_type(&blank.open().await, &home(), "Database").await;
}

async fn a_database_newer_than_the_program_is_refused(db: Db) {
    let known = Store::migrate(&db.location).await.expect("migrated").to;
    let newer = known + 1;
    db.execute(&format!("INSERT INTO schema_versions (version, name, applied_at) VALUES ({newer}, 'later', 0)")).await;
    let before = db.contents().await;
    let migrated = Store::migrate(&db.location).await;
    assert!(
        matches!(migrated, Err(MigrateError::Newer { found, known: k }) if (found, k) == (newer, known)),
        "{migrated:?}"
    );
    let opened = Store::open(&db.location).await.map(drop);
    assert!(
        matches!(opened, Err(MigrateError::Newer { found, known: k }) if (found, k) == (newer, known)),
        "{opened:?}"
    );
    assert_eq!(db.contents().await, before);
}

async fn a_database_that_is_not_migrated_is_not_opened(db: Db) {
    let blank = db.blank().await;
    let opened = Store::open(&blank.location).await.map(drop);
    assert!(matches!(opened, Err(MigrateError::Older { found: 0, .. })), "{opened:?}");
}

async fn a_migration_that_fails_leaves_the_database_as_it_was(db: Db) {
    let blank = db.blank().await;
    // In the way of the last table but one.
    blank.execute("CREATE TABLE idempotency_keys (mine INTEGER)").await;
    let migrated = Store::migrate(&blank.location).await;
    assert!(matches!(migrated, Err(MigrateError::Database(_))), "{migrated:?}");
    let tables = if db.is_postgres() {
        "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
    } else {
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    };
    assert_eq!(blank.number(tables).await, 1);
    blank.execute("DROP TABLE idempotency_keys").await;
    assert_eq!(Store::migrate(&blank.location).await.expect("migrated").from, 0);
}

async fn a_database_may_lie_in_a_folder_of_any_name() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    for name in ["with space", "C#", "100%", "a%20b", "what?", "a&b=c", "ünïcödé", "quo'te\"s", "a:b@c"] {
        let path = folder.path().join(name).join("terrane.db");
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
        let location = Location::Sqlite(path.clone());
        Store::migrate(&location).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(path.exists(), "{name}: the database is elsewhere");
        some_type(&Store::open(&location).await.expect("opened"), &home(), "Database").await;
    }
    std::env::set_current_dir(folder.path()).expect("the folder");
    for name in ["terrane.db", "with space/relative.db", ".hidden.db"] {
        Store::migrate(&Location::Sqlite(name.into())).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(folder.path().join(name).exists(), "{name}: the database is elsewhere");
    }
}
