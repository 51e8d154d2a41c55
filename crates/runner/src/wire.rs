//! How supervisor and box speak: a socket, each message a length and JSON; what a command shall write to travels along as file
//! descriptors. Closing it means: end everything.

use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Where a job finds its folder, inside of the box.
pub const HOME: &str = "/job";

/// Of a message; an environment may hold some long secrets.
const LONGEST: usize = 16 << 20;

/// What the supervisor asks for.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// The first, once.
    Enter(Enter),
    Run(Run),
    /// Sends the command that runs an interrupt, and only it.
    Interrupt,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Enter {
    /// None: without a box of its own.
    pub layout: Option<Layout>,
    pub niceness: i32,
    pub most_processes: u64,
}

/// What the job sees.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Layout {
    pub mount_point: PathBuf,
    /// Becomes `HOME`.
    pub work: PathBuf,
    /// Seen where they are, read-only.
    pub read_only: Vec<PathBuf>,
    /// Folders of the machine that the job may write.
    pub shared: Vec<PathBuf>,
    /// None: within a user namespace, where there is only one.
    pub uid: Option<u32>,
}

#[derive(Serialize, Deserialize)]
pub struct Run {
    pub program: String,
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub folder: PathBuf,
}

/// What the box answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Entered,
    Refused { why: String },
    NotStarted { why: String },
    Ended { code: Option<i32>, signal: Option<i32> },
}

/// A message, and what came with it.
pub fn send(mut socket: &UnixStream, message: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(|_| io::ErrorKind::InvalidInput)?.to_be_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    let sent = sendmsg(socket.as_fd(), &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
    socket.write_all(&length[sent..])?;
    socket.write_all(&body)
}

/// The next message; none when the other side is gone.
pub fn receive<T: DeserializeOwned>(mut socket: &UnixStream) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        match recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut length)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CONNRESET) => return Ok(None),
            got => break got?.bytes,
        }
    };
    if got == 0 {
        return Ok(None);
    }
    let mut files = vec![];
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received);
        }
    }
    socket.read_exact(&mut length[got..])?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    socket.read_exact(&mut body)?;
    Ok(Some((serde_json::from_slice(&body)?, files)))
}
