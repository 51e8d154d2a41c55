use nova::{Blueprint, lint};

use crate::sample::{BLUEPRINT, blueprint, interfaces};

#[test]
fn a_good_blueprint_has_nothing_to_be_told() {
    assert_eq!(lint(&blueprint(), &interfaces()), Vec::<String>::new());
}

#[test]
fn each_mistake_is_told_where_it_is() {
    let cases = [
        (
            "{from: network.network_id}",
            "{from: network.netwrok_id}",
            "components.kubernetes.inputs.network_id: near/network has no output `netwrok_id` (did you mean `network_id`?)",
        ),
        (
            "{from: network.network_id}",
            "{from: net.network_id}",
            "components.kubernetes.inputs.network_id: there is no component `net`",
        ),
        (
            "region: {var: region}",
            "region: {var: regoin}",
            "components.network.inputs.region: there is no variable `regoin` (did you mean `region`?)",
        ),
        (
            "      node_count: {var: node_count}",
            "      node_cuont: {var: node_count}",
            "components.kubernetes.inputs.node_cuont: near/kubernetes has no such variable (did you mean `node_count`?)",
        ),
        ("region: {var: region}, ", "", "components.network.inputs: near/network must be given `region`"),
        ("module: monitoring", "module: nagging", "components.monitoring.module: there is no module nagging"),
        ("field: node_count", "field: nodes", "rules: there is no variable `nodes` to point at"),
        ("check: spec.region == old.region", "check: spec.region ==", "changes: `spec.region ==` cannot be evaluated"),
        ("{size: large, ", "{siez: large, ", "providers.far: there is no variable `siez` (did you mean `size`?)"),
        ("catalogue: {region: region,", "catalogue: {region: place,", "catalogue: there is no variable `place`"),
        (
            "dashboard: {from: monitoring.dashboard,",
            "dashboard: {from: monitoring.board,",
            "outputs.dashboard: monitoring has no output `board`",
        ),
        (
            "cluster_name: {var: cluster_name}, region: {var: region}",
            "cluster_name: {from: kubernetes.endpoint}, region: {var: region}",
            "the components monitoring, kubernetes, network wait for each other",
        ),
    ];
    for (right, wrong, expected) in cases {
        assert!(BLUEPRINT.contains(right), "{right}");
        let blueprint = Blueprint::read(&BLUEPRINT.replacen(right, wrong, 1)).expect("it can be read");
        let found = lint(&blueprint, &interfaces());
        assert!(found.iter().any(|found| found.starts_with(expected)), "expected {expected}, found {found:#?}");
    }
}

#[test]
fn what_is_no_blueprint_is_refused_by_name() {
    for (right, wrong, expected) in [
        ("version: 1.2.0", "version: newest", "no version"),
        ("kind: Cluster", "knid: Cluster", "knid"),
        ("{from: network.network_id}", "{from: network}", "COMPONENT.OUTPUT"),
        ("description: Where the API answers", "about: x", "outputs.endpoint"),
        ("limits:", "limit:", "providers.far"),
    ] {
        let error = Blueprint::read(&BLUEPRINT.replacen(right, wrong, 1)).expect_err("it is refused").to_string();
        assert!(error.contains(expected), "expected {expected}, found {error}");
    }
}
