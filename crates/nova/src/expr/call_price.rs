//! What each function and operator can cost, and how large its result can be. A function that has no price here cannot be
//! called: the list is also the list of what the language offers.

use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};

use super::price::{Bound, Pricing, Size};

pub(super) fn call<'a>(pricing: &mut Pricing<'a>, call: &'a CallExpr) -> Result<Bound<'a>, String> {
    let target = call.target.as_deref().filter(|_| namespace(call).is_none());
    let mut parts = Vec::new();
    for part in target.into_iter().chain(&call.args) {
        parts.push(pricing.price(part)?);
    }
    if matches!(call.func_name.as_str(), operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT) {
        return Ok(selected(&parts, call));
    }
    let mut sizes = Vec::new();
    for part in parts {
        let size = part.size();
        pricing.spend(size.bytes)?;
        sizes.push(size);
    }
    let result = result(pricing, call, &sizes)?;
    pricing.spend(result.bytes)?;
    Ok(Bound::Sized(result))
}

/// `a[b]`, `a[?b]` and `a.?b`, which copy nothing.
fn selected<'a>(parts: &[Bound<'a>], call: &CallExpr) -> Bound<'a> {
    let Some(from) = parts.first() else { return Bound::Sized(Size::SCALAR) };
    match call.args.get(1).map(|argument| &argument.expr) {
        Some(Expr::Literal(LiteralValue::String(name))) => from.field(name.inner()),
        _ => from.element(),
    }
}

fn result(pricing: &mut Pricing<'_>, call: &CallExpr, sizes: &[Size]) -> Result<Size, String> {
    let part = |index: usize| sizes.get(index).copied().unwrap_or(Size::SCALAR);
    let name = call.func_name.as_str();
    Ok(match (namespace(call), name) {
        (None, operators::CONDITIONAL) => part(1).or(part(2)),
        (None, operators::ADD) => part(0).and(part(1)),
        (None, _) if is_operator(name) => Size::SCALAR,
        (None, "size" | "contains" | "startsWith" | "endsWith" | "hasValue") => Size::SCALAR,
        (None, "int" | "uint" | "double" | "bool" | "type") => Size::SCALAR,
        (None, "indexOf" | "lastIndexOf") => {
            pricing.spend(part(0).bytes.saturating_mul(part(1).bytes))?;
            Size::SCALAR
        }
        (None, "dyn" | "value") | (Some("optional"), "of" | "ofNonZeroValue") => part(0),
        (Some("optional"), "none") => Size::SCALAR,
        (None, "or" | "orValue") => part(0).or(part(1)),
        (None, "string" | "bytes") => Size::opaque(part(0).bytes.saturating_mul(4).saturating_add(32)),
        (None, "lowerAscii" | "upperAscii" | "trim" | "substring" | "charAt" | "reverse") => part(0),
        (Some("strings"), "quote") => Size::opaque(part(0).bytes.saturating_mul(6)),
        // Every character may become a text of its own.
        (None, "split") => Size { bytes: part(0).bytes.saturating_mul(9), items: part(0).bytes, item: part(0).bytes },
        (None, "join") => Size::opaque(part(0).bytes.saturating_add(part(0).items.saturating_mul(part(1).bytes))),
        (None, "replace") => Size::opaque(part(0).bytes.saturating_mul(part(2).bytes.saturating_add(1))),
        _ => return Err(format!("there is no function `{name}` here")),
    })
}

/// `strings` in `strings.quote(x)`, which is no variable.
fn namespace(call: &CallExpr) -> Option<&str> {
    match call.target.as_deref().map(|target| &target.expr) {
        Some(Expr::Ident(name)) if name == "optional" || name == "strings" => Some(name),
        _ => None,
    }
}

fn is_operator(name: &str) -> bool {
    let operators = [
        operators::LOGICAL_AND,
        operators::LOGICAL_OR,
        operators::LOGICAL_NOT,
        operators::SUBSTRACT,
        operators::MULTIPLY,
        operators::DIVIDE,
        operators::MODULO,
        operators::EQUALS,
        operators::NOT_EQUALS,
        operators::GREATER_EQUALS,
        operators::LESS_EQUALS,
        operators::GREATER,
        operators::LESS,
        operators::NEGATE,
        operators::NOT_STRICTLY_FALSE,
        operators::IN,
    ];
    operators.contains(&name)
}
