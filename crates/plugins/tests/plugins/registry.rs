//! The plugins there are.

use std::sync::Arc;

use plugins::actions::Settings;
use plugins::actions::noop::Noop;
use plugins::{Action, Registry};

#[test]
fn the_built_in_plugins_are_found_by_name_and_listed_in_order() {
    let registry = Registry::builtin(Settings::default());
    let names = registry.names();
    assert!(names.contains(&"http".to_owned()) && names.contains(&"noop".to_owned()), "{names:?}");
    assert!(names.is_sorted());
    assert_eq!(registry.get("noop").unwrap().descriptor().name, "noop");
    assert!(registry.get("nope").is_none());
    let described: Vec<String> = registry.descriptors().into_iter().map(|descriptor| descriptor.name).collect();
    assert_eq!(described, names);
    for descriptor in registry.descriptors() {
        jsonschema::validator_for(&descriptor.config_schema).unwrap();
    }
}

#[test]
fn a_registered_plugin_takes_the_place_of_one_with_its_name() {
    let mut registry = Registry::default();
    let noop: Arc<dyn Action> = Arc::new(Noop::default());
    registry.register(Arc::clone(&noop));
    registry.register(noop);
    assert_eq!(registry.names(), ["noop"]);
}
