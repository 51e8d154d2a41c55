//! Terraform's state and its stream of events, as it writes them: `fixtures/state.json` and `fixtures/apply.jsonl` are of a
//! true run, with its attributes cut down to their ids.

use model::job::Suspect;
use model::state::{Corruption, State, StateHead, check_successor};
use model::stream::{ApplyEvent, ApplyStage, TerraformLine};
use model::{suspects, unheard};
use serde_json::json;

const STATE: &str = include_str!("fixtures/state.json");

fn events(stream: &str) -> Vec<ApplyEvent> {
    stream.lines().filter_map(TerraformLine::parse).filter_map(|line| line.apply_event()).collect()
}

fn applied() -> Vec<ApplyEvent> {
    events(include_str!("fixtures/apply.jsonl"))
}

fn event(stage: ApplyStage, address: &str, action: &str, id: Option<&str>) -> ApplyEvent {
    ApplyEvent { stage, address: address.into(), action: action.into(), id: id.map(str::to_owned) }
}

fn state_with(objects: &[(&str, &str)]) -> String {
    let resources: Vec<_> = objects
        .iter()
        .map(|(name, id)| json!({"mode": "managed", "type": "x", "name": name, "instances": [{"attributes": {"id": id}}]}))
        .collect();
    json!({"version": 4, "serial": 1, "lineage": "l", "resources": resources}).to_string()
}

fn told(suspects: &[Suspect]) -> Vec<String> {
    suspects.iter().map(|one| format!("{} {} {}", one.action, one.address, one.id.as_deref().unwrap_or("-"))).collect()
}

#[test]
fn a_true_state_is_read_with_the_addresses_that_terraform_prints() {
    let state = State::read(STATE).expect("a state");
    assert_eq!((state.head.serial, state.head.terraform_version.as_str(), state.head.resources), (11, "1.11.4", 6));
    assert_eq!(state.head.lineage, "08e4e23d-9e8b-6a4f-1220-1e7a1396889d");
    let addresses: Vec<_> = state.objects.iter().map(|object| object.address.as_str()).collect();
    assert_eq!(
        addresses,
        [
            "terraform_data.keyed[\"a.b\"]",
            "terraform_data.keyed[\"c\"]",
            "terraform_data.network",
            "terraform_data.node[0]",
            "terraform_data.node[1]",
            "module.m[\"x y\"].data.terraform_remote_state.none",
            "module.m[\"x y\"].terraform_data.in",
        ]
    );
    assert_eq!(state.objects[4].id.as_deref(), Some("38ead876-097a-6680-20d7-400924071198"));
    assert!(state.objects[5].is_data && state.objects[5].id.is_none());
}

#[test]
fn tainted_and_deposed_objects_are_told_apart() {
    let text = json!({"version": 4, "resources": [{"mode": "managed", "type": "x", "name": "y", "instances": [
        {"index_key": "a\"${b}", "status": "tainted", "attributes": {"id": 7}},
        {"index_key": 0, "deposed": "4f3a2b1c", "attributes": {"id": "old"}},
    ]}]});
    let objects = State::read(&text.to_string()).expect("a state").objects;
    assert_eq!(objects[0].address, r#"x.y["a\"$${b}"]"#);
    assert!(objects[0].tainted && objects[0].deposed.is_none());
    assert_eq!((objects[0].id.as_deref(), objects[1].deposed.as_deref()), (Some("7"), Some("4f3a2b1c")));
}

#[test]
fn what_is_no_state_is_refused() {
    assert!(matches!(State::read("{"), Err(Corruption::Unreadable(_))));
    assert!(matches!(State::read("{}"), Err(Corruption::Unreadable(_))));
    assert!(matches!(State::read("[]"), Err(Corruption::Unreadable(_))));
    assert!(matches!(State::read(r#"{"version": 4, "resources": [{}]}"#), Err(Corruption::Unreadable(_))));
    assert_eq!(State::read(r#"{"version": 5}"#), Err(Corruption::Version(5)));
    assert_eq!(State::read(r#"{"encrypted_data": "…"}"#), Err(Corruption::Encrypted));
}

#[test]
fn a_state_follows_one_of_its_lineage_that_is_not_newer() {
    let head = |lineage: &str, serial| StateHead {
        serial,
        lineage: lineage.into(),
        terraform_version: String::new(),
        resources: 0,
    };
    assert_eq!(check_successor(&head("a", 3), &head("a", 4)), Ok(()));
    assert_eq!(check_successor(&head("a", 3), &head("a", 3)), Ok(()));
    assert_eq!(check_successor(&head("", 0), &head("a", 1)), Ok(()));
    assert_eq!(check_successor(&head("a", 3), &head("a", 2)), Err(Corruption::SerialBackwards { old: 3, new: 2 }));
    let other = check_successor(&head("a", 3), &head("b", 9)).expect_err("another lineage");
    assert_eq!(other.to_string(), "the state has lineage b, and the one before it a: it is of something else");
}

#[test]
fn a_run_that_ended_well_leaves_no_suspects() {
    assert_eq!(suspects(applied(), Some(STATE), true), []);
}

#[test]
fn without_a_state_everything_begun_is_a_suspect() {
    assert_eq!(
        told(&suspects(applied(), None, false)),
        [
            "update terraform_data.network 3f9f8953-9090-df2d-f0f2-b77868b38939",
            "create terraform_data.node[1] 38ead876-097a-6680-20d7-400924071198",
            "create terraform_data.node[0] 852162db-3635-353b-7036-1d283e72bafc",
        ],
        "what was deleted is gone, and no state says otherwise"
    );
}

#[test]
fn what_a_killed_run_had_begun_is_a_suspect_with_its_id_where_that_is_known() {
    use ApplyStage::*;
    let events = [
        event(Started, "x.begun", "create", None),
        event(Progressed, "x.begun", "create", None),
        event(Started, "x.made", "create", None),
        event(Completed, "x.made", "create", Some("i-1")),
        event(Started, "x.written", "create", None),
        event(Completed, "x.written", "create", Some("i-2")),
        event(Started, "x.going", "delete", Some("i-3")),
        event(Started, "x.gone", "delete", Some("i-4")),
        event(Completed, "x.gone", "delete", None),
    ];
    let state = state_with(&[("written", "i-2"), ("going", "i-3"), ("gone", "i-4")]);
    assert_eq!(
        told(&suspects(events, Some(&state), false)),
        ["create x.begun -", "create x.made i-1", "delete x.going i-3", "delete x.gone i-4"]
    );
}

#[test]
fn what_was_planned_and_never_heard_of_may_exist() {
    let heard = [event(ApplyStage::Started, "x.heard", "create", None)];
    let given = state_with(&[("replaced", "old"), ("successor", "old")]);
    let kept = state_with(&[("replaced", "old"), ("successor", "new"), ("written", "i-1")]);
    let creates = ["x.heard", "x.silent", "x.replaced", "x.successor", "x.written"].map(str::to_owned);
    assert_eq!(
        told(&unheard(creates, &heard, Some(&given), Some(&kept))),
        ["create x.silent -", "create x.replaced -"],
        "what the run started from does not vouch for what takes its place"
    );
}

#[test]
fn the_one_that_is_replaced_does_not_vouch_for_its_successor() {
    use ApplyStage::*;
    let events = [
        event(Started, "x.y", "delete", Some("old")),
        event(Completed, "x.y", "delete", None),
        event(Started, "x.y", "create", None),
    ];
    let before = state_with(&[("y", "old")]);
    assert_eq!(told(&suspects(events.clone(), Some(&before), false)), ["delete x.y old", "create x.y -"]);
    let between = state_with(&[]);
    assert_eq!(told(&suspects(events.clone(), Some(&between), false)), ["create x.y -"]);
    let after = state_with(&[("y", "new")]);
    assert_eq!(suspects(events, Some(&after), false), []);
}

#[test]
fn what_failed_in_a_run_that_ended_is_as_the_state_says() {
    use ApplyStage::*;
    let events = [event(Started, "x.y", "create", None), event(Errored, "x.y", "create", None)];
    assert_eq!(suspects(events.clone(), Some(&state_with(&[])), true), []);
    assert_eq!(told(&suspects(events, Some(&state_with(&[])), false)), ["create x.y -"]);
}

#[test]
fn a_state_that_cannot_be_read_settles_nothing() {
    let events = [event(ApplyStage::Completed, "x.y", "create", Some("i-1"))];
    assert_eq!(told(&suspects(events, Some("{"), true)), ["create x.y i-1"]);
}
