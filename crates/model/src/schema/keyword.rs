//! Every keyword that a schema may use, by what stands in it: subschemas are walked by position, so that a property named
//! `$ref` or an example that looks like a schema is never mistaken for one.

use super::nearest::suggestion;

/// Said of the value itself, and compiled as such.
pub(super) const NUMBERS: [&str; 2] = ["minimum", "maximum"];
pub(super) const COUNTS: [&str; 6] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
/// Nothing depends on them.
const ANNOTATIONS: [&str; 14] = [
    "title",
    "description",
    "example",
    "examples",
    "discriminator",
    "xml",
    "externalDocs",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];
const OTHERS: [&str; 39] = [
    "type",
    "enum",
    "const",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "pattern",
    "format",
    "required",
    "dependentRequired",
    "uniqueItems",
    "nullable",
    "default",
    "$ref",
    "$schema",
    "$defs",
    "definitions",
    "components",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "minimum",
    "maximum",
];
const DIALECTS: [&str; 9] = [
    "http://json-schema.org/schema",
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "https://spec.openapis.org/oas/3.0/schema",
    "https://spec.openapis.org/oas/3.1/dialect/base",
    "https://spec.openapis.org/oas/3.0/dialect",
];

pub(super) fn is_annotation(keyword: &str) -> bool {
    keyword.starts_with("x-") || ANNOTATIONS.contains(&keyword)
}

pub(super) fn is_dialect(uri: &str) -> bool {
    DIALECTS.contains(&uri.trim_end_matches('#'))
}

/// Why a keyword is not accepted.
pub(super) fn refusal(keyword: &str) -> String {
    match keyword {
        "$id" | "id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary" => {
            "no such keyword: a schema stands alone here, and refers to its parts by \"#/…\"".to_owned()
        }
        "$dynamicRef" | "$recursiveRef" => {
            "no such keyword: what it refers to cannot be known beforehand; use \"$ref\"".to_owned()
        }
        "dependencies" => "\"dependentRequired\" or \"dependentSchemas\" in its place".to_owned(),
        "additionalItems" => "\"items\" beside \"prefixItems\" in its place".to_owned(),
        _ => {
            let known = OTHERS.iter().chain(&ANNOTATIONS).chain(&COUNTS).copied();
            format!("a keyword of OpenAPI v3{}", suggestion(keyword, known))
        }
    }
}
