//! What an expression can cost at most, worked out on its syntax tree with the sizes of the values it will see. A map
//! over a list inside a map over a list, or a string that is doubled ten times over, is refused here; nothing is cheaper
//! than not running it.

use cel::IdedExpr;
use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr};
use serde_json::Value;

use super::call_price::call;
use super::scope::Scope;

/// About a tenth of a second.
pub const BUDGET: u64 = 10_000_000;
/// What looking at one node costs, in the bytes that could be copied meanwhile.
const NODE: u64 = 16;
const SCALAR: u64 = 8;

/// What is known of a value beforehand.
#[derive(Clone, Copy)]
pub(super) enum Bound<'a> {
    /// The value itself. It is measured only if something is done with it: selecting from it is not.
    Known(&'a Value),
    /// How large it is at most.
    Sized(Size),
}

/// Upper bounds on a value.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub bytes: u64,
    /// How many elements it can be iterated over.
    pub items: u64,
    /// The largest of them.
    pub item: u64,
}

impl Size {
    pub const SCALAR: Size = Size { bytes: SCALAR, items: 0, item: 0 };

    /// Something of which only the bytes are known.
    pub fn opaque(bytes: u64) -> Size {
        Size { bytes, items: bytes, item: bytes }
    }

    fn of(value: &Value) -> Size {
        let (items, item) = match value {
            Value::Array(items) => (items.len(), items.iter().map(size).max()),
            // Iterating over a map gives its keys, selecting from it its values.
            Value::Object(map) => (map.len(), map.iter().map(|(key, value)| size(value).max(text(key))).max()),
            _ => (0, None),
        };
        Size { bytes: size(value), items: items as u64, item: item.unwrap_or(0) }
    }

    /// Whichever of the two it turns out to be.
    pub fn or(self, other: Size) -> Size {
        Size { bytes: self.bytes.max(other.bytes), items: self.items.max(other.items), item: self.item.max(other.item) }
    }

    /// The two of them put together.
    pub fn and(self, other: Size) -> Size {
        let bytes = self.bytes.saturating_add(other.bytes);
        Size { bytes, items: self.items.saturating_add(other.items), item: self.item.max(other.item) }
    }
}

impl<'a> Bound<'a> {
    pub fn size(self) -> Size {
        match self {
            Bound::Known(value) => Size::of(value),
            Bound::Sized(size) => size,
        }
    }

    pub fn element(self) -> Bound<'a> {
        Bound::Sized(match self {
            Bound::Known(Value::Array(items)) => items.iter().map(Size::of).fold(Size::SCALAR, Size::or),
            other => Size::opaque(other.size().item.max(SCALAR)),
        })
    }

    pub fn field(self, name: &str) -> Bound<'a> {
        match self {
            Bound::Known(Value::Object(map)) => map.get(name).map_or(Bound::Sized(Size::SCALAR), Bound::Known),
            other => other.element(),
        }
    }
}

pub fn size(value: &Value) -> u64 {
    match value {
        Value::String(string) => text(string),
        Value::Array(items) => SCALAR + items.iter().map(size).sum::<u64>(),
        Value::Object(map) => SCALAR + map.iter().map(|(key, value)| text(key) + size(value)).sum::<u64>(),
        _ => SCALAR,
    }
}

fn text(text: &str) -> u64 {
    SCALAR + text.len() as u64
}

/// What running it costs at most, if that is not too much.
pub fn price(expression: &IdedExpr, scope: &Scope) -> Result<u64, String> {
    let mut pricing = Pricing { scope, locals: Vec::new(), work: 0, times: 1 };
    let result = pricing.price(expression)?;
    pricing.spend(result.size().bytes)?;
    Ok(pricing.work)
}

pub(super) struct Pricing<'a> {
    scope: &'a Scope,
    /// The variables of the macros that are being priced.
    locals: Vec<(&'a str, Bound<'a>)>,
    work: u64,
    /// How often what is being priced would run.
    times: u64,
}

impl<'a> Pricing<'a> {
    /// Books work, as often as it would be done.
    pub fn spend(&mut self, work: u64) -> Result<(), String> {
        self.work = self.work.saturating_add(work.saturating_mul(self.times));
        if self.work > BUDGET {
            return Err(
                "it could take too much work: its lists or texts are too large for what it does with them".into()
            );
        }
        Ok(())
    }

    pub fn price(&mut self, expression: &'a IdedExpr) -> Result<Bound<'a>, String> {
        self.spend(NODE)?;
        Ok(Bound::Sized(match &expression.expr {
            Expr::Ident(name) => return Ok(self.variable(name)),
            Expr::Select(select) => return self.select(select),
            Expr::Call(expression) => return call(self, expression),
            Expr::Literal(LiteralValue::String(string)) => Size::opaque(text(string.inner())),
            Expr::Literal(LiteralValue::Bytes(bytes)) => Size::opaque(SCALAR + bytes.inner().len() as u64),
            Expr::Literal(_) => Size::SCALAR,
            Expr::List(list) => self.collection(list.elements.iter())?,
            Expr::Map(map) => {
                let mut parts = Vec::new();
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else { return Err("it is not an expression".into()) };
                    parts.extend([&entry.key, &entry.value]);
                }
                self.collection(parts.into_iter())?
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension)?,
            Expr::Struct(of) => return Err(format!("there is no type `{}` to make", of.type_name)),
            Expr::Unspecified => return Err("it is not an expression".to_owned()),
        }))
    }

    fn variable(&self, name: &str) -> Bound<'a> {
        // With a dot before it, it is never a macro's.
        let (global, absolute) = name.strip_prefix('.').map_or((name, false), |name| (name, true));
        let local = self.locals.iter().rev().find(|(local, _)| !absolute && *local == name).map(|(_, bound)| *bound);
        local.or_else(|| self.scope.json(global).map(Bound::Known)).unwrap_or(Bound::Sized(Size::SCALAR))
    }

    fn select(&mut self, select: &'a SelectExpr) -> Result<Bound<'a>, String> {
        let operand = self.price(&select.operand)?;
        Ok(if select.test { Bound::Sized(Size::SCALAR) } else { operand.field(&select.field) })
    }

    fn collection(&mut self, parts: impl Iterator<Item = &'a IdedExpr>) -> Result<Size, String> {
        let mut whole = Size::SCALAR;
        for part in parts {
            let bytes = self.price(part)?.size().bytes;
            self.spend(bytes)?;
            whole = whole.and(Size { bytes, items: 1, item: bytes });
        }
        Ok(whole)
    }

    fn comprehension(&mut self, of: &'a ComprehensionExpr) -> Result<Size, String> {
        let over = self.price(&of.iter_range)?;
        let range = over.size();
        let before = self.price(&of.accu_init)?.size();
        self.spend(range.bytes.saturating_add(before.bytes))?;
        let (locals, times) = (self.locals.len(), self.times);
        self.times = times.saturating_mul(range.items);
        self.locals.push((&of.iter_var, over.element()));
        self.locals.extend(of.iter_var2.as_deref().map(|name| (name, over.element())));
        // What one round adds is what it makes of nothing; the interpreter appends in place.
        self.locals.push((&of.accu_var, Bound::Sized(Size { bytes: 0, items: 0, item: 0 })));
        self.price(&of.loop_cond)?;
        let step = self.price(&of.loop_step)?.size();
        self.locals.truncate(locals);
        self.times = times;
        let after = Size {
            bytes: before.bytes.saturating_add(step.bytes.saturating_mul(range.items)),
            items: before.items.saturating_add(step.items.saturating_mul(range.items)),
            item: before.item.max(step.item),
        };
        self.locals.push((&of.accu_var, Bound::Sized(after)));
        let result = self.price(&of.result);
        self.locals.truncate(locals);
        result.map(Bound::size)
    }
}
