//! The address of the resource that failed, where the diagnostic itself does not carry it: in the text that Terraform
//! prints for people, or in the code it quotes.

/// An address without the keys of its modules and instances.
pub(super) fn without_keys(address: &str) -> String {
    let mut bare = String::with_capacity(address.len());
    let mut quoted = false;
    let mut escaped = false;
    let mut depth = 0_usize;
    for c in address.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if depth > 0 => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            c if depth == 0 => bare.push(c),
            _ => {}
        }
    }
    bare
}

/// From `resource "aws_vpc" "main"`, as Terraform quotes the block in question.
pub(super) fn of_block(context: &str) -> Option<String> {
    let mut words = context.split('"');
    let kind = words.next()?.trim();
    let of_type = words.next()?;
    let name = words.nth(1)?;
    match kind {
        "resource" => Some(format!("{of_type}.{name}")),
        "data" => Some(format!("data.{of_type}.{name}")),
        _ => None,
    }
}

/// From the line `  with module.x.aws_vpc.main,` or `  on main.tf line 3, in resource "aws_vpc" "main":`.
pub(super) fn of_line(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some(address) = line.strip_prefix("with ") {
        let address = address.trim_end_matches([',', ':']);
        return looks_like_one(address).then(|| address.to_owned());
    }
    let (place, block) = line.strip_prefix("on ")?.split_once(", in ")?;
    place.contains(" line ").then(|| of_block(block)).flatten()
}

fn looks_like_one(address: &str) -> bool {
    let bare = without_keys(address);
    bare.contains('.') && !bare.contains(' ') && bare.split('.').all(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_where_terraform_prints_it() {
        assert_eq!(
            of_line("  with module.x[\"a b\"].aws_vpc.main[0],").as_deref(),
            Some("module.x[\"a b\"].aws_vpc.main[0]")
        );
        assert_eq!(of_line("  on a.tf line 3, in resource \"aws_vpc\" \"main\":").as_deref(), Some("aws_vpc.main"));
        assert_eq!(of_line("with the given name"), None);
        assert_eq!(of_block("variable \"size\""), None);
    }
}
