//! RabbitMQ beside the API. It carries offers to runners and their notes back, and nothing that would be missed: no secret, no state, no
//! claim. Whatever is lost, comes twice or late changes only how soon something is seen; with the broker away the API serves
//! alone.
//!
//! | name | what |
//! |---|---|
//! | exchange `terrane.offers` | control plane → runners, by tenant |
//! | queue `terrane.offers.RUNNER` | one offer at most: a second says nothing new |
//! | exchange and queue `terrane.notes` | runners → one controller at a time, in order |

use std::time::Duration;

use futures::{StreamExt, TryFutureExt};
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicNackOptions, BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions,
    ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties, Consumer, ExchangeKind};
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use crate::message::{Enrolment, Signed};

const OFFERS: &str = "terrane.offers";
const NOTES: &str = "terrane.notes";
const SIGNATURE: &str = "signature";
const RUNNER: &str = "runner";
/// How long the broker may take over anything.
const PATIENCE: Duration = Duration::from_secs(5);
/// Notes that are taken in together.
const TOGETHER: u16 = 64;
/// Notes that nobody takes in: then runners are refused, and turn to the API.
const MOST_BYTES: i64 = 256 << 20;
/// A queue that no runner has listened at for so long is gone.
const FORGOTTEN: i64 = 3600 * 1000;

#[derive(Debug, Error)]
pub enum BrokerError {
    #[error("the broker's address is none: it reads amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps://…")]
    Address,
    #[error("the broker does not answer")]
    Silent,
    #[error("the broker has refused a message")]
    Refused,
    #[error("the broker: {0}")]
    Amqp(#[from] lapin::Error),
}

/// Where it is.
#[derive(Debug, Clone)]
pub struct Broker {
    url: SecretString,
}

/// Without the password.
impl std::fmt::Display for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = self.url.expose_secret();
        match url.parse::<lapin::uri::AMQPUri>() {
            Ok(uri) => {
                let at = uri.authority;
                write!(f, "{}://{}:***@{}:{}/{}", uri.scheme, at.userinfo.username, at.host, at.port, uri.vhost)
            }
            Err(_) => f.write_str("amqp://***"),
        }
    }
}

impl Broker {
    pub fn at(url: &str) -> Result<Broker, BrokerError> {
        url.parse::<lapin::uri::AMQPUri>().map_err(|_| BrokerError::Address)?;
        Ok(Broker { url: url.to_owned().into() })
    }

    async fn open(&self, name: &str) -> Result<(Connection, Channel), BrokerError> {
        let properties = ConnectionProperties::default().with_connection_name(name.into());
        let connection = in_time(Connection::connect(self.url.expose_secret(), properties)).await?;
        let channel = in_time(connection.create_channel()).await?;
        in_time(channel.confirm_select(ConfirmSelectOptions::default())).await?;
        for (exchange, kind) in [(OFFERS, ExchangeKind::Topic), (NOTES, ExchangeKind::Fanout)] {
            let durable = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
            in_time(channel.exchange_declare(exchange.into(), kind, durable, FieldTable::default())).await?;
        }
        Ok((connection, channel))
    }

    /// The end of a runner.
    pub async fn runner(&self, who: &Enrolment) -> Result<RunnersEnd, BrokerError> {
        let (connection, channel) = self.open(&format!("terrane runner {}", who.name)).await?;
        let queue = format!("{OFFERS}.{}", who.name);
        let bounds = [("x-max-length", 1), ("x-message-ttl", 60_000), ("x-expires", FORGOTTEN)];
        declare(&channel, &queue, &bounds, &[]).await?;
        for tenant in &who.tenants {
            bind(&channel, &queue, OFFERS, tenant).await?;
        }
        // An offer is acknowledged as it is sent: whoever has heard it has no more duty than whoever has not.
        let options = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
        let offers = channel.basic_consume(queue.as_str().into(), "".into(), options, FieldTable::default());
        let offers = in_time(offers).await?;
        Ok(RunnersEnd { _connection: connection, post: Post { channel }, offers })
    }

    /// The end of the control plane.
    pub async fn desk(&self) -> Result<Desk, BrokerError> {
        let (connection, channel) = self.open("terrane").await?;
        let words = [("x-overflow", "reject-publish")];
        declare(&channel, NOTES, &[("x-max-length-bytes", MOST_BYTES)], &words).await?;
        bind(&channel, NOTES, NOTES, "").await?;
        in_time(channel.basic_qos(TOGETHER, BasicQosOptions::default())).await?;
        let notes =
            channel.basic_consume(NOTES.into(), "".into(), BasicConsumeOptions::default(), FieldTable::default());
        let notes = in_time(notes).await?;
        Ok(Desk { _connection: connection, post: Post { channel }, notes })
    }
}

/// A runner's connection to the broker.
pub struct RunnersEnd {
    _connection: Connection,
    pub post: Post,
    offers: Consumer,
}

impl RunnersEnd {
    /// The next offer.
    pub async fn offered(&mut self) -> Result<(), BrokerError> {
        match self.offers.next().await {
            Some(offer) => Ok(offer.map(drop)?),
            None => Err(BrokerError::Silent),
        }
    }
}

/// Sends, and knows that it was taken.
#[derive(Clone)]
pub struct Post {
    channel: Channel,
}

impl Post {
    pub async fn note(&self, note: &Signed) -> Result<(), BrokerError> {
        let mut headers = FieldTable::default();
        headers.insert(RUNNER.into(), AMQPValue::LongString(note.runner.as_str().into()));
        headers.insert(SIGNATURE.into(), AMQPValue::LongString(note.signature.as_str().into()));
        // Mandatory: where no controller has ever listened there is no queue, and the note would be lost.
        self.publish(NOTES, "", &note.body, headers, true).await
    }

    /// There is work of this tenant. Where none of its runners listens, nobody needs to know.
    pub async fn offer(&self, tenant: &str) -> Result<(), BrokerError> {
        self.publish(OFFERS, tenant, b"{}", FieldTable::default(), false).await
    }

    async fn publish(
        &self,
        exchange: &str,
        key: &str,
        body: &[u8],
        headers: FieldTable,
        mandatory: bool,
    ) -> Result<(), BrokerError> {
        let properties = BasicProperties::default()
            .with_content_type("application/json".into())
            .with_type(model::job::RUNNER_CONTRACT.into())
            // Written to disk before it is confirmed.
            .with_delivery_mode(2)
            .with_headers(headers);
        let options = BasicPublishOptions { mandatory, ..BasicPublishOptions::default() };
        let published = self.channel.basic_publish(exchange.into(), key.into(), options, body, properties);
        let confirmation = in_time(published.and_then(|confirm| confirm)).await?;
        let taken = confirmation.is_ack() && confirmation.take_message().is_none();
        if taken { Ok(()) } else { Err(BrokerError::Refused) }
    }
}

/// The control plane's connection to the broker.
pub struct Desk {
    _connection: Connection,
    pub post: Post,
    notes: Consumer,
}

/// Notes that arrived together, in their order. They are still the broker's until they are `done`.
pub struct Batch {
    pub notes: Vec<Signed>,
    last: Delivery,
}

impl Desk {
    /// What has arrived; waits for the first.
    pub async fn notes(&mut self) -> Result<Batch, BrokerError> {
        let first = self.notes.next().await.ok_or(BrokerError::Silent)??;
        let mut batch = Batch { notes: vec![signed(&first)], last: first };
        while batch.notes.len() < usize::from(TOGETHER)
            && let Some(Some(next)) = futures::FutureExt::now_or_never(self.notes.next())
        {
            let next = next?;
            batch.notes.push(signed(&next));
            batch.last = next;
        }
        Ok(batch)
    }
}

impl Batch {
    /// They are taken in.
    pub async fn done(self) -> Result<(), BrokerError> {
        in_time(self.last.ack(BasicAckOptions { multiple: true })).await.map(drop)
    }

    /// They cannot be taken in now.
    pub async fn again(self) -> Result<(), BrokerError> {
        in_time(self.last.nack(BasicNackOptions { multiple: true, requeue: true })).await.map(drop)
    }
}

fn signed(delivery: &Delivery) -> Signed {
    let header = |name: &str| match delivery.properties.headers().as_ref().and_then(|headers| headers.inner().get(name))
    {
        Some(AMQPValue::LongString(text)) => text.to_string(),
        _ => String::new(),
    };
    Signed { runner: header(RUNNER), signature: header(SIGNATURE), body: delivery.data.clone() }
}

async fn declare(
    channel: &Channel,
    queue: &str,
    bounds: &[(&str, i64)],
    words: &[(&str, &str)],
) -> Result<(), BrokerError> {
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    for (name, bound) in bounds {
        arguments.insert((*name).into(), AMQPValue::LongLongInt(*bound));
    }
    for (name, word) in words {
        arguments.insert((*name).into(), AMQPValue::LongString((*word).into()));
    }
    if queue == NOTES {
        // In order: pieces of a log that overtake each other would have to be sent again.
        arguments.insert("x-single-active-consumer".into(), AMQPValue::Boolean(true));
    }
    let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    in_time(channel.queue_declare(queue.into(), durable, arguments)).await.map(drop)
}

async fn bind(channel: &Channel, queue: &str, exchange: &str, key: &str) -> Result<(), BrokerError> {
    let (options, arguments) = (QueueBindOptions::default(), FieldTable::default());
    in_time(channel.queue_bind(queue.into(), exchange.into(), key.into(), options, arguments)).await
}

async fn in_time<T>(work: impl Future<Output = Result<T, lapin::Error>>) -> Result<T, BrokerError> {
    Ok(tokio::time::timeout(PATIENCE, work).await.map_err(|_| BrokerError::Silent)??)
}
