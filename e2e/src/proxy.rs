//! A wire between the program and its PostgreSQL that can go dead: nothing is refused, nothing is answered, as when a
//! network is cut or a machine hangs.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub struct Proxy {
    pub port: u16,
    dead: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub async fn to(host: &str, port: &str) -> Proxy {
        let target = format!("{host}:{port}");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port for the wire");
        let port = listener.local_addr().expect("a port for the wire").port();
        let dead = watch::Sender::new(false);
        let state = dead.clone();
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let Ok(far) = TcpStream::connect(&target).await else { continue };
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                tokio::spawn(carry(near_in, far_out, state.subscribe()));
                tokio::spawn(carry(far_in, near_out, state.subscribe()));
            }
        });
        Proxy { port, dead, task }
    }

    pub fn cut(&self) {
        self.dead.send_replace(true);
    }

    pub fn mend(&self) {
        self.dead.send_replace(false);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What arrives while the wire is dead is carried when it is mended.
async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut dead: watch::Receiver<bool>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if dead.wait_for(|dead| !dead).await.is_err() || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
