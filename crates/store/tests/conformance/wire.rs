//! The way to the PostgreSQL server, in the story's hands: it sees the statements that pass, and it can break.

use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use sqlx::postgres::PgConnectOptions;
use store::Location;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::db::Database;

pub struct Wire {
    pub location: Location,
    address: SocketAddr,
    serving: JoinHandle<()>,
    shared: Arc<Shared>,
}

/// A statement as the server is asked to prepare it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    pub text: String,
    /// The types of its arguments, by PostgreSQL's numbers.
    pub arguments: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The server never hears of the commit.
    Unsent,
    /// The server commits, and its answer is lost.
    Unanswered,
    /// The server never hears of the commit, and the connection stays as if it might.
    Stuck,
}

struct Shared {
    server: (String, u16),
    statements: Mutex<Vec<Statement>>,
    /// Counts the cuts of all that is connected.
    cuts: watch::Sender<u64>,
    /// Counts how often all that is connected fell silent.
    silences: watch::Sender<u64>,
    fault: Mutex<Option<Fault>>,
}

impl Wire {
    pub async fn to(database: &Database) -> Wire {
        let Location::Postgres(url) = &database.location else { panic!("only PostgreSQL is behind a wire") };
        let options = PgConnectOptions::from_str(url).expect("a PostgreSQL URL");
        let server = (options.get_host().to_string(), options.get_port());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let there = format!("@{}:{}/", server.0, server.1);
        let location = Location::Postgres(url.replace(&there, &format!("@{address}/")) + "?sslmode=disable");
        let shared = Arc::new(Shared {
            server,
            statements: Mutex::default(),
            cuts: watch::Sender::new(0),
            silences: watch::Sender::new(0),
            fault: Mutex::new(None),
        });
        let serving = tokio::spawn(serve(listener, shared.clone()));
        Wire { location, address, serving, shared }
    }

    /// Every statement that was prepared so far.
    pub fn statements(&self) -> Vec<Statement> {
        let mut statements = self.shared.statements.lock().expect("no panic").clone();
        statements.sort();
        statements.dedup();
        statements
    }

    /// Break every connection there is.
    pub fn cut(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Let nothing pass any more on the connections there are, as when a machine is lost with nobody to say so.
    pub fn silence(&self) {
        self.shared.silences.send_modify(|silences| *silences += 1);
    }

    /// Break every connection, and refuse every new one until it is up again.
    pub async fn down(&mut self) {
        self.serving.abort();
        // Ends with the listener closed.
        let _ = (&mut self.serving).await;
        self.cut();
    }

    pub async fn up(&mut self) {
        let listener = TcpListener::bind(self.address).await.expect("the same port");
        self.serving = tokio::spawn(serve(listener, self.shared.clone()));
    }

    /// Break the next connection that commits.
    pub fn break_commit(&self, fault: Fault) {
        *self.shared.fault.lock().expect("no panic") = Some(fault);
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let (client, _) = listener.accept().await.expect("a connection");
        tokio::spawn(pass(client, shared.cuts.subscribe(), shared.silences.subscribe(), shared.clone()));
    }
}

async fn pass(
    client: TcpStream,
    mut cuts: watch::Receiver<u64>,
    mut silences: watch::Receiver<u64>,
    shared: Arc<Shared>,
) {
    let Ok(server) = TcpStream::connect(&shared.server).await else { return };
    for end in [&client, &server] {
        end.set_nodelay(true).expect("a connection");
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let (lose, losing) = watch::channel(false);
    let requests = requests(from_client, to_server, &shared, &lose);
    let answers = answers(from_server, to_client, losing);
    let passing = async {
        tokio::pin!(requests, answers);
        tokio::select! {
            _ = &mut requests => {}
            _ = &mut answers => {}
            _ = silences.changed() => std::future::pending().await,
        }
    };
    tokio::select! {
        () = passing => {}
        _ = cuts.changed() => {}
    }
}

async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    losing: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 || *losing.borrow() {
            return Ok(());
        }
        to.write_all(&buffer[..read]).await?;
    }
}

async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: &Shared,
    lose: &watch::Sender<bool>,
) -> std::io::Result<()> {
    // The first message has no kind.
    let startup = message(&mut from, &[]).await?;
    to.write_all(&startup).await?;
    let mut commits = Vec::new();
    loop {
        let kind = from.read_u8().await?;
        let message = message(&mut from, &[kind]).await?;
        let mut words = message[5..].split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        let mut word = || words.next().unwrap_or_default();
        let is_commit = match kind {
            b'Q' => word() == "COMMIT",
            b'P' => {
                let (name, text) = (word(), word());
                let at = 5 + name.len() + text.len() + 2;
                let arguments =
                    message[at + 2..].chunks_exact(4).map(|id| u32::from_be_bytes([id[0], id[1], id[2], id[3]]));
                if text == "COMMIT" {
                    commits.push(name);
                }
                let statement = Statement { text, arguments: arguments.collect() };
                shared.statements.lock().expect("no panic").push(statement);
                false
            }
            b'B' => {
                let (_portal, statement) = (word(), word());
                commits.contains(&statement)
            }
            _ => false,
        };
        if is_commit {
            let fault = shared.fault.lock().expect("no panic").take();
            match fault {
                Some(Fault::Unsent) => return Ok(()),
                Some(Fault::Stuck) => std::future::pending().await,
                Some(Fault::Unanswered) => drop(lose.send_replace(true)),
                None => {}
            }
        }
        to.write_all(&message).await?;
    }
}

/// A message whole: its kind, its length, which counts itself, and what it says.
async fn message(from: &mut OwnedReadHalf, kind: &[u8]) -> std::io::Result<Vec<u8>> {
    let length = from.read_u32().await?;
    let mut message = [kind, &length.to_be_bytes()].concat();
    let said = message.len();
    message.resize(kind.len() + length as usize, 0);
    from.read_exact(&mut message[said..]).await?;
    Ok(message)
}
