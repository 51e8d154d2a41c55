//! What `${…}` gives, and what it cannot be made to do.

use std::time::Instant;

use model::plugin::Step;
use plugins::{Scope, evaluate, render, render_with_secrets};
use serde_json::{Value, json};

use crate::harness::{call, secrets};

fn scope() -> Scope {
    Scope::of(&call(Step::Apply, json!({}), json!({ "size": 3, "tags": ["a", "b"], "owner": "jo", "ratio": 0.5 })))
}

fn why(text: &str) -> String {
    evaluate(text, &scope()).unwrap_err().to_string()
}

#[test]
fn a_string_that_is_wholly_an_expression_keeps_the_type_of_its_value() {
    let value = json!({
        "n": "${spec.size + 1}", "list": "${spec.tags}", "yes": "${spec.size > 2}", "float": "${spec.ratio}",
        "map": "${{'b': 1, 'a': spec.tags}}", "nothing": "${memory}", "number": 7,
    });
    let rendered = render(&value, &scope()).unwrap();
    assert_eq!(
        rendered,
        json!({
            "n": 4, "list": ["a", "b"], "yes": true, "float": 0.5,
            "map": { "a": ["a", "b"], "b": 1 }, "nothing": null, "number": 7,
        })
    );
    assert_eq!(rendered["map"].to_string(), r#"{"a":["a","b"],"b":1}"#, "keys are in a fixed order");
}

#[test]
fn expressions_within_text_are_interpolated() {
    let cases = [
        ("${resource.tenant}/${resource.name}", "acme/orders"),
        ("n=${spec.size}, tags=${spec.tags}", "n=3, tags=[\"a\",\"b\"]"),
        ("costs $$ and $${literal} and ${'}'}", "costs $$ and ${literal} and }"),
        ("${{'a': '}'}.a}-x", "}-x"),
        ("${spec.?missing.orValue('none')}!", "none!"),
        ("${spec.tags.map(t, t.upperAscii()).join('+')}.", "A+B."),
        ("operation ${operation.id} ${operation.reason}", "operation 17 created"),
        ("no expression", "no expression"),
        ("ünïcödé ${'ß' + spec.owner} ☃", "ünïcödé ßjo ☃"),
    ];
    for (text, expected) in cases {
        assert_eq!(render(&json!(text), &scope()).unwrap(), json!(expected), "{text}");
    }
}

#[test]
fn an_error_says_which_expression_where_and_what_there_is() {
    let error = render(&json!({ "body": [{ "size": "${spce.size}" }] }), &scope()).unwrap_err().to_string();
    assert_eq!(
        error,
        "`spce.size` in `body[0].size` cannot be evaluated: there is no `spce`; the variables are `memory`, `operation`, \
         `outputs`, `resource`, `spec`"
    );
    assert!(why("spec.sise").contains("there is no `sise` there"), "{}", why("spec.sise"));
    assert!(why("spec.size +").contains("at line 1"), "{}", why("spec.size +"));
    assert!(why("spec.size + 'a'").contains("Unsupported binary operator"), "{}", why("spec.size + 'a'"));
    assert!(why("1.0 / 0.0").contains("finite"), "{}", why("1.0 / 0.0"));
    let unended = render(&json!("x ${spec.size"), &scope()).unwrap_err().to_string();
    assert!(unended.contains("has no closing `}`"), "{unended}");
}

#[test]
fn secrets_are_put_in_place_of_their_references_and_never_into_expressions() {
    let secrets = secrets(&[("token", "s3cr3t-value", &[])]);
    let value = json!({ "a": { "secret": "token" }, "b": "${spec.owner}", "c": [{ "secret": "token" }] });
    let rendered = render_with_secrets(&value, &scope(), &secrets).unwrap();
    assert_eq!(rendered, json!({ "a": "s3cr3t-value", "b": "jo", "c": ["s3cr3t-value"] }));
    assert_eq!(render(&value, &scope()).unwrap()["a"], json!({ "secret": "token" }), "without secrets it stays closed");

    let made_up = json!({ "a": "${{'secret': 'token'}}" });
    let rendered = render_with_secrets(&made_up, &scope(), &secrets).unwrap();
    assert_eq!(rendered["a"], json!({ "secret": "token" }), "a reference that an expression makes up opens nothing");

    let missing = render_with_secrets(&json!({ "x": { "secret": "tokne" } }), &scope(), &secrets).unwrap_err();
    assert_eq!(missing.to_string(), "there is no secret `tokne` in `x`");
}

#[test]
fn hostile_expressions_are_refused_before_they_can_do_harm() {
    let list: Vec<u32> = (0..10_000).collect();
    let scope = scope().with("spec", json!({ "list": list, "text": "x".repeat(100_000), "x": 1 }));
    let repeated = |part: &str, times: usize| part.repeat(times);
    let doubling = (0..8).fold("spec.list".to_owned(), |inner, _| format!("{inner}.map(x, [x, x, x, x, x, x, x, x])"));
    let hostile = [
        format!("{}1{}", repeated("(", 10_000), repeated(")", 10_000)),
        format!("{}1{}", repeated("(", 1_000), repeated(")", 1_000)),
        format!("{}1{}", repeated("[", 2_000), repeated("]", 2_000)),
        format!("{}true", repeated("!", 4_000)),
        format!("{}1", repeated("- ", 2_000)),
        format!("1{}", repeated(" + 1", 1_000)),
        format!("spec{}", repeated(".x", 2_000)),
        format!("spec{}", repeated("[0]", 1_000)),
        format!("{}1", repeated("true ? 1 : ", 300)),
        repeated("true || ", 500) + "true",
        "spec.list.map(x, spec.list.map(y, x * y))".to_owned(),
        "spec.list.map(x, spec.list.map(y, spec.list.map(z, 1)))".to_owned(),
        "spec.list.all(x, spec.list.exists(y, x == y))".to_owned(),
        ".spec.list.map(x, .spec.list.map(y, .spec.list))".to_owned(),
        "spec['list'].map(x, spec['li' + 'st'].map(y, x))".to_owned(),
        "[spec].map(s, s.list.map(x, s.list))".to_owned(),
        "(true ? spec.list : []).map(x, dyn(spec.list).map(y, optional.of(spec.list).orValue([])))".to_owned(),
        "spec.?list.orValue([]).map(x, spec.?list.orValue([]).map(y, 1))".to_owned(),
        "spec.list.all(x, spec.list < x)".to_owned(),
        "spec.text.split('').map(c, spec.text)".to_owned(),
        "spec.list.map(x, spec.text)".to_owned(),
        "spec.list.map(x, spec.list + [x])".to_owned(),
        "spec.text.replace('', spec.text)".to_owned(),
        "spec.text.replace('x', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy')".to_owned(),
        "spec.text.indexOf(spec.text)".to_owned(),
        format!("spec.text{}", repeated(" + spec.text", 30)),
        doubling,
        "\"a\" * 1000000".to_owned(),
        "spec.text.matches('(a+)+$')".to_owned(),
        "'%s'.format([spec.text])".to_owned(),
        repeated("x", 5_000),
        "google.protobuf.Any{}".to_owned(),
        "\u{0}\u{fffe}'''".to_owned(),
        String::new(),
    ];
    for text in hostile {
        let begun = Instant::now();
        let error = evaluate(&text, &scope).expect_err(&text[..text.len().min(80)]);
        assert!(error.to_string().len() < 1_000, "the message is short: {}", error.to_string().len());
        // No statement about speed: a runaway would take hours, or the process.
        assert!(begun.elapsed().as_secs() < 60, "{}", &text[..text.len().min(80)]);
    }
}

#[test]
fn any_text_at_all_is_answered_in_time() {
    let words = "spec .list .text ( ) [ ] { } + - ! ? : && || == < in x 1 'a' .map(x, .filter(x, .all(x, .size() .split('') \
        .join('') , \" ' \\ r' // has( 1.5e9 0x b' ''' . $ @ ` ß .?a [?0] optional.of( dyn( string( true null \n";
    let words: Vec<&str> = words.split(' ').collect();
    let scope = scope().with("spec", json!({ "list": (0..3_000).collect::<Vec<_>>(), "text": "x".repeat(10_000) }));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let begun = Instant::now();
    for _ in 0..2_000 {
        let length = 1 + random(60);
        let text = (0..length).map(|_| words[random(words.len())]).collect::<Vec<_>>().join(" ");
        let _ = evaluate(&text, &scope);
        let _ = render(&json!(format!("a ${{{text}}} b")), &scope);
    }
    assert!(begun.elapsed().as_secs() < 300);
}

#[test]
fn the_expressions_of_one_configuration_share_their_work() {
    let scope = scope().with("spec", json!({ "list": (0..5_000).collect::<Vec<_>>() }));
    let one = json!("${spec.list.map(x, x * 2).filter(x, x > 5).size()}");
    assert_eq!(render(&one, &scope).unwrap(), json!(4_997));
    let error = render(&json!(vec![one; 200]), &scope).unwrap_err().to_string();
    assert!(error.contains("used up the work"), "{error}");
}

#[test]
fn what_is_allowed_does_not_overflow_the_stack() {
    let deep = [
        format!("{}1{}", "(".repeat(32), ")".repeat(32)),
        format!("1{}", " + 1".repeat(190)),
        format!("true{}", " || true".repeat(95)),
        format!("{}1", "true ? 1 : ".repeat(16)),
        format!("{}true", "!".repeat(8)),
        format!("{}1{}", "[".repeat(32), "]".repeat(32)),
    ];
    for text in deep {
        assert!(evaluate(&text, &scope()).is_ok(), "{text}: {:?}", evaluate(&text, &scope()));
    }
    let chain = format!("spec{}", ".x".repeat(190));
    assert!(evaluate(&chain, &scope()).is_err());
}

#[test]
fn ordinary_work_over_large_lists_is_let_through() {
    let items: Vec<Value> = (0..5_000).map(|n| json!({ "name": format!("node-{n}"), "size": n })).collect();
    let scope = scope().with("spec", json!({ "items": items, "few": [1, 2, 3, 4] }));
    assert_eq!(evaluate("spec.items.filter(i, i.size > 4990).map(i, i.name).size()", &scope).unwrap(), json!(9));
    assert_eq!(evaluate("spec.items.exists(i, i.name == 'node-7')", &scope).unwrap(), json!(true));
    let csv = scope.clone().with("spec", json!({ "csv": "a, b,c ".repeat(150) }));
    assert_eq!(evaluate("spec.csv.split(',').map(x, x.trim()).size()", &csv).unwrap(), json!(301));
    assert_eq!(evaluate("spec.few.map(x, spec.few.map(y, x * y))[3][3]", &scope).unwrap(), json!(16));
}

#[test]
fn results_are_capped_one_by_one_and_together() {
    let scope = scope().with("spec", json!({ "text": "x".repeat(600_000) }));
    let error = evaluate("spec.text + spec.text", &scope).unwrap_err().to_string();
    assert!(error.contains("may have at most 1048576 bytes"), "{error}");
    let many: Vec<&str> = vec!["${spec.text}"; 10];
    let error = render(&json!(many), &scope).unwrap_err().to_string();
    assert!(error.contains("too large"), "{error}");
}
