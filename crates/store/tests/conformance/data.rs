//! What is stored comes back as it was, on both databases.

use model::{EventSeq, ResourceType};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::acts::*;
use crate::db::Db;

on_both!(
    any_text_survives,
    long_strings_survive,
    deep_nesting_survives,
    numbers_survive_to_the_last_digit,
    any_document_survives_and_putting_it_again_changes_nothing,
    free_text_survives_wherever_it_may_stand,
);

/// Store it, and read it back by every way there is.
async fn survives(db: &Db, of: &ResourceType, name: &str, spec: &Value) {
    let mut new = new_resource(name, of);
    new.desired.spec = spec.clone();
    new.desired.plugin_config = spec.clone();
    let created = create_resource(&db.store, &home(), &new).await.expect("created");
    let read = now(&db.store, &home(), created.id).await;
    assert_eq!(read, created);
    // As texts, so that 0.0 is not -0.0.
    assert_eq!(read.spec.to_string(), spec.to_string());
    assert_eq!(read.plugin_config.to_string(), spec.to_string());
    let put = update_resource(&db.store, &home(), created.id, of, {
        let spec = spec.clone();
        move |desired| desired.spec = spec.clone()
    })
    .await
    .expect("put");
    assert_eq!(put, created, "the same again is no change");
    let told = events(&db.store, &everything(&home()), EventSeq(created.resource_version - 1)).await;
    assert_eq!(told.last().expect("an event").after.as_ref().expect("after")["spec"].to_string(), spec.to_string());
}

async fn any_text_survives(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let texts = [
        "",
        " ",
        "\u{0}",
        "a\u{0}b",
        "\u{0}\u{1}\u{1f}\u{7f}",
        "\\u0000",
        "\\",
        "'",
        "\"",
        "''; DROP TABLE resources; --",
        "$1",
        "%_",
        "\r\n\t",
        "ünïcödé",
        "日本語",
        "🏔️👩‍👩‍👧",
        "e\u{301}",
        "\u{202e}rtl",
        "\u{feff}bom",
        "\u{fffd}\u{ffff}\u{10ffff}",
    ];
    let spec: serde_json::Map<_, _> =
        texts.iter().enumerate().map(|(at, text)| (format!("{at}{text}"), json!(text))).collect();
    survives(&db, &kind, "texts", &Value::Object(spec)).await;
}

async fn long_strings_survive(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let ascii = "x".repeat(1 << 20);
    let wide = "𝄞".repeat(1 << 18);
    let escaped = "\u{0}\"\\".repeat(1 << 18);
    survives(&db, &kind, "long", &json!({"ascii": ascii, "wide": wide, "escaped": escaped, &ascii[..1000]: 1})).await;
}

async fn deep_nesting_survives(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    // As deep as a request can be that serde_json reads at all: the request is one deeper than the spec in it.
    let reads = |depth: usize| {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        serde_json::from_str::<Value>(&text).ok()
    };
    let deepest = (1..1000).take_while(|depth| reads(*depth).is_some()).last().expect("a depth");
    survives(&db, &kind, "arrays", &reads(deepest - 1).expect("an array")).await;
    let object = (0..deepest - 1).fold(json!(1), |inner, _| json!({"in": inner}));
    survives(&db, &kind, "objects", &object).await;
}

async fn numbers_survive_to_the_last_digit(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let spec = json!([
        0,
        -1,
        i64::MAX,
        i64::MIN,
        u64::MAX,
        (1_u64 << 53) + 1,
        0.0,
        -0.0,
        1.0,
        0.1,
        0.1 + 0.2,
        1e21,
        1e-7,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        f64::EPSILON,
        std::f64::consts::PI,
        9007199254740993.0,
        1.7976931348623157e308,
    ]);
    survives(&db, &kind, "numbers", &spec).await;
}

fn any_document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinity", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 200, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..12)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

async fn any_document_survives_and_putting_it_again_changes_nothing(db: Db) {
    let kind = some_type(&db.store, &home(), "Database").await;
    let mut runner = TestRunner::deterministic();
    for at in 0..50 {
        // Many numbers in each: about one double in ten is read back wrongly by a careless reader.
        let doubles = prop::collection::vec(any::<f64>().prop_filter("finite", |number| number.is_finite()), 20);
        let (document, doubles) = (any_document(), doubles).new_tree(&mut runner).expect("a document").current();
        survives(&db, &kind, &format!("r{at}"), &json!({"document": document, "doubles": doubles})).await;
    }
}

async fn free_text_survives_wherever_it_may_stand(db: Db) {
    let text = "a 'quoted' \"text\"; with\nlines, ünïcödé and 🏔️";
    let new =
        store::NewType { description: text.into(), schema: json!({"description": text}), ..new_type("Database", "v1") };
    let kind = create_type(&db.store, &home(), &new).await.expect("created");
    assert_eq!(db.store.resource_type(&home(), kind.id).await.expect("found").body, kind);
    let mut new = new_resource("orders", &kind);
    new.desired.annotations = labels(&[("note", text), ("nul", "a\u{0}b")]);
    let created = create_resource(&db.store, &home(), &new).await.expect("created");
    assert_eq!(now(&db.store, &home(), created.id).await, created);
    let (scope, id) = (home(), created.id);
    let entry = store::NewHistoryEntry {
        generation: i64::MAX,
        success: false,
        phase: text.into(),
        error_message: Some(text.into()),
        resources_created: 0,
        resources_updated: -1,
        resources_deleted: i64::MIN,
    };
    db.store.write(0, work!([scope, entry], |tx| tx.record_attempt(&scope, id, &entry).await)).await.expect("recorded");
    let read = db.store.history(&home(), id, None, 1).await.expect("read").items.remove(0);
    assert_eq!((read.phase.as_str(), read.error_message.as_deref()), (text, Some(text)));
    assert_eq!((read.generation, read.resources_updated, read.resources_deleted), (i64::MAX, -1, i64::MIN));
}
