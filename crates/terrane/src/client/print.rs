//! What goes where: data to standard output, everything else to standard error; colour only where a person looks; no
//! control character of a server's text ever reaches a terminal.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::failure::Failure;
use crate::config::no_color;

/// One line of data, written at once so that a watcher sees it.
pub fn line(text: &str) -> Result<(), Failure> {
    raw(&format!("{text}\n"))
}

pub fn raw(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Bytes of a log: to a terminal without whatever could steer it, to anything else as they are.
pub fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if io::stdout().is_terminal() {
        let harmless: Vec<u8> =
            bytes.iter().copied().filter(|byte| *byte >= b' ' || matches!(byte, b'\n' | b'\t')).collect();
        out.write_all(&harmless)?;
    } else {
        out.write_all(bytes)?;
    }
    out.flush()?;
    Ok(())
}

/// A line for the person, not for the pipe. That it may not be read is no failure.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", clean_lines(text));
}

pub fn error(text: &str) {
    let style =
        if io::stderr().is_terminal() && !no_color() { AnsiColor::Red.on_default().bold() } else { Style::new() };
    let _ = writeln!(io::stderr().lock(), "{style}error:{style:#} {}", clean_lines(text));
}

pub fn is_colourful() -> bool {
    io::stdout().is_terminal() && !no_color()
}

/// How many columns the terminal has; nothing where standard output is none.
pub fn room() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

pub fn painted(text: &str, style: Style) -> String {
    if is_colourful() { format!("{style}{text}{style:#}") } else { text.to_string() }
}

/// The colour in which a status is shown.
pub fn status_style(status: &str) -> Style {
    match status {
        "ready" => AnsiColor::Green.on_default(),
        "failed" => AnsiColor::Red.on_default(),
        "reconciling" => AnsiColor::Yellow.on_default(),
        _ => Style::new(),
    }
}

/// One line of text without anything that could steer a terminal.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The same, line by line.
pub fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<(), Failure> {
    line(&serde_json::to_string_pretty(value).map_err(|error| Failure::failed(error.to_string()))?)
}

pub fn yaml<T: Serialize + ?Sized>(value: &T) -> Result<(), Failure> {
    raw(&yaml_text(value)?)
}

pub fn yaml_text<T: Serialize + ?Sized>(value: &T) -> Result<String, Failure> {
    let text = serde_saphyr::to_string(&value).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(format!("{}\n", text.trim_end_matches('\n')))
}

/// Every line of a block moved to the right.
pub fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
