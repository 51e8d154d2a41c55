//! Terraform's `-json` lines, as they come: the text that a person shall see goes to the log, what happens to resources to the
//! progress, what went wrong is kept for the explanation.

use model::explain::Diagnostic;
use model::redact::Redactor;
use model::stream::{ApplyEvent, ApplyStage, TerraformLine};

use super::diagnostic;
use super::log::{Log, Stream};

/// A line without an end is no event of Terraform's; what it holds so far is shown as it is.
const LONGEST_LINE: usize = 4 << 20;
/// How much is kept of what is no event: the words of a crash.
const STRAY: usize = 64 << 10;

pub struct Events<'a> {
    log: &'a Log,
    stream: Stream<'a>,
    line: Vec<u8>,
    /// The plan was shown before: it need not be told again.
    plan_was_shown: bool,
    stray: String,
    happened: Vec<ApplyEvent>,
    diagnostics: Vec<Diagnostic>,
}

/// What is left of the events when they have ended, redacted.
#[derive(Debug, Default)]
pub struct Finished {
    /// Written in between, and no event.
    pub stray: String,
    pub happened: Vec<ApplyEvent>,
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Events<'a> {
    pub fn new(log: &'a Log, plan_was_shown: bool) -> Events<'a> {
        let (happened, diagnostics) = (vec![], vec![]);
        Events { log, stream: log.stream(), line: vec![], plan_was_shown, stray: String::new(), happened, diagnostics }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        let mut text = String::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.take(&line, &mut text);
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > LONGEST_LINE {
            let line = std::mem::take(&mut self.line);
            text.push_str(&String::from_utf8_lossy(&line));
        }
        self.stream.push(text.as_bytes());
    }

    /// Whether something is done to a resource.
    pub fn has_begun(&self) -> bool {
        !self.happened.is_empty()
    }

    pub fn finish(mut self) -> Finished {
        let mut text = String::new();
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.take(&line, &mut text);
        }
        self.stream.push(text.as_bytes());
        let Events { log, stream, stray, happened, diagnostics, .. } = self;
        stream.finish();
        Finished { stray: log.redactor.text(&stray), happened, diagnostics }
    }

    fn take(&mut self, line: &[u8], text: &mut String) {
        let line = String::from_utf8_lossy(line);
        let Some(event) = TerraformLine::parse(&line) else {
            text.push_str(&line);
            text.push('\n');
            if self.stray.len() < STRAY {
                self.stray.push_str(&line);
                self.stray.push('\n');
            }
            return;
        };
        if let Some(happened) = event.apply_event().filter(|event| event.stage != ApplyStage::Progressed) {
            // What was said before is in the log before this is noted.
            self.stream.push(std::mem::take(text).as_bytes());
            self.log.resource(&happened);
            let id = happened.id.map(|id| self.log.redactor.text(&id));
            self.happened.push(ApplyEvent { address: self.log.redactor.text(&happened.address), id, ..happened });
        }
        if let Some(found) = event.diagnostic {
            text.push_str(&diagnostic::drawn(&found));
            self.diagnostics.extend(redacted(&self.log.redactor, &found));
        } else if self.is_shown(&event) {
            text.push_str(&event.message);
            text.push('\n');
        }
    }

    fn is_shown(&self, event: &TerraformLine) -> bool {
        match event.kind.as_str() {
            "version" | "outputs" => false,
            "planned_change" | "resource_drift" => !self.plan_was_shown,
            "change_summary" => {
                let of_plan = event.changes.as_ref().is_some_and(|changes| changes.operation == "plan");
                !(self.plan_was_shown && of_plan)
            }
            _ => true,
        }
    }
}

fn redacted(redactor: &Redactor, diagnostic: &Diagnostic) -> Option<Diagnostic> {
    let mut value = serde_json::to_value(diagnostic).ok()?;
    redactor.value(&mut value);
    serde_json::from_value(value).ok()
}
