//! What clouds make up: ids, serial numbers, addresses.

use std::fmt::Write;

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

/// So many hexadecimal digits.
pub fn hex(length: usize) -> String {
    let mut bytes = vec![0; length.div_ceil(2)];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    let mut text = bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to memory does not fail");
        text
    });
    text.truncate(length);
    text
}

/// So many decimal digits, of which the first is not 0.
pub fn digits(length: usize) -> String {
    let number = |below: u64| getrandom::u64().expect("the system has random numbers") % below;
    let rest = (1..length).map(|_| char::from(b'0' + number(10) as u8));
    let first = char::from(b'1' + number(9) as u8);
    std::iter::once(first).chain(rest).collect()
}

/// So many decimal digits, the same for the same seed, which they do not tell.
pub fn fixed(seed: &str, length: usize) -> String {
    let digest = Sha256::digest(seed);
    digest.iter().cycle().take(length).map(|byte| char::from(b'0' + byte % 10)).collect()
}

/// Of version 4.
pub fn uuid() -> String {
    let hex = hex(32);
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

/// A public address that belongs to nobody: of those set aside for documentation and benchmarks.
pub fn address() -> String {
    let number = getrandom::u32().expect("the system has random numbers");
    let [_, b, c, d] = number.to_be_bytes();
    format!("198.{}.{c}.{}", 18 + b % 2, d.max(1))
}

/// What looks like the certificate of a cluster, as clouds hand it out: PEM in base64.
pub fn certificate() -> String {
    let der = BASE64_STANDARD.encode(hex(256));
    BASE64_STANDARD.encode(format!("-----BEGIN CERTIFICATE-----\n{der}\n-----END CERTIFICATE-----\n"))
}
