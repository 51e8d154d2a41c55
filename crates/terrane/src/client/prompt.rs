//! Asking the person at the terminal: whether to go on, and for what must not be seen.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

use super::failure::Failure;

/// Whether the person says yes. Where nobody can be asked, `--yes` has to say it.
pub fn confirm(question: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(format!("{question} Nobody is here to be asked: say it with --yes")));
    }
    let _ = write!(io::stderr().lock(), "{} [y/N] ", super::print::clean(question));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(|error| unread(&error))?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// A secret from standard input: all of it, or one line typed without being shown.
pub fn secret(what: &str, most: u64) -> Result<SecretString, Failure> {
    let stdin = io::stdin();
    let mut text = String::new();
    if stdin.is_terminal() {
        let _ = write!(io::stderr().lock(), "{what} (not shown): ");
        let hidden = Hidden::begin();
        let read = stdin.lock().read_line(&mut text);
        drop(hidden);
        let _ = writeln!(io::stderr().lock());
        read.map_err(|error| unread(&error))?;
    } else {
        stdin.lock().take(most + 2).read_to_string(&mut text).map_err(|error| unread(&error))?;
    }
    Ok(without_line_break(text))
}

/// Editors and `echo` end a text with a line break that is no part of a secret.
pub fn without_line_break(mut text: String) -> SecretString {
    for end in ['\n', '\r'] {
        if text.ends_with(end) {
            text.pop();
        }
    }
    text.into()
}

fn unread(error: &io::Error) -> Failure {
    Failure::usage(format!("cannot read standard input: {error}"))
}

/// While it lives, the terminal does not show what is typed.
struct Hidden(Option<Termios>);

impl Hidden {
    fn begin() -> Hidden {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(mut modes) = before.clone() {
            modes.local_modes -= LocalModes::ECHO;
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &modes);
        }
        Hidden(before)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
