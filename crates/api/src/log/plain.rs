//! The log's bytes and nothing else. Whoever was cut off counts what arrived.

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::{Reading, Told};

pub fn plain(reading: Reading) -> Response {
    let pieces = futures::stream::try_unfold(reading, async |mut reading| {
        // What has nothing to say for a while ends, and so does what cannot go back: nothing else could be said here.
        Ok::<_, store::Error>(match reading.next().await? {
            Told::Bytes(bytes) => Some((bytes, reading)),
            Told::Nothing | Told::Back(_) | Told::Over(_) | Told::Leave => None,
        })
    });
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from_stream(pieces)).into_response()
}
