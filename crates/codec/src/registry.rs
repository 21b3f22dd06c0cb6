//! From the name and the configuration in a document to a codec.

use std::sync::Arc;

use serde_json::Value;

use crate::blosc::{Blosc, Compressor, Shuffle as BloscShuffle};
use crate::checksum::{Algorithm, Checksum, Location};
use crate::deflate::{Deflate, Wrapping};
use crate::delta::Delta;
use crate::lz4::Lz4;
use crate::packbits::PackBits;
use crate::shuffle::Shuffle;
use crate::zstd::Zstd;
use crate::{Codec, CodecError, Result};

/// What a codec is given to encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Bytes of an element, after the codecs before it.
    pub item_bytes: usize,
}

/// The codec that a document calls `name`, bound to its `configuration`.
///
/// # Errors
///
/// [`CodecError::Configuration`] for a name that is not native, an unknown key, a value of the
/// wrong type or outside its range.
pub fn from_config(name: &str, configuration: &Value, input: Input) -> Result<Arc<dyn Codec>> {
    let Some(&(_, keys, make)) = CODECS.iter().find(|(known, ..)| *known == name) else {
        let known: Vec<&str> = CODECS.iter().map(|(known, ..)| *known).collect();
        return Err(CodecError::Configuration {
            codec: name.to_owned(),
            reason: format!("not a native codec (there are {})", known.join(", ")),
        });
    };
    let options = Options { codec: name, configuration };
    options.check_keys(keys)?;
    make(&options, input)
}

type Make = fn(&Options<'_>, Input) -> Result<Arc<dyn Codec>>;

/// Name, the keys its configuration may have, and how to make it.
const CODECS: [(&str, &[&str], Make); 13] = [
    ("blosc", &["cname", "clevel", "shuffle", "typesize", "blocksize"], blosc),
    ("zstd", &["level", "checksum"], |options, _| {
        let level = options.int("level", 0)?;
        Ok(Arc::new(Zstd::new(level, options.flag("checksum", false)?)?))
    }),
    ("gzip", &["level"], |options, _| {
        Ok(Arc::new(Deflate::new(Wrapping::Gzip, options.int("level", 1)?)?))
    }),
    ("crc32c", &[], |_, _| Ok(Arc::new(Checksum::new(Algorithm::Crc32c, Location::End)))),
    ("numcodecs.zlib", &["level"], |options, _| {
        Ok(Arc::new(Deflate::new(Wrapping::Zlib, options.int("level", 1)?)?))
    }),
    ("numcodecs.lz4", &["acceleration"], |options, _| {
        Ok(Arc::new(Lz4::new(options.int("acceleration", 1)?)))
    }),
    ("numcodecs.shuffle", &["elementsize"], |options, _| {
        Ok(Arc::new(Shuffle::new(options.size("elementsize", 4)?)))
    }),
    ("numcodecs.delta", &["dtype", "astype"], |options, _| {
        let dtype = options.text("dtype", None)?;
        let astype = options.text("astype", Some(dtype))?;
        Ok(Arc::new(Delta::new(dtype, astype)?))
    }),
    ("numcodecs.packbits", &[], |_, _| Ok(Arc::new(PackBits))),
    ("numcodecs.crc32", &["location"], |options, _| checksum(options, Algorithm::Crc32, "start")),
    ("numcodecs.adler32", &["location"], |options, _| {
        checksum(options, Algorithm::Adler32, "start")
    }),
    ("numcodecs.crc32c", &["location"], |options, _| checksum(options, Algorithm::Crc32c, "end")),
    ("numcodecs.fletcher32", &[], |_, _| {
        Ok(Arc::new(Checksum::new(Algorithm::Fletcher32, Location::End)))
    }),
];

fn blosc(options: &Options<'_>, input: Input) -> Result<Arc<dyn Codec>> {
    let cname = options.text("cname", Some("lz4"))?;
    let compressor = Compressor::named(cname)
        .ok_or_else(|| options.wrong("cname", "one of blosclz, lz4, lz4hc, snappy, zlib, zstd"))?;
    let shuffle = match options.text("shuffle", Some("shuffle"))? {
        "noshuffle" => BloscShuffle::None,
        "shuffle" => BloscShuffle::Bytes,
        "bitshuffle" => BloscShuffle::Bits,
        _ => return Err(options.wrong("shuffle", "noshuffle, shuffle or bitshuffle")),
    };
    let level = options.int("clevel", 5)?;
    let level = u8::try_from(level)
        .ok()
        .filter(|level| *level <= 9)
        .ok_or_else(|| options.wrong("clevel", "0 to 9"))?;
    let element_bytes = match options.size("typesize", 0)? {
        0 => input.item_bytes.max(1),
        bytes => bytes,
    };
    let block_bytes = options.size("blocksize", 0)?;
    Ok(Arc::new(Blosc { compressor, level, shuffle, element_bytes, block_bytes }))
}

fn checksum(
    options: &Options<'_>,
    algorithm: Algorithm,
    default: &'static str,
) -> Result<Arc<dyn Codec>> {
    let location = match options.text("location", Some(default))? {
        "start" => Location::Start,
        "end" => Location::End,
        _ => return Err(options.wrong("location", "start or end")),
    };
    Ok(Arc::new(Checksum::new(algorithm, location)))
}

/// A configuration and the name it is for, so that every message can say both.
struct Options<'a> {
    codec: &'a str,
    configuration: &'a Value,
}

impl<'a> Options<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.configuration.get(key).filter(|value| !value.is_null())
    }

    fn wrong(&self, key: &str, allowed: &str) -> CodecError {
        let value = self.get(key).unwrap_or(&Value::Null);
        CodecError::Configuration {
            codec: self.codec.to_owned(),
            reason: format!("{key} is {value}, allowed: {allowed}"),
        }
    }

    fn check_keys(&self, keys: &[&str]) -> Result<()> {
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

    fn int(&self, key: &str, default: i32) -> Result<i32> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value
                .as_i64()
                .and_then(|value| i32::try_from(value).ok())
                .ok_or_else(|| self.wrong(key, "a 32-bit integer")),
        }
    }

    fn size(&self, key: &str, default: usize) -> Result<usize> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value
                .as_u64()
                .and_then(|value| usize::try_from(value).ok())
                .filter(|value| i32::try_from(*value).is_ok())
                .ok_or_else(|| self.wrong(key, "an integer from 0 to 2147483647")),
        }
    }

    fn flag(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(key, "true or false")),
        }
    }

    fn text(&self, key: &str, default: Option<&'a str>) -> Result<&'a str> {
        match (self.get(key), default) {
            (Some(value), _) => value.as_str().ok_or_else(|| self.wrong(key, "a string")),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(self.wrong(key, "a string (there is no default)")),
        }
    }
}
