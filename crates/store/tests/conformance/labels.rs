//! Filters and label selectors mean in SQL what they mean in memory.

use model::{Lifecycle, Resource, Selector, Status};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use store::ResourceFilter;

use crate::acts::*;
use crate::db::Db;

on_both!(
    every_filter_means_the_same_in_the_database_as_in_memory,
    a_selector_follows_a_change_of_labels,
    a_selector_may_be_as_long_as_the_language_allows,
);

const KEYS: [&str; 4] = ["env", "tier", "example.com/team", "x"];
const VALUES: [&str; 4] = ["", "prod", "dev", "v1.0_a-b"];
const TYPES: [&str; 2] = ["Database", "Network"];
const PLUGINS: [&str; 2] = ["terraform", "github_actions"];
const NAMES: usize = 60;

fn pick<T: Clone + std::fmt::Debug + 'static>(from: &[T]) -> impl Strategy<Value = T> + use<T> {
    prop::sample::select(from.to_vec())
}

fn some_labels() -> impl Strategy<Value = model::Labels> {
    prop::collection::btree_map(pick(&KEYS), pick(&VALUES), 0..4)
        .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
}

/// A term in each of the forms that kubectl knows.
fn some_term() -> impl Strategy<Value = String> {
    let values = prop::collection::vec(pick(&VALUES), 1..4).prop_map(|values| values.join(", "));
    (pick(&KEYS), pick(&VALUES), values, 0..7).prop_map(|(key, value, values, form)| match form {
        0 => format!("{key}={value}"),
        1 => format!("{key}=={value}"),
        2 => format!("{key}!={value}"),
        3 => format!("{key} in ({values})"),
        4 => format!("{key} notin ({values})"),
        5 => key.to_string(),
        _ => format!("!{key}"),
    })
}

fn some_filter() -> impl Strategy<Value = ResourceFilter> {
    let statuses = [Status::Pending, Status::Reconciling, Status::Ready, Status::Failed];
    let rarely = |strategy: BoxedStrategy<String>| prop::option::weighted(0.2, strategy);
    (
        prop::collection::vec(some_term(), 0..4),
        prop::option::weighted(0.3, pick(&statuses)),
        rarely(pick(&TYPES).prop_map(String::from).boxed()),
        rarely(pick(&PLUGINS).prop_map(String::from).boxed()),
        rarely((0..NAMES).prop_map(|name| format!("r{name}")).boxed()),
    )
        .prop_map(|(terms, status, resource_type_name, action_plugin, name)| ResourceFilter {
            status,
            resource_type_name,
            action_plugin,
            name,
            selector: Selector::parse(&terms.join(",")).expect("a legal selector"),
        })
}

async fn list(db: &Db, filter: &ResourceFilter) -> Vec<Resource> {
    db.store.resources(&home(), filter, 0, 1000).await.expect("listed").items
}

async fn every_filter_means_the_same_in_the_database_as_in_memory(db: Db) {
    let mut runner = TestRunner::deterministic();
    let mut any = |what: BoxedStrategy<(model::Labels, Lifecycle, usize, &'static str)>| {
        what.new_tree(&mut runner).expect("a value").current()
    };
    let mut types = Vec::new();
    for name in TYPES {
        types.push(some_type(&db.store, &home(), name).await);
    }
    // What another tenant has under the same labels must not show.
    let acme = tenant(&db.store, "acme").await;
    let foreign = some_type(&db.store, &acme, "Database").await;
    for name in 0..NAMES {
        let (labels, lifecycle, at, plugin) =
            any((some_labels(), pick(&Lifecycle::ALL), 0..TYPES.len(), pick(&PLUGINS)).boxed());
        for (scope, of) in [(&home(), &types[at]), (&acme, &foreign)] {
            let mut new = new_resource(&format!("r{name}"), of);
            new.desired.labels = labels.clone();
            new.desired.action_plugin = plugin.into();
            let id = create_resource(&db.store, scope, &new).await.expect("created").id;
            db.execute(&format!("UPDATE resources SET lifecycle = '{}' WHERE id = {id}", lifecycle.as_str())).await;
        }
    }
    let all = list(&db, &ResourceFilter::default()).await;
    assert_eq!(all.len(), NAMES);

    let mut found_something = 0;
    for _ in 0..400 {
        let filter = some_filter().new_tree(&mut runner).expect("a filter").current();
        let expected: Vec<_> = all.iter().filter(|resource| filter.matches(resource)).cloned().collect();
        found_something += usize::from(!expected.is_empty() && expected.len() < all.len());
        assert_eq!(list(&db, &filter).await, expected, "{filter:?}");
    }
    assert!(found_something > 100, "the filters must tell resources apart: {found_something}");
}

async fn a_selector_follows_a_change_of_labels(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut new = new_resource("orders", &kind);
    new.desired.labels = labels(&[("env", "dev"), ("old", "1")]);
    let id = create_resource(&db.store, &home(), &new).await.expect("created").id;
    let found = async |text: &str| {
        let filter = ResourceFilter { selector: Selector::parse(text).expect("legal"), ..Default::default() };
        list(&db, &filter).await.len()
    };
    assert_eq!((found("env=dev").await, found("old").await, found("new").await), (1, 1, 0));
    update_resource(&db.store, &home(), id, &kind, |desired| desired.labels = labels(&[("env", "prod"), ("new", "")]))
        .await
        .expect("labelled");
    assert_eq!((found("env=dev").await, found("old").await, found("new").await), (0, 0, 1));
    assert_eq!((found("env=prod").await, found("!old").await, found("new=").await), (1, 1, 1));
}

async fn a_selector_may_be_as_long_as_the_language_allows(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut new = new_resource("orders", &kind);
    new.desired.labels = (0..64).map(|key| (format!("key-{key}"), "value-63".to_string())).collect();
    create_resource(&db.store, &home(), &new).await.expect("created");
    let values: Vec<_> = (0..64).map(|value| format!("value-{value}")).collect();
    let terms: Vec<_> = (0..16).map(|key| format!("key-{key} in ({})", values.join(","))).collect();
    let filter = ResourceFilter { selector: Selector::parse(&terms.join(",")).expect("legal"), ..Default::default() };
    assert_eq!(list(&db, &filter).await.len(), 1);
}
