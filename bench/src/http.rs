//! HTTP/1.1 over one kept-alive connection, with as little work as can be: requests are bytes that exist already, and of
//! an answer only the status and the length are looked at.

use anyhow::{Context, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(port: u16) -> std::io::Result<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: vec![0; 64 * 1024] })
    }

    /// Send a request and read its whole answer; the status.
    pub async fn send(&mut self, request: &[u8]) -> anyhow::Result<u16> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let (status, end) = loop {
            if let Some(head) = parse_head(&self.buffer[..filled])? {
                break head;
            }
            filled += self.read(filled).await?;
        };
        while filled < end {
            filled += self.read(filled).await?;
        }
        Ok(status)
    }

    async fn read(&mut self, filled: usize) -> anyhow::Result<usize> {
        if filled == self.buffer.len() {
            self.buffer.resize(filled * 2, 0);
        }
        match self.stream.read(&mut self.buffer[filled..]).await? {
            0 => bail!("the connection was closed"),
            read => Ok(read),
        }
    }
}

/// Status and total length, once the head is there.
fn parse_head(bytes: &[u8]) -> anyhow::Result<Option<(u16, usize)>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("a status line")?.parse()?;
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .context("an answer with a Content-Length")?;
    Ok(Some((status, end + 4 + length.1.trim().parse::<usize>()?)))
}
