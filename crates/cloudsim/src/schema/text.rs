//! The catalogue's own form of a schema: a line per attribute, indented by what it belongs to.
//!
//! ```text
//! provider registry.terraform.io/hashicorp/aws 6.47.0
//!   region o string
//! resource aws_eks_cluster 1          a type, with the version of its schema
//!   name r string                     required
//!   arn c string                      computed
//!   tags o map(string)                optional; `oc` is both, `s` sensitive, `w` write-only, `d` deprecated
//!   vpc_config {list 1-1}             a block, and how often it may occur
//!     subnet_ids r set(string)
//! data aws_region
//!   name oc <list>                    a nested attribute
//!     key r string
//! ```
//!
//! What follows ` -- ` describes the attribute. Lines that begin with `#` are comments.

use super::{Attribute, Block, Flags, Kind, NestedBlock, Nesting, ProviderSchema, Schema, Type};

#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct TextError {
    line: usize,
    reason: String,
}

const STEP: usize = 2;

/// A line that says something, and how far in it stands.
struct Line<'a> {
    number: usize,
    depth: usize,
    text: &'a str,
}

impl Line<'_> {
    fn wrong(&self, reason: &str) -> TextError {
        TextError { line: self.number, reason: format!("{reason}: {:?}", self.text) }
    }
}

pub fn read(text: &str) -> Result<ProviderSchema, TextError> {
    let lines = text.lines().enumerate().filter_map(|(number, line)| {
        let text = line.trim();
        let depth = (line.len() - line.trim_start().len()) / STEP;
        (!text.is_empty() && !text.starts_with('#')).then_some(Line { number: number + 1, depth, text })
    });
    let mut lines = lines.peekable();
    let mut provider = ProviderSchema::default();
    while let Some(line) = lines.next() {
        let mut words = line.text.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let name = words.next().ok_or_else(|| line.wrong("a name is missing"))?.to_owned();
        let version = words.next().unwrap_or_default();
        let mut inner = Vec::new();
        while let Some(next) = lines.next_if(|next| next.depth > 0) {
            inner.push(next);
        }
        let block = block(&inner, 1)?;
        let schema = |block| {
            let version = if version.is_empty() { Ok(0) } else { version.parse() };
            Ok(Schema { version: version.map_err(|_| line.wrong("the version is not a number"))?, block })
        };
        match kind {
            "provider" => (provider.source, provider.version, provider.config) = (name, version.to_owned(), block),
            "resource" => drop(provider.resources.insert(name, schema(block)?)),
            "data" => drop(provider.data_sources.insert(name, schema(block)?)),
            _ => return Err(line.wrong("neither provider nor resource nor data")),
        }
    }
    Ok(provider)
}

fn block(lines: &[Line<'_>], depth: usize) -> Result<Block, TextError> {
    let mut block = Block::default();
    let mut rest = lines;
    while let Some((line, after)) = rest.split_first() {
        if line.depth != depth {
            return Err(line.wrong("the indentation is wrong"));
        }
        let inner_length = after.iter().take_while(|next| next.depth > depth).count();
        let (inner, next) = after.split_at(inner_length);
        rest = next;
        let (said, description) = line.text.split_once(" -- ").unwrap_or((line.text, ""));
        let (name, said) = said.split_once(' ').ok_or_else(|| line.wrong("a type is missing"))?;
        if let Some(how) = said.strip_prefix('{').and_then(|how| how.strip_suffix('}')) {
            block.blocks.push(nested_block(line, name, how, self::block(inner, depth + 1)?)?);
            continue;
        }
        let (flags, r#type) = said.split_once(' ').ok_or_else(|| line.wrong("flags or a type are missing"))?;
        let kind = match r#type.strip_prefix('<').and_then(|how| how.strip_suffix('>')) {
            Some(how) => {
                let nesting = Nesting::named(how).ok_or_else(|| line.wrong("no such nesting"))?;
                Kind::Nested(nesting, self::block(inner, depth + 1)?.attributes)
            }
            None if inner.is_empty() => Kind::Plain(Type::parse(r#type).ok_or_else(|| line.wrong("no such type"))?),
            None => return Err(line.wrong("nothing can stand below this")),
        };
        let flags = Flags::parse(flags).ok_or_else(|| line.wrong("no such flag"))?;
        block.attributes.push(Attribute { name: name.to_owned(), kind, flags, description: description.to_owned() });
    }
    Ok(block)
}

fn nested_block(line: &Line<'_>, name: &str, how: &str, block: Block) -> Result<NestedBlock, TextError> {
    let (nesting, bounds) = how.split_once(' ').unwrap_or((how, "0-"));
    let nesting = Nesting::named(nesting).ok_or_else(|| line.wrong("no such nesting"))?;
    let (min, max) = bounds.split_once('-').ok_or_else(|| line.wrong("bounds are MIN-MAX"))?;
    let number = |text: &str| if text.is_empty() { Ok(0) } else { text.parse() };
    let bound = |text| number(text).map_err(|_| line.wrong("bounds are numbers"));
    Ok(NestedBlock { name: name.to_owned(), nesting, min: bound(min)?, max: bound(max)?, block })
}

pub fn write(provider: &ProviderSchema) -> String {
    let mut out = format!("provider {} {}\n", provider.source, provider.version);
    write_block(&mut out, &provider.config, 1);
    let resources = provider.resources.iter().map(|(name, schema)| ("resource", name, schema));
    let data_sources = provider.data_sources.iter().map(|(name, schema)| ("data", name, schema));
    for (kind, name, schema) in resources.chain(data_sources) {
        out.push_str(&format!("\n{kind} {name}"));
        if schema.version > 0 {
            out.push_str(&format!(" {}", schema.version));
        }
        out.push('\n');
        write_block(&mut out, &schema.block, 1);
    }
    out
}

fn write_block(out: &mut String, block: &Block, depth: usize) {
    write_attributes(out, &block.attributes, depth);
    for nested in &block.blocks {
        let bounds = match (nested.min, nested.max) {
            (0, 0) => String::new(),
            (min, 0) => format!(" {min}-"),
            (min, max) => format!(" {min}-{max}"),
        };
        out.push_str(&format!("{:1$}", "", depth * STEP));
        out.push_str(&format!("{} {{{}{bounds}}}\n", nested.name, nested.nesting.name()));
        write_block(out, &nested.block, depth + 1);
    }
}

fn write_attributes(out: &mut String, attributes: &[Attribute], depth: usize) {
    for attribute in attributes {
        let flags = attribute.flags.letters();
        out.push_str(&format!("{:1$}{2} {flags} ", "", depth * STEP, attribute.name));
        match &attribute.kind {
            Kind::Plain(r#type) => {
                r#type.write(out);
                out.push('\n');
            }
            Kind::Nested(nesting, inner) => {
                out.push_str(&format!("<{}>\n", nesting.name()));
                write_attributes(out, inner, depth + 1);
            }
        }
    }
}

impl Flags {
    fn parse(letters: &str) -> Option<Flags> {
        let mut flags = Flags::default();
        for letter in letters.chars() {
            match letter {
                'r' => flags.required = true,
                'o' => flags.optional = true,
                'c' => flags.computed = true,
                's' => flags.sensitive = true,
                'w' => flags.write_only = true,
                'd' => flags.deprecated = true,
                _ => return None,
            }
        }
        Some(flags)
    }

    fn letters(self) -> String {
        let all = [
            (self.required, 'r'),
            (self.optional, 'o'),
            (self.computed, 'c'),
            (self.sensitive, 's'),
            (self.write_only, 'w'),
            (self.deprecated, 'd'),
        ];
        all.into_iter().filter(|(set, _)| *set).map(|(_, letter)| letter).collect()
    }
}

impl Type {
    /// `list(object(name:string,tags:map(string)))`
    fn parse(text: &str) -> Option<Type> {
        let (name, inner) = match text.split_once('(') {
            Some((name, inner)) => (name, inner.strip_suffix(')')?),
            None => (text, ""),
        };
        let element = || Type::parse(inner).map(Box::new);
        Some(match name {
            "string" => Type::String,
            "number" => Type::Number,
            "bool" => Type::Bool,
            "any" => Type::Dynamic,
            "list" => Type::List(element()?),
            "set" => Type::Set(element()?),
            "map" => Type::Map(element()?),
            "tuple" => Type::Tuple(parts(inner).into_iter().map(Type::parse).collect::<Option<_>>()?),
            "object" => {
                let field =
                    |part: &str| part.split_once(':').and_then(|(name, of)| Some((name.to_owned(), Type::parse(of)?)));
                Type::Object(parts(inner).into_iter().map(field).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    fn write(&self, out: &mut String) {
        let mut of = |name: &str, element: &Type| {
            out.push_str(name);
            out.push('(');
            element.write(out);
            out.push(')');
        };
        match self {
            Type::String => out.push_str("string"),
            Type::Number => out.push_str("number"),
            Type::Bool => out.push_str("bool"),
            Type::Dynamic => out.push_str("any"),
            Type::List(element) => of("list", element),
            Type::Set(element) => of("set", element),
            Type::Map(element) => of("map", element),
            Type::Tuple(elements) => {
                let elements: Vec<_> = elements.iter().map(ToString::to_string).collect();
                out.push_str(&format!("tuple({})", elements.join(",")));
            }
            Type::Object(fields) => {
                let fields: Vec<_> = fields.iter().map(|(name, of)| format!("{name}:{of}")).collect();
                out.push_str(&format!("object({})", fields.join(",")));
            }
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

/// What stands between the commas that are in no inner parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}
