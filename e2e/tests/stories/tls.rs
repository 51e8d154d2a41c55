//! With a certificate the server speaks TLS, and nothing else on that port.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use e2e::{Api, Database, Server, database_cluster, run, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_a_certificate_serves_https_and_not_http() {
    let database = Database::sqlite().await;
    let (cert, key) = self_signed(&database);
    let flags = ["--database", &database.url, "--tls-cert", &cert, "--tls-key", &key];
    let server = Server::spawn("server", &flags, &[]);
    let api = server.api().trusting(&std::fs::read(&cert).unwrap());
    until("the server to be ready", async || api.ready().await == Some(200)).await;
    api.post("/api/v1/resource-types", &database_cluster()).await.ok();
    assert_eq!(api.all("/api/v1/resource-types").await.len(), 1);

    assert_eq!(server.api().ready().await, None, "a client that does not trust the certificate is not served");
    assert_eq!(Api::at(&format!("http://127.0.0.1:{}", server.port)).ready().await, None, "nor is plain HTTP");
    let mut plain = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    plain.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    plain.write_all(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP/"), "{answer:?}");
    assert_eq!(api.ready().await, Some(200), "and it goes on");
}

#[tokio::test]
async fn a_server_with_half_or_a_broken_certificate_refuses_to_start() {
    let database = Database::sqlite().await;
    let (cert, key) = self_signed(&database);
    let listen = format!("127.0.0.1:{}", e2e::free_port());
    let start = |flags: &[&str]| {
        run(database.folder(), &[&["server", "--listen", &listen, "--database", &database.url], flags].concat())
    };
    let half = start(&["--tls-cert", &cert]);
    assert_eq!(half.code, Some(2), "{}", half.said());
    assert!(half.stderr.contains("--tls-key"), "{}", half.stderr);
    let swapped = start(&["--tls-cert", &key, "--tls-key", &cert]);
    assert_eq!(swapped.code, Some(1), "{}", swapped.said());
    assert!(swapped.stderr.contains("cannot use"), "{}", swapped.stderr);
}

fn self_signed(database: &Database) -> (String, String) {
    let path = |name| database.folder().join(name).display().to_string();
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-out", &cert, "-keyout", &key])
        .output()
        .expect("openssl is there");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (cert, key)
}
