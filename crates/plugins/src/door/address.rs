//! Which addresses are public. Everything that is not is refused, with the reason: an allow-list of what the internet
//! is, rather than a list of what it is not, for IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Prefixes of IPv4 that are not the internet.
const REFUSED_V4: &[([u8; 4], u8, &str)] = &[
    ([0, 0, 0, 0], 8, "an unspecified address"),
    ([10, 0, 0, 0], 8, "a private address"),
    ([100, 64, 0, 0], 10, "a carrier's private address"),
    ([127, 0, 0, 0], 8, "a loopback address"),
    ([168, 63, 129, 16], 32, "a cloud's metadata service"),
    ([169, 254, 0, 0], 16, "a link-local address"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "a reserved address"),
    ([192, 0, 2, 0], 24, "an address for documentation"),
    ([192, 88, 99, 0], 24, "a reserved address"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([198, 18, 0, 0], 15, "an address for benchmarks"),
    ([198, 51, 100, 0], 24, "an address for documentation"),
    ([203, 0, 113, 0], 24, "an address for documentation"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
];

/// Why an address may not be called; none if it is public.
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    match plain(address) {
        IpAddr::V4(address) => refusal_v4(address),
        IpAddr::V6(address) => refusal_v6(address),
    }
}

/// The IPv4 address that is meant by one of IPv6, where it only wraps it: mapped, or translated by NAT64.
pub fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(wrapped) = address else { return address };
    let [.., a, b, c, d] = wrapped.octets();
    match wrapped.segments() {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        _ => address,
    }
}

fn refusal_v4(address: Ipv4Addr) -> Option<&'static str> {
    let within = |prefix: [u8; 4], length: u8| {
        let mask = u32::MAX << (32 - u32::from(length));
        address.to_bits() & mask == u32::from_be_bytes(prefix)
    };
    REFUSED_V4.iter().find(|(prefix, length, _)| within(*prefix, *length)).map(|(_, _, why)| *why)
}

fn refusal_v6(address: Ipv6Addr) -> Option<&'static str> {
    if address.is_unspecified() {
        return Some("an unspecified address");
    }
    if address.is_loopback() {
        return Some("a loopback address");
    }
    match address.segments() {
        [0xfc00..=0xfdff, ..] => Some("a private address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        // Teredo, benchmarks, ORCHID and what else is not for hosts.
        [0x2001, 0..=0x1ff, ..] => Some("a reserved address"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("an address for documentation"),
        // Wraps an IPv4 address, of whatever kind, and is no longer routed.
        [0x2002, ..] => Some("a 6to4 address"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("a reserved address"),
    }
}
