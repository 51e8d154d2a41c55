//! Group commit: what arrives together is committed together, and nobody suffers for a neighbour.

use futures::FutureExt;
use store::{Error, NewTenant};

use crate::acts::*;
use crate::db::{Db, eventually};
use crate::gate::{Gate, UnderWay, queued};

on_both!(
    writes_that_arrive_together_commit_together,
    a_write_is_acknowledged_when_it_is_committed_and_not_before,
    a_write_that_the_database_fails_does_not_take_its_neighbours_with_it,
    a_write_that_panics_does_not_take_the_writer_with_it,
    a_caller_that_goes_away_does_not_undo_its_write,
    a_rehearsal_tells_what_would_have_been_and_leaves_no_trace,
    a_rehearsal_is_refused_as_the_write_would_be,
    a_rehearsal_among_writes_does_not_undo_them,
    what_was_taken_before_the_close_is_done_and_what_comes_after_is_not,
    a_group_with_more_events_than_a_transaction_has_numbers_for_is_done_in_parts,
);

async fn writes_that_arrive_together_commit_together(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let gate = Gate::shut(&db.store).await;
    let writes: Vec<_> = (0..400)
        .map(|at| {
            let (store, new) = (db.store.clone(), new_resource(&format!("r{at}"), &kind));
            tokio::spawn(async move { create_resource(&store, &home(), &new).await })
        })
        .collect();
    queued(&db.store, 400).await;
    let before = db.store.writer_stats();
    gate.open().await;
    for write in writes {
        write.await.expect("no panic").expect("created");
    }
    let after = db.store.writer_stats();
    assert_eq!((after.writes - before.writes, after.waiting), (400 + before.scribes, 0));
    let groups = after.groups - before.groups - before.scribes;
    assert!(groups <= 4, "{groups} groups for 400 writes");
    assert_eq!(db.number("SELECT count(*) FROM resources").await, 400);
}

async fn a_write_is_acknowledged_when_it_is_committed_and_not_before(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let (store, new) = (db.store.clone(), new_resource("orders", &kind));
    let write = UnderWay::after(&db.store, async move { create_resource(&store, &home(), &new).await }).await;
    let mut raw = db.raw().await;
    assert!(!write.is_acknowledged(), "acknowledged before the commit");
    assert_eq!(crate::db::number(&mut raw, "SELECT count(*) FROM resources").await, 0);
    write.end().await.expect("created");
    assert_eq!(crate::db::number(&mut raw, "SELECT count(*) FROM resources").await, 1);
}

/// Make the database itself fail on a resource of this name.
async fn poison(db: &Db, name: &str) {
    let text = if db.is_postgres() {
        format!(
            "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poison'; END $$;
             CREATE TRIGGER poison BEFORE INSERT ON resources FOR EACH ROW WHEN (NEW.name = '{name}') EXECUTE FUNCTION poison()"
        )
    } else {
        format!(
            "CREATE TRIGGER poison BEFORE INSERT ON resources WHEN NEW.name = '{name}' BEGIN SELECT RAISE(ABORT, 'poison'); END"
        )
    };
    db.execute(&text).await;
}

async fn a_write_that_the_database_fails_does_not_take_its_neighbours_with_it(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    poison(&db, "r7").await;
    let gate = Gate::shut(&db.store).await;
    let writes: Vec<_> = (0..20)
        .map(|at| {
            let (store, new) = (db.store.clone(), new_resource(&format!("r{at}"), &kind));
            tokio::spawn(async move { create_resource(&store, &home(), &new).await })
        })
        .collect();
    queued(&db.store, 20).await;
    gate.open().await;
    let mut versions = Vec::new();
    for (at, write) in writes.into_iter().enumerate() {
        match write.await.expect("no panic") {
            Ok(created) => versions.push(created.resource_version),
            Err(Error::Unavailable(_)) if at == 7 => {}
            other => panic!("r{at}: {other:?}"),
        }
    }
    assert_eq!(versions.len(), 19);
    assert_eq!(db.number("SELECT count(*) FROM resources").await, 19);
    versions.sort_unstable();
    let events: Vec<_> = events_of(&db.store, &home()).await.iter().skip(1).map(|event| event.seq.0).collect();
    assert_eq!(events, versions, "one event for each, none for the failed one");
}

async fn a_write_that_panics_does_not_take_the_writer_with_it(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let before = db.contents().await;
    let (scope, new) = (home(), new_resource("half", &kind));
    let work = work!([scope, new], |tx| {
        tx.create_resource(&scope, &actor(), &new).await?;
        if new.name == "half" {
            panic!("half-way");
        }
        Ok(())
    });
    let result = db.store.write(0, work).await;
    assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
    assert_eq!(db.contents().await, before);
    some_resource(&db.store, &home(), &kind, "after").await;
}

async fn a_caller_that_goes_away_does_not_undo_its_write(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let gate = Gate::shut(&db.store).await;
    let (scope, gone, stays) = (home(), new_resource("gone", &kind), new_resource("stays", &kind));
    // Asked once, as a server does before its client hangs up, and dropped.
    assert!(create_resource(&db.store, &scope, &gone).now_or_never().is_none());
    let store = db.store.clone();
    let neighbour = tokio::spawn(async move { create_resource(&store, &scope, &stays).await });
    queued(&db.store, 2).await;
    gate.open().await;
    neighbour.await.expect("no panic").expect("created");
    for name in ["gone", "stays"] {
        db.store.resource_by_name(&home(), "Database", name).await.expect("found");
    }
    assert_eq!(events_of(&db.store, &home()).await.len(), 3);
}

async fn a_rehearsal_tells_what_would_have_been_and_leaves_no_trace(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let real = some_resource(&db.store, &home(), &kind, "real").await;
    let before = db.contents().await;
    let (scope, new) = (home(), new_resource("orders", &kind));
    let rehearsed = db
        .store
        .rehearse(work!([scope, new], |tx| tx.create_resource(&scope, &actor(), &new).await))
        .await
        .expect("rehearsed");
    assert_eq!(
        (rehearsed.name.as_str(), rehearsed.desired(), rehearsed.generation),
        ("orders", new.desired.clone(), 1)
    );
    let id = real.id;
    let rehearsed = db
        .store
        .rehearse(work!([scope], |tx| {
            let held = tx.hold_resource(&scope, id).await?;
            tx.request_delete(&scope, &actor(), &held).await
        }))
        .await
        .expect("rehearsed");
    assert_eq!(rehearsed.lifecycle, model::Lifecycle::Deleted);
    assert_eq!(db.contents().await, before);
    create_resource(&db.store, &home(), &new).await.expect("the name is free");
}

async fn a_rehearsal_is_refused_as_the_write_would_be(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    some_resource(&db.store, &home(), &kind, "orders").await;
    let before = db.contents().await;
    let (scope, new) = (home(), new_resource("orders", &kind));
    exists(db.store.rehearse(work!([scope, new], |tx| tx.create_resource(&scope, &actor(), &new).await)).await);
    assert_eq!(db.contents().await, before);
}

async fn a_rehearsal_among_writes_does_not_undo_them(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let gate = Gate::shut(&db.store).await;
    let mut waiting = Vec::new();
    for at in 0..6 {
        let (store, scope, new) = (db.store.clone(), home(), new_resource(&format!("r{at}"), &kind));
        waiting.push(tokio::spawn(async move {
            let work = work!([scope, new], |tx| tx.create_resource(&scope, &actor(), &new).await);
            if at % 2 == 0 { store.write(0, work).await } else { store.rehearse(work).await }
        }));
    }
    queued(&db.store, 6).await;
    gate.open().await;
    for write in waiting {
        write.await.expect("no panic").expect("done or rehearsed");
    }
    for at in 0..6 {
        let found = db.store.resource_by_name(&home(), "Database", &format!("r{at}")).await;
        assert_eq!(found.is_ok(), at % 2 == 0, "r{at}");
    }
}

async fn what_was_taken_before_the_close_is_done_and_what_comes_after_is_not(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let gate = Gate::shut(&db.store).await;
    let writes: Vec<_> = (0..5)
        .map(|at| {
            let (store, new) = (db.store.clone(), new_resource(&format!("r{at}"), &kind));
            tokio::spawn(async move { create_resource(&store, &home(), &new).await })
        })
        .collect();
    queued(&db.store, 5).await;
    let store = db.store.clone();
    let closing = tokio::spawn(async move { store.close().await });
    gate.open().await;
    for write in writes {
        write.await.expect("no panic").expect("taken before the close");
    }
    eventually("the close", closing).await.expect("no panic");
    let late = create_resource(&db.store, &home(), &new_resource("late", &kind)).await;
    assert!(matches!(late, Err(Error::Closing)), "{late:?}");
    assert_eq!(db.number("SELECT count(*) FROM resources").await, 5);
}

async fn a_group_with_more_events_than_a_transaction_has_numbers_for_is_done_in_parts(db: Db) {
    let gate = Gate::shut(&db.store).await;
    let mut writes = Vec::new();
    for half in ["left", "right"] {
        let store = db.store.clone();
        writes.push(tokio::spawn(async move {
            let work = work!([], |tx| {
                for at in 0..2100 {
                    let new = NewTenant { name: format!("{half}-{at}"), description: String::new() };
                    tx.create_tenant(&actor(), &new).await?;
                }
                Ok(())
            });
            store.write(0, work).await
        }));
    }
    queued(&db.store, 2).await;
    gate.open().await;
    for write in writes {
        write.await.expect("no panic").expect("done");
    }
    assert_eq!(events_of(&db.store, &fleet()).await.len(), 4200);
}
