//! What Terraform says went wrong: one diagnostic of its `-json` output, or the same read back from what it prints for
//! people, which is all there is when it fails before it knows that JSON was asked for.

use serde::{Deserialize, Serialize};

use super::address;
use super::text::uncoloured;

/// A diagnostic as Terraform writes it. Fields that a later version adds are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// `error` or `warning`.
    #[serde(default)]
    pub severity: String,
    #[serde(default)]
    pub summary: String,
    #[serde(default)]
    pub detail: String,
    /// The resource it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
}

/// Where in the module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    #[serde(default)]
    pub filename: String,
    #[serde(default)]
    pub start: Position,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    #[serde(default)]
    pub line: u64,
    #[serde(default)]
    pub column: u64,
}

/// The code in question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// For instance `resource "aws_vpc" "main"`.
    #[serde(default)]
    pub context: Option<String>,
    #[serde(default)]
    pub code: String,
}

impl Diagnostic {
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: "error".into(), summary: summary.into(), detail: detail.into(), ..Diagnostic::default() }
    }

    pub fn is_error(&self) -> bool {
        self.severity != "warning"
    }

    /// The resource it is about, where anything tells.
    pub(super) fn resource(&self) -> Option<String> {
        let quoted = || self.snippet.as_ref()?.context.as_deref().and_then(address::of_block);
        self.address.clone().filter(|address| !address.is_empty()).or_else(quoted)
    }

    /// `main.tf:12`.
    pub(super) fn place(&self) -> Option<String> {
        let range = self.range.as_ref().filter(|range| !range.filename.is_empty())?;
        Some(format!("{}:{}", range.filename, range.start.line))
    }

    /// The errors in what Terraform printed for people. Text without any is one error.
    pub fn printed(output: &str) -> Vec<Diagnostic> {
        let output = uncoloured(output);
        let lines = output.lines().map(|line| line.trim_start_matches(['│', '╷', '╵', ' ']).trim_end());
        let mut found: Vec<Diagnostic> = Vec::new();
        let mut within = false;
        for line in lines {
            if let Some(summary) = line.strip_prefix("Error: ") {
                found.push(Diagnostic::error(summary, ""));
                within = true;
            } else if line.starts_with("Warning: ") {
                within = false;
            } else if let Some(current) = found.last_mut().filter(|_| within) {
                current.take(line);
            }
        }
        for diagnostic in &mut found {
            diagnostic.detail = diagnostic.detail.trim().to_owned();
        }
        if found.is_empty() && !output.trim().is_empty() {
            let (first, rest) = output.trim().split_once('\n').unwrap_or((output.trim(), ""));
            found.push(Diagnostic::error(first.trim_end(), rest.trim()));
        }
        found
    }

    fn take(&mut self, line: &str) {
        match address::of_line(line) {
            Some(found) if self.address.is_none() => self.address = Some(found),
            Some(_) => {}
            None if is_code(line) => {}
            None => {
                self.detail.push_str(line);
                self.detail.push('\n');
            }
        }
        if let Some((filename, rest)) = line.strip_prefix("on ").and_then(|place| place.split_once(" line ")) {
            let line = rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|number| number.parse().ok());
            let start = Position { line: line.unwrap_or_default(), column: 0 };
            self.range.get_or_insert(Range { filename: filename.into(), start });
        }
    }
}

/// `12: resource "aws_vpc" "main" {`
fn is_code(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(number, _)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_errors_are_read_back_one_by_one() {
        let printed = "Terraform will perform …\n\
            ╷\n│ Warning: Deprecated\n│ \n│ old\n╵\n\
            ╷\n│ Error: creating EC2 VPC: VpcLimitExceeded: full\n│ \n│   with module.net.aws_vpc.main,\n\
            │   on net/main.tf line 7, in resource \"aws_vpc\" \"main\":\n│    7: resource \"aws_vpc\" \"main\" {\n│ \n╵\n\
            ╷\n│ Error: Unsupported argument\n│ \n│ An argument named \"x\" is not expected here.\n╵\n";
        let errors = Diagnostic::printed(printed);
        assert_eq!(errors.len(), 2);
        assert_eq!(errors[0].address.as_deref(), Some("module.net.aws_vpc.main"));
        assert_eq!(errors[0].place().as_deref(), Some("net/main.tf:7"));
        assert_eq!(errors[0].detail, "");
        assert_eq!(errors[1].detail, "An argument named \"x\" is not expected here.");
    }

    #[test]
    fn text_without_an_error_is_one() {
        assert_eq!(Diagnostic::printed("panic: oops"), [Diagnostic::error("panic: oops", "")]);
        assert_eq!(Diagnostic::printed("\n"), []);
    }

    #[test]
    fn the_quoted_block_tells_the_resource() {
        let line = r#"{"severity":"error","summary":"Unsupported argument","detail":"…","new_field":1,
            "range":{"filename":"main.tf","start":{"line":2,"column":3,"byte":34},"end":{"line":2,"column":8,"byte":39}},
            "snippet":{"context":"resource \"terraform_data\" \"x\"","code":"  inptu = 1","start_line":2,"values":[]}}"#;
        let diagnostic: Diagnostic = serde_json::from_str(line).expect("a diagnostic");
        assert_eq!(diagnostic.resource().as_deref(), Some("terraform_data.x"));
        assert_eq!(diagnostic.place().as_deref(), Some("main.tf:2"));
    }
}
