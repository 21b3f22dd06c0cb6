//! A configuration read key by key, every message with the codec, the key and the value.

use serde_json::{Number, Value};

use crate::error::{CodecError, Result};

/// A configuration and the name it is for, so that every message can say both.
pub(super) struct Options<'a> {
    pub(super) codec: &'a str,
    pub(super) configuration: &'a Value,
}

impl<'a> Options<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.configuration.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn wrong(&self, key: &str, allowed: &str) -> CodecError {
        let value = self.get(key).unwrap_or(&Value::Null);
        CodecError::Configuration {
            codec: self.codec.to_owned(),
            reason: format!("{key} is {value}, allowed: {allowed}"),
        }
    }

    pub(super) fn check_keys(&self, keys: &[&str]) -> Result<()> {
        let object = match self.configuration {
            Value::Null => return Ok(()),
            Value::Object(object) => object,
            other => {
                return Err(CodecError::Configuration {
                    codec: self.codec.to_owned(),
                    reason: format!("the configuration is {other}, not an object"),
                });
            }
        };
        match object.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(CodecError::Configuration {
                codec: self.codec.to_owned(),
                reason: format!("unknown key {key:?} (there are {keys:?})"),
            }),
        }
    }

    pub(super) fn int(&self, key: &str, default: i32) -> Result<i32> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value
                .as_i64()
                .and_then(|value| i32::try_from(value).ok())
                .ok_or_else(|| self.wrong(key, "a 32-bit integer")),
        }
    }

    pub(super) fn required_int(&self, key: &str) -> Result<i32> {
        match self.get(key) {
            None => Err(self.wrong(key, "a 32-bit integer (there is no default)")),
            Some(_) => self.int(key, 0),
        }
    }

    pub(super) fn size(&self, key: &str, default: usize) -> Result<usize> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value
                .as_u64()
                .and_then(|value| usize::try_from(value).ok())
                .filter(|value| i32::try_from(*value).is_ok())
                .ok_or_else(|| self.wrong(key, "an integer from 0 to 2147483647")),
        }
    }

    pub(super) fn flag(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(key, "true or false")),
        }
    }

    pub(super) fn text(&self, key: &str, default: Option<&'a str>) -> Result<&'a str> {
        match (self.get(key), default) {
            (Some(value), _) => value.as_str().ok_or_else(|| self.wrong(key, "a string")),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(self.wrong(key, "a string (there is no default)")),
        }
    }

    pub(super) fn refused(&self, reason: impl Into<String>) -> CodecError {
        CodecError::Configuration { codec: self.codec.to_owned(), reason: reason.into() }
    }

    pub(super) fn u32(&self, key: &str) -> Result<Option<u32>> {
        self.get(key)
            .map(|value| {
                value
                    .as_u64()
                    .and_then(|value| u32::try_from(value).ok())
                    .ok_or_else(|| self.wrong(key, "an integer from 0 to 4294967295"))
            })
            .transpose()
    }

    pub(super) fn number(&self, key: &str) -> Result<&'a Number> {
        match self.get(key) {
            Some(Value::Number(number)) => Ok(number),
            _ => Err(self.wrong(key, "a number (there is no default)")),
        }
    }

    pub(super) fn list(&self, key: &str) -> Result<Option<&'a [Value]>> {
        self.get(key)
            .map(|value| {
                value.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong(key, "a list"))
            })
            .transpose()
    }

    /// A list of what `item` takes each value for.
    pub(super) fn list_of<T>(
        &self,
        key: &str,
        allowed: &str,
        item: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>> {
        self.list(key)?
            .map(|list| list.iter().map(item).collect::<Option<Vec<T>>>())
            .map(|list| list.ok_or_else(|| self.wrong(key, allowed)))
            .transpose()
    }
}
