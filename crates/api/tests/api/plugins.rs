use std::sync::Arc;

use api::{Access, App, Engine, Plugin};
use model::plugin::{CONTRACT, Descriptor, Step};
use prometheus_client::metrics::gauge::Gauge;
use serde_json::json;

use crate::harness::{Server, stories};

fn webhook() -> Plugin {
    let descriptor = Descriptor {
        name: "webhook".into(),
        version: "1.2.0".into(),
        contracts: vec![CONTRACT.into()],
        description: "Calls an address".into(),
        steps: vec![Step::Apply, Step::Destroy],
        config_schema: json!({"type": "object"}),
    };
    Plugin { descriptor, origin: "plugins.example.com".into() }
}

async fn plugins_say_what_they_are_and_where_they_come_from(server: Server) {
    assert_eq!(server.get("/api/v1/plugins/actions").await.expect(200), json!([]));
    let inputs = server.get("/api/v1/plugins/inputs").await.expect(200);
    assert_eq!((&inputs[0]["name"], &inputs[0]["origin"]), (&json!("http_api"), &json!("built-in")));
    let engine = Engine { actions: Arc::new(|| vec![webhook()]), ..Engine::default() };
    let other = server.with_app(App::new(server.app.store.clone(), Access::Open, engine)).await;
    let listed = other.get("/api/v1/plugins/actions").await.expect(200);
    insta::allow_duplicates! {
        insta::assert_json_snapshot!(listed, @r#"
        [
          {
            "name": "webhook",
            "version": "1.2.0",
            "contracts": [
              "terrane.plugin/v1"
            ],
            "description": "Calls an address",
            "steps": [
              "apply",
              "destroy"
            ],
            "config_schema": {
              "type": "object"
            },
            "origin": "plugins.example.com"
          }
        ]
        "#);
    }
}

async fn the_engines_metrics_stand_beside_the_apis_own(server: Server) {
    let gauge: Gauge = Gauge::default();
    gauge.set(7);
    let engine = Engine {
        metrics: Some(Box::new(move |registry| registry.register("queue_depth", "Resources that are due", gauge))),
        ..Engine::default()
    };
    let other = server.with_app(App::new(server.app.store.clone(), Access::Open, engine)).await;
    let text = other.get("/metrics").await.text;
    assert!(text.contains("terrane_queue_depth 7") && text.contains("terrane_build"), "{text}");
}

stories!(plugins_say_what_they_are_and_where_they_come_from, the_engines_metrics_stand_beside_the_apis_own);
