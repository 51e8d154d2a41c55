//! `noop`: nothing happens, in every way it can be asked to.

use model::Class;
use model::plugin::{Changes, Observation, Step};
use plugins::actions::noop::Noop;
use plugins::{Action, Door, DoorPolicy, Until, World};
use serde_json::json;
use std::sync::Arc;

use crate::harness::{call, done, failed, run, waits};

fn world() -> World {
    World { door: Door::new(DoorPolicy::default()), secrets: Arc::default(), until: Until::default() }
}

#[tokio::test]
async fn it_says_created_then_updated_then_deleted() {
    let (noop, world) = (Noop::default(), world());
    let mut asked = call(Step::Apply, json!({ "outputs": { "url": "https://${resource.name}.example" } }), json!({}));
    let answer = run(&noop, &mut asked, &world).await;
    assert_eq!(done(&answer).changes, Some(Changes { created: 1, ..Changes::default() }));
    assert_eq!(done(&answer).outputs, Some(json!({ "url": "https://orders.example" })));
    let answer = run(&noop, &mut asked, &world).await;
    assert_eq!(done(&answer).changes, Some(Changes { updated: 1, ..Changes::default() }));
    asked.step = Step::Destroy;
    let answer = run(&noop, &mut asked, &world).await;
    assert_eq!(done(&answer).changes, Some(Changes { deleted: 1, ..Changes::default() }));
}

#[tokio::test]
async fn it_waits_as_long_as_it_is_told_and_goes_on_from_its_checkpoint() {
    let (noop, world) = (Noop::default(), world());
    let mut asked = call(Step::Apply, json!({ "wait_seconds": "${spec.slow}" }), json!({ "slow": 90 }));
    let answer = noop.call(&asked, &world).await;
    assert_eq!(waits(&answer).wake.after_seconds, 90);
    asked.checkpoint = waits(&answer).checkpoint.clone();
    let early = noop.call(&asked, &world).await;
    assert_eq!(waits(&early).checkpoint, asked.checkpoint, "it is not woken too early");
    asked.checkpoint["until"] = json!(1);
    done(&noop.call(&asked, &world).await);
}

#[tokio::test]
async fn it_fails_as_often_as_it_is_told() {
    let (noop, world) = (Noop::default(), world());
    let config = json!({ "fail": { "class": "capacity", "message": "no room in ${spec.zone}", "times": 2 } });
    let mut asked = call(Step::Apply, config, json!({ "zone": "eu-1" }));
    for _ in 0..2 {
        let answer = run(&noop, &mut asked, &world).await;
        assert_eq!((failed(&answer).class, failed(&answer).message.as_str()), (Class::Capacity, "no room in eu-1"));
    }
    done(&run(&noop, &mut asked, &world).await);
    asked.resource.generation += 1;
    failed(&run(&noop, &mut asked, &world).await);
}

#[tokio::test]
async fn it_observes_only_where_drift_is_configured() {
    let (noop, world) = (Noop::default(), world());
    assert!(!noop.observes(&json!({})));
    let config = json!({ "drift": [{ "path": "tags.owner", "expected": "a", "found": "b" }] });
    assert!(noop.observes(&config));
    let answer = run(&noop, &mut call(Step::Observe, config, json!({})), &world).await;
    assert!(
        matches!(&done(&answer).observation, Some(Observation::Drifted { attributes }) if attributes[0].path == "tags.owner")
    );
    let answer = run(&noop, &mut call(Step::Observe, json!({ "drift": false }), json!({})), &world).await;
    assert_eq!(done(&answer).observation, Some(Observation::Unchanged));
}

#[tokio::test]
async fn a_wrong_configuration_is_explained() {
    let answer = run(&Noop::default(), &mut call(Step::Validate, json!({ "wait": 3 }), json!({})), &world()).await;
    assert_eq!(failed(&answer).class, Class::InvalidConfig);
    assert!(failed(&answer).message.contains("unknown field `wait`"), "{}", failed(&answer).message);
}
