//! RabbitMQ: the one that `make test` started, or one of a story's own, which it may stop.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Connection, ConnectionProperties};

use crate::wait::eventually;

/// As many virtual hosts as `scripts/with-rabbitmq` makes.
const HOSTS: usize = 32;

pub struct Broker {
    /// As `--broker` takes it.
    pub url: String,
    folder: PathBuf,
    keeper: Child,
    _note: tempfile::TempDir,
}

impl Broker {
    /// A virtual host of the shared one, which no other story uses.
    pub fn of_its_own() -> String {
        let variable = |name| std::env::var(name).expect("TERRANE_TEST_RABBITMQ names a RabbitMQ: run by `make test`");
        let (url, folder) = (variable("TERRANE_TEST_RABBITMQ"), variable("TERRANE_TEST_RABBITMQ_DIR"));
        let host = (0..HOSTS).find(|number| {
            let mark = Path::new(&folder).join(format!("taken/story-{number}"));
            File::options().create_new(true).write(true).open(mark).is_ok()
        });
        let host = host.expect("a virtual host that no story has taken yet");
        let (address, _) = url.rsplit_once('/').expect("the URL names a virtual host");
        format!("{address}/story-{host}")
    }

    /// Say something to an exchange, as anybody could who has the broker's password.
    pub async fn say(url: &str, exchange: &str, headers: &[(&str, &str)], body: &str) {
        let connection = Connection::connect(url, ConnectionProperties::default()).await.expect("the broker answers");
        let channel = connection.create_channel().await.expect("a channel");
        channel.confirm_select(ConfirmSelectOptions::default()).await.expect("confirms");
        let mut table = FieldTable::default();
        for (name, value) in headers {
            table.insert((*name).into(), AMQPValue::LongString((*value).into()));
        }
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let properties = BasicProperties::default().with_headers(table);
        let sent = channel.basic_publish(exchange.into(), "".into(), options, body.as_bytes(), properties).await;
        let taken = sent.expect("it is sent").await.expect("it is confirmed");
        assert!(taken.is_ack() && taken.take_message().is_none(), "somebody listens there");
    }

    pub async fn start() -> Broker {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let note = folder.path().join("note");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/with-rabbitmq");
        let keep =
            "echo $TERRANE_TEST_RABBITMQ >$0.new; echo $TERRANE_TEST_RABBITMQ_DIR >>$0.new; mv $0.new $0; read _";
        let keeper = Command::new(script)
            .args(["sh", "-c", keep])
            .arg(&note)
            .stdin(Stdio::piped())
            .spawn()
            .expect("the script can be started");
        let text = eventually("RabbitMQ to start", async || std::fs::read_to_string(&note).ok()).await;
        let mut lines = text.lines().map(str::to_string);
        let url = lines.next().expect("its URL");
        Broker { url, folder: lines.next().expect("its folder").into(), keeper, _note: folder }
    }

    /// Without a farewell.
    pub fn stop(&self) {
        self.run("stop");
    }

    /// Again, on the same ports and data.
    pub fn start_again(&self) {
        self.run("start");
    }

    fn run(&self, what: &str) {
        let status = Command::new(self.folder.join(what)).stdin(Stdio::null()).status();
        assert!(status.expect("the program is there").success(), "RabbitMQ can be told to {what}");
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // Its end of the pipe closes, `read` ends, and the script cleans up.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
