//! A SELECT that is put together from conditions, with its arguments in step. Texts come from this crate alone; what
//! a caller gives is always an argument.

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::{Any, Arguments, AssertSqlSafe, Encode, Executor, Type};

use crate::dialect::Dialect;

pub(crate) struct Select {
    text: String,
    arguments: AnyArguments,
    count: usize,
    /// Arguments are numbered; else they go by their place alone.
    numbered: bool,
}

impl Select {
    pub fn new(text: &str) -> Select {
        Select { text: text.into(), arguments: AnyArguments::default(), count: 0, numbered: true }
    }

    /// For texts of very many arguments: SQLite looks each number up among all of them.
    pub fn of_many(text: &str, dialect: Dialect) -> Select {
        Select { numbered: dialect == Dialect::Postgres, ..Select::new(text) }
    }

    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Append an argument's placeholder.
    pub fn push_argument<'t, T: Encode<'t, Any> + Type<Any> + 't>(&mut self, value: T) -> Result<(), sqlx::Error> {
        self.count += 1;
        if self.numbered {
            self.text.push_str(&format!("${}", self.count));
        } else {
            self.text.push('?');
        }
        self.arguments.add(value).map_err(sqlx::Error::Encode)
    }

    /// Append `text` and then an argument's placeholder.
    pub fn with<'t, T: Encode<'t, Any> + Type<Any> + 't>(&mut self, text: &str, value: T) -> Result<(), sqlx::Error> {
        self.push(text);
        self.push_argument(value)
    }

    /// Append `($1, $2, …)`.
    pub fn push_list<'t, I>(&mut self, values: I) -> Result<(), sqlx::Error>
    where
        I: IntoIterator<Item = &'t str>,
    {
        self.push("(");
        for (at, value) in values.into_iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.push_argument(value)?;
        }
        self.push(")");
        Ok(())
    }

    pub async fn fetch_all<'e, E: Executor<'e, Database = Any>>(self, executor: E) -> Result<Vec<AnyRow>, sqlx::Error> {
        sqlx::query_with(AssertSqlSafe(self.text), self.arguments).fetch_all(executor).await
    }

    pub async fn execute<'e, E: Executor<'e, Database = Any>>(self, executor: E) -> Result<(), sqlx::Error> {
        sqlx::query_with(AssertSqlSafe(self.text), self.arguments).execute(executor).await?;
        Ok(())
    }
}
