//! A diagnostic of Terraform's `-json` output, drawn as Terraform itself draws it for people.

use model::explain::Diagnostic;

pub fn drawn(diagnostic: &Diagnostic) -> String {
    let severity = if diagnostic.is_error() { "Error" } else { "Warning" };
    let mut lines = vec![format!("{severity}: {}", diagnostic.summary), String::new()];
    let place = place(diagnostic);
    if !place.is_empty() {
        lines.extend(place);
        lines.push(String::new());
    }
    lines.extend(diagnostic.detail.trim_end().lines().map(str::to_owned));
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let body: String = lines.iter().map(|line| format!("│ {line}\n")).collect();
    format!("╷\n{body}╵\n")
}

fn place(diagnostic: &Diagnostic) -> Vec<String> {
    let mut lines = vec![];
    if let Some(address) = &diagnostic.address {
        lines.push(format!("  with {address},"));
    }
    if let Some(range) = &diagnostic.range {
        let snippet = diagnostic.snippet.as_ref();
        let context = snippet.and_then(|snippet| snippet.context.as_ref());
        let context = context.map(|context| format!(", in {context}")).unwrap_or_default();
        lines.push(format!("  on {} line {}{context}:", range.filename, range.start.line));
        let code = snippet.map(|snippet| snippet.code.lines()).into_iter().flatten();
        lines.extend(code.zip(range.start.line..).map(|(code, number)| format!("{number:>4}: {code}")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::drawn;

    #[test]
    fn a_diagnostic_looks_as_terraform_prints_it() {
        let diagnostic = json!({
            "severity": "error",
            "summary": "local-exec provisioner error",
            "detail": "Error running command 'exit 3': exit status 3. Output: ",
            "address": "terraform_data.a",
            "range": {"filename": "main.tf", "start": {"line": 4}},
            "snippet": {"context": "resource \"terraform_data\" \"a\"", "code": "  provisioner \"local-exec\" {", "start_line": 4},
        });
        let expected = "╷\n│ Error: local-exec provisioner error\n│ \n│   with terraform_data.a,\n\
            │   on main.tf line 4, in resource \"terraform_data\" \"a\":\n│    4:   provisioner \"local-exec\" {\n│ \n\
            │ Error running command 'exit 3': exit status 3. Output:\n╵\n";
        assert_eq!(drawn(&serde_json::from_value(diagnostic).unwrap()), expected);
    }
}
