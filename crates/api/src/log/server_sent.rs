//! Server-sent events: text with the offset after it as the event's id, so that a browser that reconnects goes on there.

use std::convert::Infallible;

use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::{Reading, Told};

/// Bytes whose end is the beginning of a character: it goes on in the next piece.
struct Text {
    reading: Reading,
    begun: Vec<u8>,
    is_over: bool,
}

pub fn server_sent(reading: Reading) -> Response {
    let text = Text { reading, begun: vec![], is_over: false };
    let events = futures::stream::unfold(text, async |mut text| {
        let event = text.next().await?;
        Some((Ok::<_, Infallible>(event), text))
    });
    Sse::new(events).into_response()
}

impl Text {
    async fn next(&mut self) -> Option<Event> {
        if self.is_over {
            return None;
        }
        loop {
            // The database is away: the client comes back with the last offset that it was told.
            match self.reading.next().await.ok()? {
                Told::Bytes(bytes) => {
                    self.begun.extend_from_slice(&bytes);
                    if let Some(event) = self.whole_characters() {
                        return Some(event);
                    }
                }
                Told::Back(offset) => {
                    self.begun.clear();
                    return Some(Event::default().id(offset.to_string()).event("offset").data(offset.to_string()));
                }
                Told::Nothing => return Some(Event::default().comment("")),
                Told::Over(end) => {
                    self.is_over = true;
                    return Some(Event::default().event("end").data(json!(end).to_string()));
                }
                Told::Leave => return None,
            }
        }
    }

    fn whole_characters(&mut self) -> Option<Event> {
        let whole = self.begun.len() - unfinished(&self.begun);
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        let offset = self.reading.at() - self.begun.len() as u64;
        let text = json!(String::from_utf8_lossy(&text));
        (whole > 0).then(|| Event::default().id(offset.to_string()).data(text.to_string()))
    }
}

/// How many bytes at the end are the beginning of a character and not all of it.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if length > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_not_torn() {
        for (text, expected) in [("a", 0), ("ä", 0), ("─", 0), ("𝄞", 0), ("", 0)] {
            assert_eq!(unfinished(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(unfinished(&"aä".as_bytes()[..2]), 1);
        assert_eq!(unfinished(&"─".as_bytes()[..2]), 2);
        assert_eq!(unfinished(&"𝄞".as_bytes()[..3]), 3);
        assert_eq!(unfinished(&[0x80, 0x80, 0x80, 0x80]), 0, "that is no text at all");
    }
}
