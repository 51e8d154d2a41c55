//! Reading rows: times and JSON out of what both databases can hold.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::error::Error;

pub(crate) trait Cells {
    fn int(&self, column: &str) -> Result<i64, Error>;
    fn text(&self, column: &str) -> Result<String, Error>;
    fn optional_text(&self, column: &str) -> Result<Option<String>, Error>;
    fn optional_int(&self, column: &str) -> Result<Option<i64>, Error>;

    fn time(&self, column: &str) -> Result<Timestamp, Error> {
        to_time(self.int(column)?)
    }

    fn optional_time(&self, column: &str) -> Result<Option<Timestamp>, Error> {
        self.optional_int(column)?.map(to_time).transpose()
    }

    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, Error> {
        from_json(column, &self.text(column)?)
    }

    fn optional_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, Error> {
        self.optional_text(column)?.map(|text| from_json(column, &text)).transpose()
    }

    /// A word of one of the model's enums.
    fn word<T>(&self, column: &str, parse: fn(&str) -> Option<T>) -> Result<T, Error> {
        let text = self.text(column)?;
        parse(&text).ok_or_else(|| Error::Corrupt { what: format!("{column} {text:?}") })
    }

    fn optional_word<T>(&self, column: &str, parse: fn(&str) -> Option<T>) -> Result<Option<T>, Error> {
        let Some(text) = self.optional_text(column)? else { return Ok(None) };
        parse(&text).map(Some).ok_or_else(|| Error::Corrupt { what: format!("{column} {text:?}") })
    }
}

impl Cells for AnyRow {
    fn int(&self, column: &str) -> Result<i64, Error> {
        Ok(self.try_get(column)?)
    }

    fn text(&self, column: &str) -> Result<String, Error> {
        Ok(self.try_get(column)?)
    }

    fn optional_text(&self, column: &str) -> Result<Option<String>, Error> {
        Ok(self.try_get(column)?)
    }

    fn optional_int(&self, column: &str) -> Result<Option<i64>, Error> {
        Ok(self.try_get(column)?)
    }
}

pub(crate) fn to_time(microseconds: i64) -> Result<Timestamp, Error> {
    Timestamp::from_microsecond(microseconds).map_err(|_| Error::Corrupt { what: format!("the time {microseconds}") })
}

pub(crate) fn from_json<T: DeserializeOwned>(column: &str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|_| Error::Corrupt { what: format!("a {column} that is not JSON") })
}
