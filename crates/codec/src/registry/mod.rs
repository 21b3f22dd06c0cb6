//! From the name and the configuration in metadata to a codec.
//!
//! Names are those of v3; what v2 calls `delta` is `numcodecs.delta`. Every data type in a
//! configuration is a NumPy type string such as `"<f4"`. A valid configuration that we leave to
//! another implementation is an error like an invalid one: the caller decides whether there is
//! another implementation.

mod lzma;
mod numcodecs;
mod options;
mod values;

use std::sync::Arc;

use serde_json::Value;

use crate::bitround::BitRound;
use crate::blosc::{Blosc, Compressor, Shuffle as BloscShuffle};
use crate::byteswap::ByteSwap;
use crate::checksum::{Algorithm, Checksum, Location};
use crate::deflate::{Deflate, Wrapping};
use crate::elements::Elements;
use crate::memory::zeros;
use crate::n5::N5;
use crate::packbits::{PackBits, Padding};
use crate::zstd::Zstd;
use crate::{Codec, CodecError, Result};
use options::Options;

/// The input of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Bytes of an element, after the codecs before it.
    pub item_bytes: usize,
}

/// The codec that metadata calls `name`, bound to its `configuration`.
///
/// # Errors
/// [`CodecError::Configuration`] for a name that is not native, an unknown key, or a value of the
/// wrong type or outside its range.
pub fn from_config(name: &str, configuration: &Value, input: Input) -> Result<Arc<dyn Codec>> {
    let mut rows = CODECS.iter().chain(&numcodecs::CODECS);
    let Some(&(_, keys, make)) = rows.find(|(known, ..)| *known == name) else {
        let rows = CODECS.iter().chain(&numcodecs::CODECS);
        let known: Vec<&str> = rows.map(|(known, ..)| *known).collect();
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

/// A codec's name, the keys that its configuration may have, and how to make it.
type Row = (&'static str, &'static [&'static str], Make);

/// The codecs of the Zarr specification and of the registry of its extensions.
const CODECS: [Row; 11] = [
    ("blosc", &["cname", "clevel", "shuffle", "typesize", "blocksize"], blosc),
    ("zstd", &["level", "checksum"], zstd),
    ("gzip", &["level"], gzip),
    ("crc32c", &[], |_, _| Ok(Arc::new(Checksum::new(Algorithm::Crc32c, Location::End)))),
    ("bitround", &["keepbits", "dtype"], |options, input| {
        let keep_bits = options.u32("keepbits")?.filter(|bits| *bits > 0);
        let keep_bits = keep_bits.ok_or_else(|| options.wrong("keepbits", "an integer from 1"))?;
        let dtype = options.text("dtype", Some(float(input)))?;
        Ok(Arc::new(Elements(BitRound::new(keep_bits, dtype)?)))
    }),
    ("packbits", &["padding_encoding", "first_bit", "last_bit", "dtype"], packbits),
    (
        "cast_value",
        &["data_type", "rounding", "out_of_range", "scalar_map", "dtype"],
        values::cast_value,
    ),
    ("scale_offset", &["offset", "scale", "dtype"], values::scale_offset),
    ("pcodec", numcodecs::PCODEC_KEYS, numcodecs::pcodec),
    ("n5_default", &["shape", "fill_value", "codecs"], n5_default),
    ("zarrix.byteswap", &["word_bytes", "words", "runs"], byteswap),
];

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
    let null = Value::Null;
    let inner = options.list("codecs")?.unwrap_or_default().iter().map(|codec| {
        let name = codec.get("name").and_then(Value::as_str).unwrap_or_default();
        let configuration = codec.get("configuration").unwrap_or(&null);
        if name == options.codec {
            return Err(options.wrong("codecs", "codecs on bytes"));
        }
        from_config(name, configuration, input)
    });
    Ok(Arc::new(N5::new(shape.unwrap_or_default(), fill, inner.collect::<Result<_>>()?)?))
}

/// The float type of an element, for codecs whose configuration does not have it.
fn float(input: Input) -> &'static str {
    match input.item_bytes {
        2 => "<f2",
        4 => "<f4",
        _ => "<f8",
    }
}

/// `dtype` is the type, which the configuration does not repeat; without it, all bits of an
/// element.
fn packbits(options: &Options<'_>, input: Input) -> Result<Arc<dyn Codec>> {
    let padding = match options.text("padding_encoding", Some("none"))? {
        "none" => Padding::Unstored,
        "first_byte" => Padding::FirstByte,
        "last_byte" => Padding::LastByte,
        _ => return Err(options.wrong("padding_encoding", "none, first_byte or last_byte")),
    };
    let mut unsigned = ["|u1", "<u2", "<u4", "<u8"].into_iter().zip([1, 2, 4, 8]);
    let default = unsigned.find(|(_, bytes)| *bytes == input.item_bytes);
    let dtype = options.text("dtype", default.map(|(dtype, _)| dtype))?;
    let (first, last) = (options.u32("first_bit")?, options.u32("last_bit")?);
    Ok(Arc::new(PackBits::new(dtype, first, last, padding)?))
}

/// Words of one size, or the sizes of all words of an element in their order.
fn byteswap(options: &Options<'_>, input: Input) -> Result<Arc<dyn Codec>> {
    let size = |value: &Value| value.as_u64().and_then(|size| usize::try_from(size).ok());
    let run = |value: &Value| Some((size(value.get(0)?)?, size(value.get(1)?)?));
    let words = match options.list_of("words", "a list of sizes in bytes", size)? {
        Some(words) => words.into_iter().map(|size| (size, 1)).collect(),
        None => match options.list_of("runs", "a list of sizes and counts", run)? {
            Some(runs) => runs,
            None => [(options.size("word_bytes", input.item_bytes)?, 1)].into(),
        },
    };
    Ok(Arc::new(Elements(ByteSwap::new(&words)?)))
}

fn zstd(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let level = options.int("level", 0)?;
    Ok(Arc::new(Zstd::new(level, options.flag("checksum", false)?)?))
}

fn gzip(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    Ok(Arc::new(Deflate::new(Wrapping::Gzip, options.int("level", 1)?)?))
}

/// Shuffles by the words of v3 or by the numbers of v2, where -1 chooses by item size.
fn shuffle(options: &Options<'_>, input: Input) -> Result<BloscShuffle> {
    let automatic = if input.item_bytes == 1 { BloscShuffle::Bits } else { BloscShuffle::Bytes };
    if let Some(number) = options.get("shuffle").and_then(Value::as_i64) {
        return match number {
            0 => Ok(BloscShuffle::None),
            1 => Ok(BloscShuffle::Bytes),
            2 => Ok(BloscShuffle::Bits),
            -1 => Ok(automatic),
            _ => Err(options.wrong("shuffle", "-1 to 2")),
        };
    }
    match options.text("shuffle", Some("shuffle"))? {
        "noshuffle" => Ok(BloscShuffle::None),
        "shuffle" => Ok(BloscShuffle::Bytes),
        "bitshuffle" => Ok(BloscShuffle::Bits),
        _ => Err(options.wrong("shuffle", "noshuffle, shuffle or bitshuffle")),
    }
}

fn blosc(options: &Options<'_>, input: Input) -> Result<Arc<dyn Codec>> {
    let cname = options.text("cname", Some("lz4"))?;
    let compressor = Compressor::named(cname)
        .ok_or_else(|| options.wrong("cname", "one of blosclz, lz4, lz4hc, snappy, zlib, zstd"))?;
    let shuffle = shuffle(options, input)?;
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
