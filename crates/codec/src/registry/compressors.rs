//! How the compressors are made that both tables have.

use std::sync::Arc;

use serde_json::Value;

use super::options::Options;
use super::row::Input;
use crate::blosc::{Blosc, Compressor, Shuffle};
use crate::codec::Codec;
use crate::deflate::Deflate;
use crate::error::Result;
use crate::libdeflate::Wrapping;
use crate::zstd::Zstd;

pub(super) fn zstd(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let level = options.int("level", 0)?;
    Ok(Arc::new(Zstd::new(level, options.flag("checksum", false)?)?))
}

pub(super) fn gzip(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    Ok(Arc::new(Deflate::new(Wrapping::Gzip, options.int("level", 1)?)?))
}

pub(super) fn blosc(options: &Options<'_>, input: Input) -> Result<Arc<dyn Codec>> {
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

/// Shuffles by the words of v3 or by the numbers of v2, where -1 chooses by item size.
fn shuffle(options: &Options<'_>, input: Input) -> Result<Shuffle> {
    let automatic = if input.item_bytes == 1 { Shuffle::Bits } else { Shuffle::Bytes };
    if let Some(number) = options.get("shuffle").and_then(Value::as_i64) {
        return match number {
            0 => Ok(Shuffle::None),
            1 => Ok(Shuffle::Bytes),
            2 => Ok(Shuffle::Bits),
            -1 => Ok(automatic),
            _ => Err(options.wrong("shuffle", "-1 to 2")),
        };
    }
    match options.text("shuffle", Some("shuffle"))? {
        "noshuffle" => Ok(Shuffle::None),
        "shuffle" => Ok(Shuffle::Bytes),
        "bitshuffle" => Ok(Shuffle::Bits),
        _ => Err(options.wrong("shuffle", "noshuffle, shuffle or bitshuffle")),
    }
}
