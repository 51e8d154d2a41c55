//! Enums whose variants are words: in JSON, in tables and in metrics the same.

/// Words of an enum: how it is written in JSON, in tables and in metrics.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:tt),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            pub fn parse(text: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use utoipa::PartialSchema;

    #[test]
    fn schemas_list_the_words_as_they_are_written() {
        let schema = serde_json::to_string(&crate::Reason::schema()).expect("a schema");
        assert!(schema.contains(r#""created""#), "{schema}");
    }
}
