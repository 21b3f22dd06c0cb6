//! The codec of a name, from all tables.

use std::sync::Arc;

use serde_json::Value;

use super::options::Options;
use super::row::{Input, Row};
use super::{numcodecs, specified};
use crate::codec::Codec;
use crate::conditional::Conditional;
use crate::error::{CodecError, Result};
use crate::memory::zeros;
use crate::n5::N5;

/// Codecs whose configuration has codecs.
const OF_CODECS: [Row; 2] = [
    ("conditional", &["codecs", "header_bits"], conditional),
    ("n5_default", &["shape", "fill_value", "codecs"], n5_default),
];

/// The codec that metadata calls `name`, bound to its `configuration`.
///
/// # Errors
/// [`CodecError::Configuration`] for a name that is not native, an unknown key, or a value of the
/// wrong type or outside its range.
pub fn from_config(name: &str, configuration: &Value, input: Input) -> Result<Arc<dyn Codec>> {
    let Some(&(_, keys, make)) = rows().find(|(known, ..)| *known == name) else {
        let known: Vec<&str> = rows().map(|(known, ..)| *known).collect();
        return Err(CodecError::Configuration {
            codec: name.to_owned(),
            reason: format!("not a native codec (there are {})", known.join(", ")),
        });
    };
    let options = Options { codec: name, configuration };
    options.check_keys(keys)?;
    make(&options, input)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    specified::CODECS.iter().chain(&OF_CODECS).chain(&numcodecs::CODECS)
}

/// A chain inside: `shape` has the fastest axis first, `fill_value` is the bytes of one element.
fn n5_default(options: &Options<'_>, input: Input) -> Result<Arc<dyn Codec>> {
    let length = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
    let shape = options.list_of("shape", "a list of lengths below 2^32", length)?;
    let byte = |value: &Value| value.as_u64().and_then(|n| u8::try_from(n).ok());
    let fill = options.list_of("fill_value", "a list of bytes", byte)?;
    let fill = match fill {
        Some(fill) => fill,
        None => zeros(input.item_bytes)?,
    };
    let inner = codecs_of(options, input)?;
    Ok(Arc::new(N5::new(shape.unwrap_or_default(), fill, inner)?))
}

fn conditional(options: &Options<'_>, input: Input) -> Result<Arc<dyn Codec>> {
    let bits = options.get("header_bits").map(|_| options.size("header_bits", 0)).transpose()?;
    Ok(Arc::new(Conditional::new(codecs_of(options, input)?, bits)?))
}

/// The codecs inside, none of which has codecs inside of its own kind.
fn codecs_of(options: &Options<'_>, input: Input) -> Result<Vec<Arc<dyn Codec>>> {
    let null = Value::Null;
    let inner = options.list("codecs")?.unwrap_or_default().iter().map(|codec| {
        let name = codec.get("name").and_then(Value::as_str).unwrap_or_default();
        let configuration = codec.get("configuration").unwrap_or(&null);
        if name == options.codec {
            return Err(options.wrong("codecs", "codecs on bytes"));
        }
        from_config(name, configuration, input)
    });
    inner.collect()
}
