//! What validation costs: `cargo run --release --example cost`. Ordinary documents by the KiB, and the worst that was thought of.

use std::time::Instant;

use model::schema::Schema;
use serde_json::{Value, json};

fn main() {
    let ordinary = ordinary();
    println!("ordinary documents");
    for kib in [1, 10, 100, 900] {
        let spec = cluster(kib * 1024);
        let size = spec.to_string().len() as f64 / 1024.0;
        report(&format!("{size:.0} KiB"), &ordinary, spec, Some(size));
    }
    println!("hostile documents and schemas");
    for (name, schema, spec) in hostile() {
        let started = Instant::now();
        match Schema::compile(&schema) {
            Ok(compiled) => {
                println!("  {name}: compiled in {:.1?}", started.elapsed());
                report(name, &compiled, spec, None);
            }
            Err(violations) => println!("  {name}: refused in {:.1?}: {}", started.elapsed(), violations[0]),
        }
    }
}

fn report(name: &str, schema: &Schema, spec: Value, kib: Option<f64>) {
    let started = Instant::now();
    let outcome = schema.admit(spec);
    let took = started.elapsed();
    let said = match &outcome {
        Ok(_) => "admitted".to_owned(),
        Err(violations) => {
            let first: String = violations[0].to_string().chars().take(100).collect();
            format!("{} violations: {first}", violations.len())
        }
    };
    let each = kib.map(|kib| format!(" ({:.1?} per KiB)", took.div_f64(kib))).unwrap_or_default();
    println!("  {name}: {took:.1?}{each}, {said}");
}

fn ordinary() -> Schema {
    let schema = json!({"type": "object", "required": ["nodes"], "additionalProperties": false, "properties": {
        "nodes": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        "$defs": {"Node": {"type": "object", "required": ["name", "size"], "additionalProperties": false, "properties": {
            "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63},
            "size": {"type": "string", "enum": ["s", "m", "l"]},
            "ip": {"type": "string", "format": "ipv4"},
            "count": {"type": "integer", "minimum": 1, "default": 1},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "disk": {"oneOf": [
                {"type": "object", "required": ["ssd"], "properties": {"ssd": {"type": "integer"}, "iops": {"type": "integer", "default": 3000}}},
                {"type": "object", "required": ["hdd"], "properties": {"hdd": {"type": "integer"}}}]}}}}});
    Schema::compile(&schema).unwrap_or_else(|violations| panic!("{violations:?}"))
}

fn cluster(bytes: usize) -> Value {
    let node = json!({"name": "node-name-1", "size": "m", "ip": "10.0.0.1", "labels": {"zone": "a", "team": "platform"},
        "disk": {"hdd": 500}});
    let count = bytes / (node.to_string().len() + 1);
    json!({"nodes": vec![node; count.max(1)]})
}

fn hostile() -> Vec<(&'static str, Value, Value)> {
    let of_x = |x: Value| json!({"type": "object", "properties": {"x": x}});
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let noise: String = (0..1_000_000)
        .map(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if random & 1 == 0 { 'a' } else { 'b' }
        })
        .collect();
    let shapes: Vec<Value> = (0..14_u32)
        .flat_map(|bits| (0..1_u32 << bits).map(move |n| (bits, n)))
        .map(|(bits, n)| {
            (0..bits).fold(json!([]), |inner, bit| if n >> bit & 1 == 0 { json!([inner]) } else { json!([[], inner]) })
        })
        .collect();
    let any_of: Vec<_> = (0..100).map(|n| json!({"type": "array", "minItems": n + 2})).collect();
    let tree = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"oneOf": [
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/N"}, "d": {"default": 1}}},
        {"type": "object", "required": ["b"], "properties": {"b": {"$ref": "#/$defs/N"}, "d": {"default": 2}}},
        {"type": "array", "items": {"$ref": "#/$defs/N"}}, {"type": "integer"}]}}});
    let deep = |leaf: Value| (0..60).fold(leaf, |inner, n| json!({(if n % 2 == 0 { "a" } else { "b" }): inner}));
    let names: Vec<_> = (0..10_000).map(|n| format!("field{n}")).collect();
    let properties: serde_json::Map<_, _> = (0..4_900).map(|n| (format!("p{n}"), json!({"default": n}))).collect();
    let mut cases = vec![
        ("unique items whose hashes collide", of_x(json!({"uniqueItems": true})), json!({"x": shapes})),
        (
            "100 alternatives on 100,000 items",
            of_x(json!({"items": {"anyOf": any_of}})),
            json!({"x": vec![json!([]); 100_000]}),
        ),
        (
            "100 alternatives on 1,000 items",
            of_x(json!({"items": {"anyOf": any_of}})),
            json!({"x": vec![json!([]); 1_000]}),
        ),
        ("tree of choices with defaults, deep", tree.clone(), json!({"x": deep(json!(1))})),
        ("tree of choices with defaults, deep and wide", tree, json!({"x": deep(json!(vec![1; 400_000]))})),
        (
            "10,000 required on 300,000 objects",
            of_x(json!({"items": {"required": names}})),
            json!({"x": vec![json!({}); 300_000]}),
        ),
        (
            "4,900 defaults on 100,000 objects",
            of_x(json!({"items": {"properties": properties}})),
            json!({"x": vec![json!({}); 100_000]}),
        ),
        ("500,000 wrong items", of_x(json!({"items": {"type": "string"}})), json!({"x": vec![1; 500_000]})),
        ("1 MB of e-mail", of_x(json!({"format": "email"})), json!({"x": "a@".repeat(500_000)})),
        ("1 MB of URI", of_x(json!({"format": "uri"})), json!({"x": format!("http://{}", "a:@/".repeat(250_000))})),
        ("1 MB of host name", of_x(json!({"format": "hostname"})), json!({"x": "a.".repeat(500_000)})),
        ("multiples of 1e-12", of_x(json!({"items": {"multipleOf": 1e-12}})), json!({"x": vec![1.7976e308; 80_000]})),
    ];
    for pattern in [
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "(a|b)*a(a|b){12}c",
        "(a|b)*a(a|b){30}c",
        "(a|b)*a(a|b){100}c",
        "(a?b?){60}c$",
        "(a|b)*a(a|b){250}c",
        r"(\d?\w?a?){90}c",
    ] {
        for length in [1_000_000, 100_000, 50_000] {
            let text = &noise[..length];
            cases.push((pattern, of_x(json!({"pattern": pattern})), json!({"x": text})));
        }
    }
    let level = |n: usize| {
        (
            format!("A{n}"),
            json!({"allOf": [{"$ref": format!("#/$defs/A{}", n + 1)}, {"$ref": format!("#/$defs/A{}", n + 1)}]}),
        )
    };
    let mut defs: serde_json::Map<_, _> = (0..60).map(level).collect();
    defs.insert("A60".into(), json!({}));
    cases.push(("references that double", json!({"type": "object", "$ref": "#/$defs/A0", "$defs": defs}), json!({})));
    let refs: Vec<_> = (0..60).map(|n| json!({"$ref": format!("#/$defs/P{n}")})).collect();
    let wide: serde_json::Map<_, _> = (0..60)
        .map(|n| {
            let properties: serde_json::Map<_, _> =
                (0..40).map(|k| (format!("k{k}"), json!({"$ref": format!("#/$defs/P{}", (n + k) % 60)}))).collect();
            (format!("P{n}"), json!({"properties": properties}))
        })
        .collect();
    let patterned: serde_json::Map<_, _> =
        (0..4_000).map(|n| (format!("p{n}"), json!({"pattern": format!(r"[\p{{L}}\p{{N}}]{{1,20}}x{n}")}))).collect();
    cases.push(("4,000 heavy patterns", json!({"type": "object", "properties": patterned}), json!({})));
    cases.push(("wide recursion", json!({"type": "object", "allOf": refs, "$defs": wide}), json!({})));
    cases
}
