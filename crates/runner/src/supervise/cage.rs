//! The supervisor's hold on the box: starts its first process, has commands run in it, and ends it with everything in it.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, mpsc};
use std::thread;

use nix::sched::{CloneFlags, unshare};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::identity::Identity;
use crate::wire::{self, Answer, Ask, Enter, Run};

/// Seconds to wait for a killed process to be gone.
const PATIENCE: i64 = 30;

pub struct Cage {
    socket: UnixStream,
    /// Set by the first interrupt: nothing is started any more. Held while something is said to the box.
    halted: Mutex<bool>,
    first: Identity,
    /// `work/` as the job sees it.
    pub work: PathBuf,
    /// Whose files the job's are; none: ours.
    pub owner: Option<u32>,
}

type Sink<'a> = &'a mut (dyn FnMut(&[u8]) + Send);

/// Where a command's output goes.
pub enum Output<'a> {
    /// Both streams, in the order they were written.
    Joined(Sink<'a>),
    Apart {
        out: &'a mut (dyn FnMut(&[u8]) + Send),
        err: &'a mut (dyn FnMut(&[u8]) + Send),
    },
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Code(i32),
    Signal(i32),
    NotStarted(String),
    /// The whole box is gone.
    Gone,
    /// Nothing is started any more.
    Halted,
}

impl Cage {
    /// `settle` is told of the first process before it does anything.
    pub fn open(
        arguments: &[String],
        enter: &Enter,
        settle: impl FnOnce(&Identity) -> io::Result<()>,
        work: PathBuf,
    ) -> Result<Cage, String> {
        let (ours, theirs) = UnixStream::pair().map_err(|problem| format!("a socket: {problem}"))?;
        let isolated = enter.layout.is_some();
        let pid = start_first(arguments.to_vec(), theirs.into(), isolated)?;
        let first = Identity::of(pid).ok_or("the box ended at once")?;
        let owner = enter.layout.as_ref().and_then(|layout| layout.uid);
        let cage = Cage { socket: ours, halted: Mutex::new(false), first, work, owner };
        let entered = settle(&cage.first)
            .and_then(|()| wire::send(&cage.socket, &Ask::Enter(enter.clone()), &[]))
            .and_then(|()| wire::receive::<Answer>(&cage.socket));
        let refused = match entered {
            Ok(Some((Answer::Entered, _))) => return Ok(cage),
            Ok(Some((Answer::Refused { why }, _))) => why,
            Ok(_) => "the box ended at once".into(),
            Err(problem) => problem.to_string(),
        };
        cage.kill();
        Err(refused)
    }

    pub fn run(&self, run: Run, output: Output<'_>) -> io::Result<Ended> {
        match output {
            Output::Joined(both) => {
                let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
                let also = writer.as_fd().try_clone_to_owned()?;
                self.run_with(run, [writer, also], vec![(reader, both)])
            }
            Output::Apart { out, err } => {
                let (out_reader, out_writer) = pipe_with(PipeFlags::CLOEXEC)?;
                let (err_reader, err_writer) = pipe_with(PipeFlags::CLOEXEC)?;
                self.run_with(run, [out_writer, err_writer], vec![(out_reader, out), (err_reader, err)])
            }
        }
    }

    fn run_with<'a>(&self, run: Run, writers: [OwnedFd; 2], readers: Vec<(OwnedFd, Sink<'a>)>) -> io::Result<Ended> {
        {
            let halted = self.halted();
            if *halted {
                return Ok(Ended::Halted);
            }
            match wire::send(&self.socket, &Ask::Run(run), &[writers[0].as_fd(), writers[1].as_fd()]) {
                Err(problem) if is_gone(&problem) => return Ok(Ended::Gone),
                sent => sent?,
            }
        }
        // With our copies closed, reading ends when the last process that writes is gone.
        drop(writers);
        thread::scope(|scope| {
            for (reader, sink) in readers {
                thread::Builder::new().spawn_scoped(scope, move || read_all(reader, sink))?;
            }
            Ok(match wire::receive(&self.socket) {
                Ok(Some((Answer::Ended { code: Some(code), .. }, _))) => Ended::Code(code),
                Ok(Some((Answer::Ended { signal: Some(signal), .. }, _))) => Ended::Signal(signal),
                Ok(Some((Answer::NotStarted { why }, _))) => Ended::NotStarted(why),
                Ok(_) => Ended::Gone,
                Err(problem) if is_gone(&problem) => Ended::Gone,
                Err(problem) => return Err(problem),
            })
        })
    }

    /// Once, to the command that runs; Terraform tells its providers itself. Nothing is started any more.
    pub fn interrupt(&self) {
        let mut halted = self.halted();
        if !*halted {
            *halted = true;
            // A box that does not listen is gone.
            let _ = wire::send(&self.socket, &Ask::Interrupt, &[]);
        }
    }

    /// Everything in the box. True when it is gone.
    pub fn kill(&self) -> bool {
        // First, so that nobody who is just saying something to the box keeps us waiting.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        *self.halted() = true;
        // Without a namespace the first process ends the others when the socket closes; with one the kernel does.
        self.first.await_end(2) || self.first.kill(PATIENCE)
    }

    /// The first process: what its tree takes is what the job takes.
    pub fn first(&self) -> i32 {
        self.first.pid
    }

    fn halted(&self) -> MutexGuard<'_, bool> {
        self.halted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn is_gone(problem: &io::Error) -> bool {
    matches!(problem.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof)
}

fn read_all(reader: OwnedFd, sink: Sink<'_>) {
    let mut reader = std::fs::File::from(reader);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => sink(&buffer[..length]),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// From a thread that stays as long as the box: the first process dies with the thread that started it, and a thread that
/// has asked for a new pid namespace can start no other threads.
fn start_first(arguments: Vec<String>, socket: OwnedFd, isolated: bool) -> Result<i32, String> {
    let (tell, told) = mpsc::channel();
    let keep = move || {
        let started = || {
            if isolated {
                unshare(CloneFlags::CLONE_NEWPID).map_err(|problem| format!("a pid namespace: {}", problem.desc()))?;
            }
            first_process(&arguments, socket).map_err(|problem| format!("the box's first process: {problem}"))
        };
        match started() {
            Err(why) => drop(tell.send(Err(why))),
            Ok(mut child) => {
                let pid = i32::try_from(child.id()).map_err(|problem| problem.to_string());
                if tell.send(pid).is_ok() {
                    let _ = child.wait();
                }
            }
        }
    };
    thread::Builder::new().name("keeper".into()).spawn(keep).map_err(|problem| problem.to_string())?;
    told.recv().map_err(|problem| problem.to_string())?
}

#[expect(clippy::disallowed_methods, reason = "the supervisor starts the box, and nothing else")]
fn first_process(arguments: &[String], socket: OwnedFd) -> io::Result<std::process::Child> {
    // By its handle rather than its name: the program may have been replaced by a newer one.
    let mut command = Command::new("/proc/self/exe");
    command.args(arguments).arg("--inside").env_clear().current_dir("/");
    command.stdin(Stdio::from(socket)).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn()
}
