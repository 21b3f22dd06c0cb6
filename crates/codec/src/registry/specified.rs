//! The codecs of the Zarr specification and of the registry of its extensions.

use std::sync::Arc;

use serde_json::Value;

use super::compressors::{blosc, gzip, zstd};
use super::options::Options;
use super::row::{Input, Row};
use super::{images, numcodecs, values};
use crate::bitround::BitRound;
use crate::byteswap::ByteSwap;
use crate::checksum::{Algorithm, Checksum, Location};
use crate::codec::Codec;
use crate::elements::Elements;
use crate::error::Result;
use crate::packbits::{PackBits, Padding};

/// All of them but those with a chain inside.
pub(super) const CODECS: [Row; 13] = [
    ("blosc", &["cname", "clevel", "shuffle", "typesize", "blocksize"], blosc),
    ("zstd", &["level", "checksum"], zstd),
    ("gzip", &["level"], gzip),
    ("crc32c", &[], |_, _| Ok(Arc::new(Checksum::new(Algorithm::Crc32c, Location::End)))),
    ("bitround", &["keepbits", "dtype"], |options, input| {
        let keep_bits = options.u32("keepbits")?.filter(|bits| *bits > 0);
        let keep_bits = keep_bits.ok_or_else(|| options.wrong("keepbits", "an integer from 1"))?;
        let dtype = options.text("dtype", Some(input.float()))?;
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
    ("zarrix.jpeg", images::JPEG_KEYS, images::jpeg),
    ("zarrix.png", images::PNG_KEYS, images::png),
    ("zarrix.webp", images::WEBP_KEYS, images::webp),
    ("zarrix.byteswap", &["word_bytes", "words", "runs"], byteswap),
];

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
