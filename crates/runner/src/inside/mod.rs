//! The first process of a job's box. The supervisor starts it as process 1 of a new pid namespace; it builds what the job may see
//! (`root.rs`), gives up every privilege (`privileges.rs`), and then runs one command after the other as it is told. When it
//! dies the kernel kills everything in the namespace, daemons included, and it dies with its supervisor.
//!
//! Where no namespace is to be had it does the same without a box: it adopts what its commands leave behind and kills it itself.

mod privileges;
mod root;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use crate::processes;
use crate::wire::{self, Answer, Ask, Enter, Run};

/// `supervise --inside`: never returns before the supervisor is gone or says so.
pub fn inside() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("the box: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let socket = Arc::new(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?));
    let Some((Ask::Enter(enter), _)) = wire::receive(&socket)? else { return Ok(()) };
    let boxed = enter.layout.is_some();
    match enter_box(&enter) {
        Ok(()) => wire::send(&socket, &Answer::Entered, &[])?,
        Err(why) => return wire::send(&socket, &Answer::Refused { why }, &[]),
    }
    let running = Arc::new(AtomicI32::new(0));
    let answers = Arc::new(Mutex::new(socket.clone()));
    while let Some((ask, files)) = wire::receive(&socket)? {
        match ask {
            Ask::Enter(_) => {}
            Ask::Run(run) => start(run, files, boxed, &running, &answers)?,
            Ask::Interrupt => match running.load(Ordering::SeqCst) {
                0 => {}
                pid => drop(kill(Pid::from_raw(pid), Signal::SIGINT)),
            },
        }
    }
    // The supervisor is gone. In a box the kernel does the rest.
    if !boxed {
        kill_all(boxed);
    }
    Ok(())
}

fn enter_box(enter: &Enter) -> Result<(), String> {
    let told = |what: &'static str| move |problem: Errno| format!("{what}: {}", problem.desc());
    privileges::stand_back(enter)?;
    match &enter.layout {
        Some(layout) => {
            if getpid().as_raw() != 1 {
                return Err("it is not the first process of its namespace".into());
            }
            prctl::set_pdeathsig(Signal::SIGKILL).map_err(told("dying with the supervisor"))?;
            root::build(layout)?;
            privileges::give_up(layout.uid)?;
            // Changing the user has cleared it.
            prctl::set_pdeathsig(Signal::SIGKILL).map_err(told("dying with the supervisor"))?;
            // What the job runs as the same user may not look into this process.
            prctl::set_dumpable(false).map_err(told("hiding this process"))
        }
        None => {
            prctl::set_no_new_privs().map_err(told("refusing new privileges"))?;
            prctl::set_child_subreaper(true).map_err(told("adopting daemons"))
        }
    }
}

fn start(
    run: Run,
    files: Vec<OwnedFd>,
    boxed: bool,
    running: &Arc<AtomicI32>,
    answers: &Arc<Mutex<Arc<UnixStream>>>,
) -> io::Result<()> {
    let answer = {
        let answers = answers.clone();
        move |answer: Answer| {
            let socket = answers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // A supervisor that does not listen any more is gone.
            let _ = wire::send(&socket, &answer, &[]);
        }
    };
    let pid = match spawn(run, files) {
        Ok(pid) => pid,
        Err(problem) => {
            answer(Answer::NotStarted { why: problem.to_string() });
            return Ok(());
        }
    };
    running.store(pid, Ordering::SeqCst);
    let running = running.clone();
    thread::Builder::new().spawn(move || {
        let ended = await_end(pid, &running);
        // Whatever it left behind ends with it: nothing of a step goes on in the next.
        kill_all(boxed);
        answer(ended);
    })?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is where jobs are run")]
fn spawn(run: Run, files: Vec<OwnedFd>) -> io::Result<i32> {
    let mut files = files.into_iter();
    let mut file = || files.next().map(Stdio::from).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput));
    let child = Command::new(&run.program)
        .args(&run.arguments)
        .env_clear()
        .envs(&run.environment)
        .current_dir(&run.folder)
        .stdin(Stdio::null())
        .stdout(file()?)
        .stderr(file()?)
        .process_group(0)
        .spawn()?;
    i32::try_from(child.id()).map_err(io::Error::other)
}

fn await_end(pid: i32, running: &AtomicI32) -> Answer {
    loop {
        match waitpid(None, None) {
            Ok(WaitStatus::Exited(ended, code)) if ended.as_raw() == pid => {
                running.store(0, Ordering::SeqCst);
                return Answer::Ended { code: Some(code), signal: None };
            }
            Ok(WaitStatus::Signaled(ended, signal, _)) if ended.as_raw() == pid => {
                running.store(0, Ordering::SeqCst);
                return Answer::Ended { code: None, signal: Some(signal as i32) };
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(problem) => return Answer::NotStarted { why: problem.desc().into() },
        }
    }
}

/// Everything but this process itself.
fn kill_all(boxed: bool) {
    // A few rounds, since what is not in a box may start another process while it is looked for.
    for _ in 0..1000 {
        // Everyone that this process may signal: only ever as the first of its own namespace.
        if boxed && getpid().as_raw() == 1 {
            let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
        } else {
            let own = getpid().as_raw();
            for process in processes::tree(own).iter().filter(|process| process.pid != own) {
                let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
            }
        }
        if waitpid(None, None) == Err(Errno::ECHILD) {
            return;
        }
    }
}
