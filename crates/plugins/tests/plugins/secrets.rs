//! What is struck out.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use plugins::{Secrets, references};
use serde_json::json;

use crate::harness::secrets;

const VALUE: &str = "p@ss/wörd \"quoted\"+&end";

#[test]
fn a_secret_is_struck_out_however_it_is_encoded() {
    let secrets = secrets(&[("db", VALUE, &[])]);
    let json = json!(VALUE).to_string();
    let spellings = [
        VALUE.to_owned(),
        json.trim_matches('"').to_owned(),
        json.trim_matches('"').replace('/', "\\/"),
        percent_encoding::utf8_percent_encode(VALUE, percent_encoding::NON_ALPHANUMERIC).to_string(),
        percent_encoding::utf8_percent_encode(VALUE, percent_encoding::NON_ALPHANUMERIC).to_string().to_lowercase(),
        STANDARD.encode(VALUE),
        URL_SAFE.encode(VALUE),
    ];
    for spelling in spellings {
        let redacted = secrets.redact(&format!("before {spelling} after"));
        assert!(redacted.starts_with("before ***") && redacted.ends_with(" after"), "{spelling}: {redacted}");
    }
    for prefix in ["", "u", "us", "usr", "user:"] {
        for suffix in ["", "!", "!!"] {
            let whole = STANDARD.encode(format!("{prefix}{VALUE}{suffix}"));
            let redacted = secrets.redact(&whole);
            assert!(redacted.len() < whole.len() - 20, "{prefix:?} {suffix:?}: {redacted}");
        }
    }
}

#[test]
fn keys_values_and_numbers_of_a_document_are_struck_out() {
    let secrets = secrets(&[("a", "hunter22", &[]), ("n", "123456", &[])]);
    let mut value = json!({ "hunter22": ["x hunter22 y", { "pin": 123456, "other": 7 }], "ok": "fine" });
    secrets.redact_value(&mut value);
    assert_eq!(value, json!({ "***": ["x *** y", { "pin": "***", "other": 7 }], "ok": "fine" }));
}

#[test]
fn short_values_are_struck_out_as_whole_words_only() {
    let secrets = secrets(&[("pin", "on", &[]), ("one", "1", &[]), ("none", "", &[])]);
    assert_eq!(secrets.redact("pin=on, connection on"), "pin=***, connection ***");
    assert_eq!(secrets.redact("11 of 21"), "11 of 21");
    assert_eq!(secrets.redact("1"), "***");
    assert_eq!(secrets.redact(""), "");
}

#[test]
fn a_secret_in_several_lines_is_struck_out_line_by_line() {
    let secrets = secrets(&[(
        "key",
        "-----BEGIN KEY-----\nMIIEvgIBADANBgkqhkiG9w0B\nAQEFAASCBKgwggSkAgEAAoIB\n-----END KEY-----\n",
        &[],
    )]);
    let redacted = secrets.redact("line: MIIEvgIBADANBgkqhkiG9w0B.");
    assert_eq!(redacted, "line: ***.");
}

#[test]
fn debug_shows_names_and_hosts_only() {
    let secrets = secrets(&[("db", "hunter22", &["db.example.com"])]);
    let shown = format!("{secrets:?} {:?}", secrets.0["db"]);
    assert!(!shown.contains("hunter22"), "{shown}");
    assert!(shown.contains("db.example.com"), "{shown}");
    assert_eq!(Secrets::default().redact("as it is"), "as it is");
}

#[test]
fn references_are_found_at_any_depth() {
    let value = json!({ "a": [{ "secret": "x" }], "b": { "c": { "secret": "y" } }, "d": { "secret": "z", "more": 1 } });
    assert_eq!(references(&value).into_iter().collect::<Vec<_>>(), ["x", "y"]);
}
