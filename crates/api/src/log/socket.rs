//! WebSocket: bytes as binary frames. A text frame is JSON about them: first `{"offset": N}`, where they begin (once more,
//! should the log go back there), and last `{"state": "finished", "log_bytes": N}`.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use serde_json::json;

use super::{Reading, Told};

/// Whoever takes nothing for so long is not there any more; it may come back with the offset.
const TAKEN_WITHIN: Duration = Duration::from_secs(60);
/// A reader has nothing to say.
const LONGEST_WORD: usize = 4096;

pub fn socket(upgrade: WebSocketUpgrade, reading: Reading) -> Response {
    let upgrade = upgrade.max_message_size(LONGEST_WORD).max_frame_size(LONGEST_WORD);
    upgrade.on_upgrade(async |mut socket| {
        let why = tell(&mut socket, reading).await;
        if let Some((code, reason)) = why {
            let farewell = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
            let _ = tokio::time::timeout(TAKEN_WITHIN, socket.send(farewell)).await;
        }
    })
}

/// Why it ends; nothing where the reader is gone.
async fn tell(socket: &mut WebSocket, mut reading: Reading) -> Option<(u16, &'static str)> {
    say(socket, text(&json!({ "offset": reading.at() }))).await?;
    loop {
        let told = tokio::select! {
            told = reading.next() => told,
            word = socket.recv() => match word {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => continue,
            },
        };
        match told {
            Ok(Told::Bytes(bytes)) => say(socket, Message::Binary(bytes)).await?,
            Ok(Told::Back(offset)) => say(socket, text(&json!({ "offset": offset }))).await?,
            Ok(Told::Nothing) => say(socket, Message::Ping(Default::default())).await?,
            Ok(Told::Over(end)) => {
                say(socket, text(&json!(end))).await?;
                return Some((close_code::NORMAL, "the job is over"));
            }
            Ok(Told::Leave) => return Some((close_code::AWAY, "come back with the offset")),
            Err(_) => return Some((close_code::AGAIN, "the database is away; come back with the offset")),
        }
    }
}

async fn say(socket: &mut WebSocket, message: Message) -> Option<()> {
    tokio::time::timeout(TAKEN_WITHIN, socket.send(message)).await.ok()?.ok()
}

fn text(value: &serde_json::Value) -> Message {
    Message::text(value.to_string())
}
