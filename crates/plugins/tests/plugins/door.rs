//! The one door out: what it lets through, and what is never reached.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use model::Class;
use model::plugin::Step;
use plugins::{Door, DoorError, DoorPolicy, Lookup, Outgoing, Secrets};
use serde_json::json;
use tokio::net::TcpListener;

use crate::harness::{Server, secrets};

async fn get(door: &Door, url: &str) -> Result<plugins::Incoming, DoorError> {
    door.send(Outgoing::get(url), &Secrets::default(), None).await
}

fn door(policy: DoorPolicy) -> Door {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Door::new(policy)
}

fn strict() -> Door {
    door(DoorPolicy::default())
}

/// A socket that counts who comes, and says nothing.
async fn trap() -> (u16, Arc<AtomicUsize>) {
    trap_at("0.0.0.0:0").await
}

async fn trap_at(address: &str) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let visits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&visits);
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok(visitor) = listener.accept().await {
            held.push(visitor);
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, visits)
}

/// Names with the addresses a test gives them; each lookup takes the next answer, and the last one stays.
struct Names(Mutex<Vec<Vec<IpAddr>>>);

impl Names {
    fn answering(answers: &[&[&str]]) -> Arc<Names> {
        let parse = |answer: &&[&str]| answer.iter().map(|ip| ip.parse().unwrap()).collect();
        Arc::new(Names(Mutex::new(answers.iter().map(parse).collect())))
    }
}

impl Lookup for Names {
    fn lookup(&self, _host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        Box::pin(async move { Ok(answer) })
    }
}

#[tokio::test]
async fn addresses_that_are_not_public_are_refused_in_every_notation() {
    let (port, visits) = trap().await;
    let hosts = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "127.8.9.10",
        "0.0.0.0",
        "0",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fe80::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[100::1]",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "169.254.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "metadata.google.internal",
        "metadata",
        "①②⑦.0.0.1",
        "127。0。0。1",
    ];
    let door = strict();
    for host in hosts {
        let error = get(&door, &format!("http://{host}:{port}/")).await.unwrap_err();
        assert!(matches!(error, DoorError::Forbidden { .. }), "{host}: {error}");
        assert_eq!(error.failure(Step::Apply).class, Class::Forbidden);
    }
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_is_not_http_or_holds_a_password_is_refused() {
    for url in [
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://x/",
        "http://user:pw@example.com/",
        "http://u@example.com/",
        "http:///",
        "not a url",
        "data:text/plain,x",
        "http://example.com:0/",
    ] {
        let error = get(&strict(), url).await.unwrap_err();
        assert!(matches!(error, DoorError::BadUrl { .. }), "{url}: {error}");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
}

#[tokio::test]
async fn a_name_that_resolves_to_a_private_address_is_refused_even_among_public_ones() {
    let (port, visits) = trap().await;
    for answer in [
        &["127.0.0.1"][..],
        &["1.1.1.1", "127.0.0.1"],
        &["10.0.0.7"],
        &["::1"],
        &["::ffff:10.0.0.7"],
        &["2606:4700::1111", "fd00::1"],
    ] {
        let door = door(DoorPolicy { lookup: Names::answering(&[answer]), ..DoorPolicy::default() });
        let error = get(&door, &format!("http://innocent.example:{port}/")).await.unwrap_err();
        assert!(matches!(error, DoorError::Forbidden { .. }), "{answer:?}: {error}");
    }
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_cannot_change_its_address_between_the_check_and_the_connection() {
    // The same port at two addresses: the operator allows the one, and the trap is at the other. Were there a second
    // lookup between the check and the connection, it would lead into the trap.
    let server = Server::start().await;
    let (port, visits) = trap_at(&format!("127.0.0.2:{}", server.port)).await;
    server.then(200, json!({}));
    let names = Names::answering(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let url = format!("http://rebind.example:{port}/");
    let fresh = || door(DoorPolicy { lookup: names.clone(), ..DoorPolicy::allowing(["127.0.0.1/32"]) });
    assert_eq!(get(&fresh(), &url).await.unwrap().status, 200);
    let error = get(&fresh(), &url).await.unwrap_err();
    assert!(matches!(error, DoorError::Forbidden { .. }), "{error}");
    assert_eq!((server.seen().len(), visits.load(Ordering::SeqCst)), (1, 0));
}

#[tokio::test]
async fn a_redirect_is_checked_like_the_first_request() {
    let (port, visits) = trap().await;
    let server = Server::start().await;
    let targets = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://localhost:{port}/"),
        format!("//127.0.0.1:{port}/x"),
        "http://169.254.169.254/latest".to_owned(),
        "http://10.0.0.1/".to_owned(),
        format!("http://0.0.0.0:{port}/"),
    ];
    for target in targets {
        server.redirects_to(&target);
        let error = get(&server.door(), &server.url("/start")).await.unwrap_err();
        assert!(matches!(error, DoorError::Forbidden { .. }), "{target}: {error}");
    }
    server.redirects_to("file:///etc/passwd");
    assert!(matches!(get(&server.door(), &server.url("/")).await.unwrap_err(), DoorError::BadUrl { .. }));
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn redirects_of_get_are_followed_so_often_and_no_further() {
    let server = Server::start().await;
    server.redirects_to("/b").redirects_to("/c").then(200, json!({ "at": "c" }));
    assert_eq!(get(&server.door(), &server.url("/a")).await.unwrap().json().unwrap(), json!({ "at": "c" }));
    let paths: Vec<String> = server.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/a", "/b", "/c"]);

    let server = Server::start().await;
    for _ in 0..10 {
        server.redirects_to("/again");
    }
    let error = get(&server.door(), &server.url("/")).await.unwrap_err();
    assert!(matches!(error, DoorError::TooManyRedirects { .. }), "{error}");
    assert_eq!(server.seen().len(), 6);
}

#[tokio::test]
async fn a_request_that_changes_something_is_not_repeated_elsewhere() {
    let server = Server::start().await;
    server.redirects_to("/elsewhere");
    let answer =
        server.door().send(Outgoing::post(server.url("/")).json(&json!({})), &Secrets::default(), None).await.unwrap();
    assert_eq!(answer.status, 302);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn credentials_stay_behind_when_a_redirect_leaves_the_host() {
    let (there, here) = (Server::start().await, Server::start().await);
    here.redirects_to(&there.url("/other"));
    there.then(200, json!({}));
    let door = door(DoorPolicy::allowing(["127.0.0.0/8"]));
    let request = Outgoing::get(here.url("/"))
        .header("Authorization", "Bearer abc")
        .header("Private-Token", "abc")
        .header("Cookie", "a=b")
        .header("Accept", "text/x");
    door.send(request, &Secrets::default(), None).await.unwrap();
    assert_eq!(here.seen()[0].header("authorization"), "Bearer abc");
    let arrived = &there.seen()[0];
    for name in ["authorization", "private-token", "cookie", "referer"] {
        assert_eq!(arrived.header(name), "", "{name}");
    }
    assert_eq!(arrived.header("accept"), "text/x");
}

#[tokio::test]
async fn a_secret_goes_only_to_the_hosts_it_names() {
    let server = Server::start().await;
    let value = "t0p/s3cret value";
    let elsewhere = secrets(&[("token", value, &["api.example.com"])]);
    let basic = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("user:{value}"));
    let encoded = percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string();
    let requests = [
        Outgoing::get(server.url("/")).header("Authorization", format!("Bearer {value}")),
        Outgoing::get(server.url("/")).header("Authorization", format!("Basic {basic}")),
        Outgoing::get(server.url(&format!("/?q={encoded}"))),
        Outgoing::get(server.url(&format!("/{value}"))),
        Outgoing::post(server.url("/")).json(&json!({ "a": [value] })),
        Outgoing::post(server.url("/")).json(&json!({ "a": basic })),
    ];
    for request in requests {
        let error = server.door().send(request, &elsewhere, None).await.unwrap_err();
        assert_eq!(error, DoorError::SecretMayNotGoThere { secret: "token".into(), host: "127.0.0.1".into() });
        let failure = error.failure(Step::Apply);
        assert_eq!(failure.class, Class::Forbidden);
        assert!(!failure.to_string().contains("s3cret"), "{failure}");
    }
    assert!(server.seen().is_empty(), "nothing was sent");

    server.then(200, json!({})).then(200, json!({}));
    let here = secrets(&[("token", value, &["127.0.0.1"]), ("any", "another-value", &[])]);
    let request = || Outgoing::get(server.url("/")).header("X-Token", value).header("X-Any", "another-value");
    server.door().send(request(), &here, None).await.unwrap();
    let with_port = secrets(&[("token", value, &[&format!("127.0.0.1:{}", server.port)])]);
    server.door().send(request(), &with_port, None).await.unwrap();
}

#[tokio::test]
async fn a_redirect_cannot_carry_a_secret_to_another_host() {
    let (there, here) = (Server::start().await, Server::start().await);
    here.redirects_to(&there.url("/?stolen=top-secret-1"));
    let secrets = secrets(&[("token", "top-secret-1", &[&format!("127.0.0.1:{}", here.port)])]);
    let door = door(DoorPolicy::allowing(["127.0.0.0/8"]));
    let error = door.send(Outgoing::get(here.url("/")).header("X", "top-secret-1"), &secrets, None).await.unwrap_err();
    assert!(matches!(error, DoorError::SecretMayNotGoThere { .. }), "{error}");
    assert!(there.seen().is_empty());
}

#[tokio::test]
async fn the_operator_lets_hosts_ports_addresses_and_networks_through() {
    let server = Server::start().await;
    let port = server.port;
    let names = || Names::answering(&[&["127.0.0.1"]]);
    let allowed = [
        (format!("inside.example:{port}"), "inside.example"),
        ("inside.example".to_owned(), "INSIDE.example."),
        ("127.0.0.0/8".to_owned(), "any.example"),
        ("127.0.0.1".to_owned(), "127.0.0.1"),
        (format!("127.0.0.1:{port}"), "127.1"),
        ("127.0.0.1/32".to_owned(), "[::ffff:127.0.0.1]"),
    ];
    for (entry, host) in allowed {
        server.then(200, json!({}));
        let door = door(DoorPolicy { lookup: names(), ..DoorPolicy::allowing([entry.clone()]) });
        let answer = get(&door, &format!("http://{host}:{port}/")).await;
        assert_eq!(answer.map(|answer| answer.status), Ok(200), "{entry} {host}");
    }
    for (entry, host) in [
        ("inside.example:1", "inside.example"),
        ("inside.example", "x.inside.example"),
        ("127.0.0.1:1", "127.0.0.1"),
        ("10.0.0.0/8", "a.example"),
    ] {
        let door = door(DoorPolicy { lookup: names(), ..DoorPolicy::allowing([entry]) });
        let error = get(&door, &format!("http://{host}:{port}/")).await.unwrap_err();
        let failure = error.failure(Step::Plan);
        assert_eq!(failure.class, Class::Forbidden, "{entry} {host}: {error}");
        assert_eq!(failure.hint, format!("The operator can let it through with `--allow-outbound {host}:{port}`."));
    }
}

#[tokio::test]
async fn an_answer_is_read_up_to_its_limit_and_never_unpacked() {
    let server = Server::start().await;
    let allowed = [format!("127.0.0.1:{}", server.port)];
    let door = door(DoorPolicy { answer_bytes: 1_000, ..DoorPolicy::allowing(allowed) });
    server.then_raw(200, vec![], vec![b'x'; 1_000]).then_raw(200, vec![], vec![b'x'; 1_001]);
    assert_eq!(get(&door, &server.url("/")).await.unwrap().body.len(), 1_000);
    let error = get(&door, &server.url("/")).await.unwrap_err();
    assert_eq!(error, DoorError::TooLarge { host: "127.0.0.1".into(), bytes: 1_000 });
    assert_eq!(error.failure(Step::Apply).class, Class::Outage);

    let packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 4, 0, 0x43, 0xbe, 0xb7, 0xe8, 1, 0, 0, 0];
    server.then_raw(200, vec![("content-encoding", "gzip".to_owned())], packed.clone());
    assert_eq!(get(&door, &server.url("/")).await.unwrap().body, packed);
    assert_eq!(server.seen()[0].header("accept-encoding"), "");
}

#[tokio::test]
async fn nothing_leaves_after_the_time_is_over() {
    let server = Server::start().await;
    let error = server
        .door()
        .send(Outgoing::get(server.url("/")), &Secrets::default(), Some(Instant::now()))
        .await
        .unwrap_err();
    assert_eq!(error, DoorError::Late { host: "127.0.0.1".into() });
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_silent_server_does_not_hold_a_request_for_ever() {
    let (port, _) = trap().await;
    let door = door(DoorPolicy::allowing([format!("127.0.0.1:{port}")]));
    let url = format!("http://127.0.0.1:{port}/");
    let short = Outgoing::get(&url).within(Duration::from_millis(50));
    let error = door.send(short, &Secrets::default(), None).await.unwrap_err();
    assert_eq!(error, DoorError::TimedOut { host: "127.0.0.1".into() });
    assert_eq!(error.failure(Step::Apply).class, Class::Network);
    let until = Some(Instant::now() + Duration::from_millis(50));
    let error = door.send(Outgoing::get(&url), &Secrets::default(), until).await.unwrap_err();
    assert_eq!(error, DoorError::TimedOut { host: "127.0.0.1".into() });
}

#[tokio::test]
async fn a_closed_port_is_a_network_failure_that_names_the_host_only() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let door = door(DoorPolicy::allowing(["127.0.0.1"]));
    let error = get(&door, &format!("http://127.0.0.1:{port}/secret-path?token=abc")).await.unwrap_err();
    assert_eq!(error.failure(Step::Apply).class, Class::Network);
    assert!(!error.to_string().contains("secret-path") && !error.to_string().contains("abc"), "{error}");
    assert!(error.to_string().starts_with("127.0.0.1 cannot be reached: "), "{error}");
}

#[tokio::test]
async fn headers_that_frame_a_request_cannot_be_set() {
    let server = Server::start().await;
    for (name, value) in [
        ("Host", "internal"),
        ("Content-Length", "3"),
        ("Transfer-Encoding", "chunked"),
        ("X", "a\r\nb: c"),
        ("a b", "c"),
    ] {
        let error = server
            .door()
            .send(Outgoing::get(server.url("/")).header(name, value), &Secrets::default(), None)
            .await
            .unwrap_err();
        assert!(matches!(error, DoorError::BadHeader { .. }), "{name}: {error}");
    }
    assert!(server.seen().is_empty());
}
