//! Logs: one sequence of bytes for each job, kept in pieces. Where a piece begins is where the last one ended, so a piece
//! that is sent twice is written once, and none is ever missing in between.

use model::JobId;
use model::job::JobState;
use sqlx::Row;

use crate::Store;
use crate::error::Error;
use crate::row::Cells;
use crate::writer::Tx;

/// A piece of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPiece {
    /// Bytes before it.
    pub start: i64,
    pub bytes: Vec<u8>,
}

/// How far a log is. The end of a job and the last byte of its log are written together: what is read after a job is seen
/// to be over is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogStanding {
    pub state: JobState,
    /// Of the runner that writes it.
    pub fencing_token: i64,
    pub length: i64,
}

impl LogStanding {
    pub fn is_over(&self) -> bool {
        matches!(self.state, JobState::Finished | JobState::Cancelled)
    }
}

impl Store {
    /// Append to a job's log. Says how long the log is then: what it has is not to be sent again. Nothing where the job is
    /// somebody else's by now, or is over.
    pub async fn append_log(&self, id: JobId, fencing_token: i64, piece: LogPiece) -> Result<Option<i64>, Error> {
        self.write_quietly(move |tx| {
            let piece = piece.clone();
            Box::pin(async move { tx.append_log(id, fencing_token, &piece).await })
        })
        .await
    }

    /// How far a log is.
    pub async fn log_standing(&self, id: JobId) -> Result<Option<LogStanding>, Error> {
        let text = "SELECT state, fencing_token, log_bytes FROM jobs WHERE id = $1";
        let row = self.read(|reader| Box::pin(sqlx::query(text).bind(id.0).fetch_optional(reader))).await?;
        row.map(|row| {
            Ok(LogStanding {
                state: row.word("state", JobState::parse)?,
                fencing_token: row.int("fencing_token")?,
                length: row.int("log_bytes")?,
            })
        })
        .transpose()
    }

    /// What a log holds from `from` on, at most about `limit` bytes.
    pub async fn log(&self, id: JobId, from: i64, limit: usize) -> Result<Vec<u8>, Error> {
        // The piece that `from` lies in begins before it.
        let text = "SELECT start, bytes FROM job_log WHERE job_id = $1 AND start >= coalesce( \
                    (SELECT max(start) FROM job_log WHERE job_id = $1 AND start <= $2), 0) ORDER BY start LIMIT $3";
        let mut found = Vec::new();
        let mut next = from;
        while found.len() < limit {
            let rows = self
                .read(|reader| Box::pin(sqlx::query(text).bind(id.0).bind(next).bind(PIECES).fetch_all(reader)))
                .await?;
            let before = next;
            for row in &rows {
                let start = row.int("start")?;
                let bytes: Vec<u8> = row.try_get("bytes")?;
                let skip = usize::try_from(next - start).unwrap_or(0).min(bytes.len());
                found.extend_from_slice(&bytes[skip..]);
                next = next.max(start + bytes.len() as i64);
            }
            if next == before {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }
}

/// Pieces that are read at once.
const PIECES: i64 = 64;

impl Tx {
    async fn append_log(&mut self, id: JobId, token: i64, piece: &LogPiece) -> Result<Option<i64>, Error> {
        let row = sqlx::query(
            "UPDATE jobs SET log_bytes = log_bytes WHERE id = $1 AND fencing_token = $2 AND state = 'running' \
             RETURNING log_bytes",
        )
        .bind(id.0)
        .bind(token)
        .fetch_optional(self.connection())
        .await?;
        let Some(row) = row else { return Ok(None) };
        let length = row.int("log_bytes")?;
        let known = usize::try_from(length - piece.start).unwrap_or(usize::MAX);
        if piece.start > length || known >= piece.bytes.len() {
            return Ok(Some(length));
        }
        let new = &piece.bytes[known..];
        sqlx::query("INSERT INTO job_log (job_id, start, bytes) VALUES ($1, $2, $3)")
            .bind(id.0)
            .bind(length)
            .bind(new.to_vec())
            .execute(self.connection())
            .await?;
        let length = length + new.len() as i64;
        sqlx::query("UPDATE jobs SET log_bytes = $1 WHERE id = $2")
            .bind(length)
            .bind(id.0)
            .execute(self.connection())
            .await?;
        Ok(Some(length))
    }
}
