//! Tokens.

use jiff::{Timestamp, ToSpan};
use model::{Action, Kind, Role, TokenId};
use serde_json::json;
use store::NewToken;

use crate::acts::*;
use crate::db::Db;

on_both!(
    a_token_reads_back_as_it_was_created,
    a_token_is_found_by_its_public_part_with_what_proves_it,
    a_tokens_name_is_unique_in_its_tenant_and_free_again_after_its_deletion,
    a_public_part_is_never_given_twice,
    a_deleted_token_is_gone,
    somebody_can_sign_in_while_there_is_a_token_that_has_not_expired,
    a_token_is_good_until_it_expires_or_is_deleted,
    the_last_use_of_a_token_is_noted_without_an_event,
    every_change_of_a_token_is_an_event_without_the_secret,
);

async fn a_token_reads_back_as_it_was_created(db: Db) {
    for role in Role::ALL {
        let expires_at =
            (role == Role::Admin).then(|| Timestamp::from_microsecond(4_102_444_800_000_001).expect("a time"));
        let new = NewToken { role, expires_at, ..new_token(role.as_str()) };
        let created = create_token(&db.store, &home(), &new).await.expect("created");
        assert_eq!((created.name.as_str(), created.role, created.expires_at), (role.as_str(), role, expires_at));
        assert_eq!((created.tenant.as_str(), created.last_used_at), ("default", None));
        assert_eq!(db.store.token(&home(), created.id).await.expect("found"), created);
    }
    let listed = db.store.tokens(&home(), 0, 10).await.expect("listed").items;
    assert_eq!(listed.iter().map(|token| token.role).collect::<Vec<_>>(), Role::ALL);
    not_found(db.store.token(&home(), TokenId(4711)).await);
}

async fn a_token_is_found_by_its_public_part_with_what_proves_it(db: Db) {
    let acme = tenant(&db.store, "acme").await;
    let new = new_token("ci");
    let created = create_token(&db.store, &acme, &new).await.expect("created");
    let found = db.store.token_by_prefix(&new.prefix).await.expect("read").expect("found");
    assert_eq!((found.hash, found.scope, found.body), (new.hash, acme, created));
    assert!(db.store.token_by_prefix("prefix-of-nobody").await.expect("read").is_none());
}

async fn a_tokens_name_is_unique_in_its_tenant_and_free_again_after_its_deletion(db: Db) {
    let acme = tenant(&db.store, "acme").await;
    let first = create_token(&db.store, &home(), &new_token("ci")).await.expect("created");
    let again = NewToken { prefix: "another".into(), ..new_token("ci") };
    let before = db.contents().await;
    exists(create_token(&db.store, &home(), &again).await);
    assert_eq!(db.contents().await, before);
    let elsewhere = NewToken { prefix: "elsewhere".into(), ..new_token("ci") };
    create_token(&db.store, &acme, &elsewhere).await.expect("another tenant's names are its own");
    delete_token(&db.store, &home(), first.id).await.expect("deleted");
    let second = create_token(&db.store, &home(), &again).await.expect("created again");
    assert!(second.id > first.id);
}

async fn a_public_part_is_never_given_twice(db: Db) {
    let first = create_token(&db.store, &home(), &new_token("ci")).await.expect("created");
    delete_token(&db.store, &home(), first.id).await.expect("deleted");
    let before = db.contents().await;
    exists(create_token(&db.store, &home(), &NewToken { name: "other".into(), ..new_token("ci") }).await);
    assert_eq!(db.contents().await, before);
}

async fn a_deleted_token_is_gone(db: Db) {
    let created = create_token(&db.store, &home(), &new_token("ci")).await.expect("created");
    delete_token(&db.store, &home(), created.id).await.expect("deleted");
    not_found(db.store.token(&home(), created.id).await);
    assert!(db.store.token_by_prefix("prefix-ci").await.expect("read").is_none());
    assert!(db.store.tokens(&home(), 0, 10).await.expect("listed").items.is_empty());
    let before = db.contents().await;
    not_found(delete_token(&db.store, &home(), created.id).await);
    assert_eq!(db.contents().await, before);
}

async fn somebody_can_sign_in_while_there_is_a_token_that_has_not_expired(db: Db) {
    assert!(!db.store.has_tokens().await.expect("read"));
    let expired = NewToken { expires_at: Some(Timestamp::now() - 1.hour()), ..new_token("expired") };
    create_token(&db.store, &home(), &expired).await.expect("created");
    assert!(!db.store.has_tokens().await.expect("read"));
    let valid = NewToken { expires_at: Some(Timestamp::now() + 1.hour()), ..new_token("valid") };
    let valid = create_token(&db.store, &home(), &valid).await.expect("created");
    assert!(db.store.has_tokens().await.expect("read"));
    delete_token(&db.store, &home(), valid.id).await.expect("deleted");
    assert!(!db.store.has_tokens().await.expect("read"));
    create_token(&db.store, &home(), &new_token("lasting")).await.expect("created");
    assert!(db.store.has_tokens().await.expect("read"));
}

async fn a_token_is_good_until_it_expires_or_is_deleted(db: Db) {
    let expired = NewToken { expires_at: Some(Timestamp::now() - 1.hour()), ..new_token("expired") };
    let expired = create_token(&db.store, &home(), &expired).await.expect("created").id;
    let valid = NewToken { expires_at: Some(Timestamp::now() + 1.hour()), ..new_token("valid") };
    let valid = create_token(&db.store, &home(), &valid).await.expect("created").id;
    let lasting = create_token(&db.store, &home(), &new_token("lasting")).await.expect("created").id;
    for (id, good) in [(expired, false), (valid, true), (lasting, true), (TokenId(4711), false)] {
        assert_eq!(db.store.is_token_good(id).await.expect("read"), good);
    }
    delete_token(&db.store, &home(), lasting).await.expect("deleted");
    assert!(!db.store.is_token_good(lasting).await.expect("read"));
}

async fn the_last_use_of_a_token_is_noted_without_an_event(db: Db) {
    let used = create_token(&db.store, &home(), &new_token("used")).await.expect("created");
    let unused = create_token(&db.store, &home(), &new_token("unused")).await.expect("created");
    let at = Timestamp::from_microsecond(1_700_000_000_123_456).expect("a time");
    let events = events_of(&db.store, &home()).await;
    db.store.note_token_use(vec![(used.id, at), (TokenId(4711), at)]).await.expect("noted");
    assert_eq!(db.store.token(&home(), used.id).await.expect("found").last_used_at, Some(at));
    assert_eq!(db.store.token(&home(), unused.id).await.expect("found").last_used_at, None);
    assert_eq!(events_of(&db.store, &home()).await, events);
}

async fn every_change_of_a_token_is_an_event_without_the_secret(db: Db) {
    let created = create_token(&db.store, &home(), &new_token("ci")).await.expect("created");
    delete_token(&db.store, &home(), created.id).await.expect("deleted");
    let events = events_of(&db.store, &home()).await;
    let [first, second] = events.as_slice() else { panic!("expected 2 events, found {events:?}") };
    let body = json!({
        "id": created.id, "name": "ci", "role": "editor", "tenant": "default", "created_at": created.created_at,
        "expires_at": null, "last_used_at": null,
    });
    assert_eq!((first.kind, first.action, first.object_name.as_str()), (Kind::Token, Action::Created, "ci"));
    assert_eq!((&first.before, &first.after), (&None, &Some(body.clone())));
    assert_eq!((second.kind, second.action), (Kind::Token, Action::Deleted));
    assert_eq!((&second.before, &second.after), (&Some(body), &None));
}
