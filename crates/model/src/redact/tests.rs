use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::*;
use serde_json::json;

use super::{Redactor, STRUCK};

fn in_pieces(redactor: &Redactor, text: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut stream = redactor.stream();
    let mut clean = vec![];
    let mut rest = text;
    for cut in cuts {
        let (piece, left) = rest.split_at((*cut).min(rest.len()));
        clean.extend(stream.push(piece));
        rest = left;
    }
    clean.extend(stream.push(rest));
    clean.extend(stream.finish());
    clean
}

fn forms(secret: &str, before: &str) -> Vec<String> {
    let quoted = json!(secret).to_string();
    let percent: String = secret.bytes().map(|b| format!("%{b:02X}")).collect();
    let all_escaped_or_plain = |upper: bool| -> String {
        let hex = |b: u8| if upper { format!("%{b:02X}") } else { format!("%{b:02x}") };
        secret
            .bytes()
            .map(|b| if b.is_ascii_alphanumeric() || b"-._~".contains(&b) { (b as char).to_string() } else { hex(b) })
            .collect()
    };
    let _ = percent;
    let inside = format!("{before}{secret}");
    vec![
        secret.to_owned(),
        quoted[1..quoted.len() - 1].to_owned(),
        STANDARD.encode(&inside),
        URL_SAFE.encode(&inside),
        all_escaped_or_plain(true),
        all_escaped_or_plain(false),
        all_escaped_or_plain(true).replace("%2F", "/"),
        secret.bytes().map(|b| format!("{b:02x}")).collect(),
        secret.bytes().map(|b| format!("{b:02X}")).collect(),
    ]
}

/// What of a form betrays the secret: of base64 in the midst of something, all but the ends.
fn core_of(form: &str, secret: &str, before: &str) -> String {
    let inside = format!("{before}{secret}");
    for encoded in [STANDARD.encode(&inside), URL_SAFE.encode(&inside)] {
        if form == encoded {
            let (begin, end) = ((before.len() * 8).div_ceil(6), inside.len() * 8 / 6);
            return encoded[begin..end].to_owned();
        }
    }
    form.to_owned()
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

proptest! {
    #[test]
    fn no_form_of_a_secret_survives_any_cut(
        secret in "[ -~äß\n]{6,40}",
        before in "[a-z]{0,2}",
        cuts in prop::collection::vec(0usize..9, 0..60),
    ) {
        let redactor = Redactor::new([secret.as_str()]);
        for form in forms(&secret, &before) {
            let core = core_of(&form, &secret, &before);
            let text = format!("<<{form}>>");
            let clean = in_pieces(&redactor, text.as_bytes(), &cuts);
            prop_assert!(!contains(&clean, &core), "{form:?} -> {:?}", String::from_utf8_lossy(&clean));
            prop_assert!(clean.starts_with(b"<<") && clean.ends_with(b">>"));
        }
    }

    #[test]
    fn everything_else_is_left_as_it_was(
        pieces in prop::collection::vec("[g-z .\n]{0,30}", 1..6),
        cuts in prop::collection::vec(0usize..12, 0..40),
    ) {
        // No letter of the secret, nor of any of its forms that are longer than a fragment, is in the pieces.
        let secret = "A1B2C3-D4E5F6";
        let redactor = Redactor::new([secret]);
        let clean = in_pieces(&redactor, pieces.join(secret).as_bytes(), &cuts);
        let mut expected = pieces.join(STRUCK);
        // What touches is struck out as one.
        while expected.contains("******") {
            expected = expected.replace("******", "***");
        }
        prop_assert_eq!(String::from_utf8_lossy(&clean), expected);
    }

    #[test]
    fn how_it_is_cut_makes_no_difference(
        text in "[ab \n]{0,60}",
        cuts in prop::collection::vec(0usize..5, 0..40),
    ) {
        let redactor = Redactor::new(["abab", "babba", "ab"]);
        prop_assert_eq!(in_pieces(&redactor, text.as_bytes(), &cuts), redactor.bytes(text.as_bytes()));
    }

    #[test]
    fn without_secrets_every_byte_passes_at_once(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let redactor = Redactor::new([]);
        prop_assert_eq!(redactor.stream().push(&bytes), bytes);
    }
}

#[test]
fn only_what_could_become_a_match_is_held_back() {
    let redactor = Redactor::new(["hunter2-forever"]);
    let mut stream = redactor.stream();
    assert_eq!(stream.push(b"password: hunt"), b"password: ");
    assert_eq!(stream.push(b"ing\n"), b"hunting\n");
    assert_eq!(stream.push(b"hunter2-"), b"");
    assert_eq!(stream.push(b"forever."), b"***.");
}

#[test]
fn overlapping_secrets_leave_no_tail() {
    let redactor = Redactor::new(["abcdef", "defghi"]);
    assert_eq!(redactor.text("xabcdefghiy"), "x***y");
}

#[test]
fn a_short_value_is_struck_out_only_as_a_word() {
    let redactor = Redactor::new(["s3t", "x"]);
    assert_eq!(redactor.text("s3t as3t s3ts (s3t) x s3t"), "*** as3t s3ts (***) x ***");
}

#[test]
fn a_key_of_several_lines_is_struck_out_line_by_line() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END KEY-----\n";
    let redactor = Redactor::new([key]);
    assert_eq!(redactor.text("x: MIIEvQIBADANBgkqhkiG\ny: 9w0BAQEFAASCBKcwggSj\n"), "x: ***\ny: ***\n");
    assert_eq!(redactor.text("-----BEGIN KEY-----\n"), "-----BEGIN KEY-----\n");
}

#[test]
fn a_long_secret_in_base64_lines_of_the_usual_width_is_struck_out() {
    let secret: String = (0..150).map(|i| char::from(b'!' + (i * 7 % 90) as u8)).collect();
    let redactor = Redactor::new([secret.as_str()]);
    let encoded = STANDARD.encode(&secret);
    for line in encoded.as_bytes().chunks(76) {
        let line = String::from_utf8_lossy(line);
        assert!(redactor.text(&format!("a: {line}\n")).starts_with("a: ***"), "{line}");
    }
}

#[test]
fn a_secret_that_a_box_wrapped_is_struck_out() {
    let redactor = Redactor::new(["correct horse battery"]);
    assert_eq!(redactor.text("│ it was correct horse\n│ battery here"), "│ it was *** here");
}

#[test]
fn strings_keys_and_numbers_of_a_document_are_cleaned() {
    let redactor = Redactor::new(["12345678", "geheim"]);
    let mut value = json!({"geheim": ["a geheim b", 12345678, true, null], "n": 1});
    redactor.value(&mut value);
    assert_eq!(value, json!({"***": ["a *** b", "***", true, null], "n": 1}));
}
