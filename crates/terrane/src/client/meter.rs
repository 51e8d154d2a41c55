//! How far a job is, while somebody waits for it: on a terminal a line that is drawn again and again, elsewhere a line for each
//! step.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jiff::Timestamp;
use model::job::{JobInfo, JobState, RunProgress};

use super::print;

/// How often the time that has gone by is drawn.
const TICK: Duration = Duration::from_millis(200);

/// Those of one command, one below the other.
pub struct Meters {
    lines: MultiProgress,
    quiet: bool,
}

impl Meters {
    pub fn new(quiet: bool) -> Meters {
        Meters { lines: MultiProgress::new(), quiet }
    }

    pub fn of(&self, name: impl Into<String>) -> Meter {
        let is_drawn = !self.quiet && std::io::stderr().is_terminal();
        Meter {
            lines: self.lines.clone(),
            bar: None,
            name: name.into(),
            told: String::new(),
            step: String::new(),
            quiet: self.quiet,
            is_drawn,
        }
    }
}

/// One job after the other, of one resource.
pub struct Meter {
    lines: MultiProgress,
    bar: Option<ProgressBar>,
    name: String,
    /// The last line beside it; and the last of its own, where it is not drawn.
    told: String,
    step: String,
    quiet: bool,
    is_drawn: bool,
}

impl Meter {
    pub fn show(&mut self, job: &JobInfo) {
        if !self.is_drawn {
            // The steps of a job are few; each of its resources is in the log.
            let step = job.progress.as_ref().map_or(job.state.as_str(), |progress| progress.step.as_str());
            let line = format!("{}: {} {step}", self.name, job.goal.as_str());
            if is_under_way(job) && !self.quiet && line != self.step {
                print::note(&line);
                self.step = line;
            }
            return;
        }
        if !is_under_way(job) {
            return self.clear();
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = self.lines.add(ProgressBar::new(1));
            bar.set_prefix(print::clean(&self.name));
            bar.enable_steady_tick(TICK);
            bar
        });
        let total = job.progress.as_ref().and_then(|progress| progress.total).filter(|total| *total > 0);
        let gauge = if total.is_some() { "[{bar:20}] " } else { "" };
        let template = format!("{{prefix}}: {gauge}{{wide_msg}} {{elapsed_precise}}");
        bar.set_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_length(total.unwrap_or(1));
        bar.set_position(job.progress.as_ref().map_or(0, |progress| progress.done));
        bar.set_message(print::clean(&told(job)));
        let since = job.started_at.unwrap_or(job.created_at);
        bar.clone().with_elapsed(Duration::try_from(Timestamp::now().duration_since(since)).unwrap_or_default());
    }

    pub fn is_drawn(&self) -> bool {
        self.is_drawn
    }

    /// Something for the person beside it.
    pub fn note(&mut self, line: &str) {
        if !self.quiet && line != self.told {
            self.lines.suspend(|| print::note(line));
            self.told = line.to_string();
        }
    }

    /// Print above what is drawn.
    pub fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.lines.suspend(print)
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.clear();
    }
}

fn is_under_way(job: &JobInfo) -> bool {
    matches!(job.state, JobState::Queued | JobState::Running)
}

/// `apply 12/40  aws_instance.web: create`
fn told(job: &JobInfo) -> String {
    match (&job.progress, job.state) {
        (_, JobState::Queued) => format!("{}: waits for a runner", job.goal.as_str()),
        (None, _) => format!("{}: begins", job.goal.as_str()),
        (Some(progress), _) => of_run(progress),
    }
}

fn of_run(progress: &RunProgress) -> String {
    let RunProgress { step, done, total, failed, address, action, .. } = progress;
    let mut told = step.as_str().to_string();
    match total.filter(|total| *total > 0) {
        Some(total) => told.push_str(&format!(" {done}/{total}")),
        None if *done > 0 => told.push_str(&format!(" {done}")),
        None => {}
    }
    if *failed > 0 {
        told.push_str(&format!(", {failed} failed"));
    }
    if let Some((address, action)) = address.as_ref().zip(action.as_ref()) {
        told.push_str(&format!("  {address}: {action}"));
    }
    told
}

#[cfg(test)]
mod tests {
    use model::job::Stage;

    use super::*;

    #[test]
    fn a_person_is_told_the_step_how_many_and_what() {
        let mut progress = RunProgress {
            step: Stage::Plan,
            done: 0,
            total: None,
            failed: 0,
            address: None,
            action: None,
            log_offset: 0,
            at: Timestamp::UNIX_EPOCH,
        };
        assert_eq!(of_run(&progress), "plan");
        progress = RunProgress { step: Stage::Apply, total: Some(40), done: 12, ..progress };
        assert_eq!(of_run(&progress), "apply 12/40");
        progress = RunProgress { address: Some("a.b".into()), action: Some("create".into()), failed: 1, ..progress };
        assert_eq!(of_run(&progress), "apply 12/40, 1 failed  a.b: create");
        assert_eq!(of_run(&RunProgress { total: None, ..progress }), "apply 12, 1 failed  a.b: create");
    }
}
