//! Pages: whatever lives throughout is returned exactly once, also while others come and go.

use std::collections::BTreeSet;

use model::Selector;
use store::{Page, ResourceFilter};

use crate::acts::*;
use crate::db::Db;

on_both!(
    pages_return_each_resource_once_while_others_come_and_go,
    pages_of_a_filter_return_each_match_once,
    pages_of_types_tokens_and_tenants_return_each_once,
    a_last_page_that_is_full_says_that_it_is_the_last,
);

/// Turn all pages, with something happening after each.
async fn turn<T>(fetch: impl AsyncFn(i64) -> Page<T>, between: impl AsyncFn(usize)) -> Vec<T> {
    let mut items = Vec::new();
    let mut after = 0;
    for round in 0.. {
        let page = fetch(after).await;
        items.extend(page.items);
        between(round).await;
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    items
}

async fn pages_return_each_resource_once_while_others_come_and_go(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut ids = Vec::new();
    for name in 0..30 {
        ids.push(some_resource(&db.store, &home(), &kind, &format!("r{name}")).await.id);
    }
    let seen = turn(
        async |after| db.store.resources(&home(), &ResourceFilter::default(), after, 4).await.expect("a page"),
        async |round| {
            // One goes that was returned already, one that is the next page's first, one that is far ahead; one comes.
            for gone in [round * 4, round * 4 + 4, 29 - round] {
                let _ = delete_resource(&db.store, &home(), ids[gone.min(29)]).await;
            }
            if round < 5 {
                some_resource(&db.store, &home(), &kind, &format!("late{round}")).await;
            }
        },
    )
    .await;
    let seen: Vec<_> = seen.into_iter().map(|resource| resource.id).collect();
    assert!(seen.is_sorted(), "{seen:?}");
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len(), "none twice: {seen:?}");
    for id in ids {
        let lives = db.store.resource(&home(), id).await.is_ok();
        assert!(!lives || seen.contains(&id), "{id} lived throughout and was not returned");
    }
}

async fn pages_of_a_filter_return_each_match_once(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut wanted = Vec::new();
    for name in 0..24 {
        let mut new = new_resource(&format!("r{name}"), &kind);
        new.desired.labels = labels(&[("odd", if name % 2 == 0 { "no" } else { "yes" })]);
        let id = create_resource(&db.store, &home(), &new).await.expect("created").id;
        wanted.extend((name % 2 == 1).then_some(id));
    }
    for text in ["odd=yes", "odd!=no", "odd notin (no),odd"] {
        let filter = ResourceFilter { selector: Selector::parse(text).expect("legal"), ..Default::default() };
        let seen =
            turn(async |after| db.store.resources(&home(), &filter, after, 5).await.expect("a page"), async |_| {})
                .await;
        assert_eq!(seen.into_iter().map(|resource| resource.id).collect::<Vec<_>>(), wanted, "{text}");
    }
}

async fn pages_of_types_tokens_and_tenants_return_each_once(db: Db) {
    let (mut types, mut tokens, mut tenants) = (Vec::new(), Vec::new(), vec![home().id]);
    for at in 0..7 {
        // Some of the types are the fleet's: both are on the same pages.
        let owner = if at % 2 == 0 { home() } else { fleet() };
        types.push(some_type(&db.store, &owner, &format!("Type{at}")).await.id);
        tokens.push(create_token(&db.store, &home(), &new_token(&format!("token-{at}"))).await.expect("created").id);
        tenants.push(tenant(&db.store, &format!("tenant-{at}")).await.id);
    }
    let nothing = async |_| {};
    let seen =
        turn(async |after| db.store.resource_types(&home(), None, after, 3).await.expect("a page"), nothing).await;
    assert_eq!(seen.into_iter().map(|body| body.id).collect::<Vec<_>>(), types);
    let seen = turn(async |after| db.store.tokens(&home(), after, 3).await.expect("a page"), nothing).await;
    assert_eq!(seen.into_iter().map(|token| token.id).collect::<Vec<_>>(), tokens);
    let seen = turn(async |after| db.store.tenants(after, 3).await.expect("a page"), nothing).await;
    assert_eq!(seen.into_iter().map(|tenant| tenant.id).collect::<Vec<_>>(), tenants);
}

async fn a_last_page_that_is_full_says_that_it_is_the_last(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    for name in 0..4 {
        some_resource(&db.store, &home(), &kind, &format!("r{name}")).await;
    }
    let page = db.store.resources(&home(), &ResourceFilter::default(), 0, 2).await.expect("a page");
    assert_eq!(page.items.len(), 2);
    let next = page.next.expect("there is more");
    let page = db.store.resources(&home(), &ResourceFilter::default(), next, 2).await.expect("a page");
    assert_eq!((page.items.len(), page.next), (2, None));
}
