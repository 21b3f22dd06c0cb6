//! The codecs of numcodecs, with the keys of its own configurations.

use std::sync::Arc;

use pco::{DEFAULT_MAX_PAGE_N, DeltaSpec, ModeSpec};

use super::compressors::{blosc, gzip, zstd};
use super::lzma;
use super::options::Options;
use super::row::{Input, Row};
use crate::astype::AsType;
use crate::base64::Base64;
use crate::bitround::BitRound;
use crate::bz2::Bz2;
use crate::categorize::Categorize;
use crate::checksum::{Algorithm, Checksum, Location};
use crate::codec::Codec;
use crate::deflate::Deflate;
use crate::delta::Delta;
use crate::elements::Elements;
use crate::error::Result;
use crate::fixedscaleoffset::FixedScaleOffset;
use crate::libdeflate::Wrapping;
use crate::lz4::Lz4;
use crate::packbits::PackBits;
use crate::pcodec::{self, Pcodec};
use crate::quantize::Quantize;
use crate::shuffle::Shuffle;

pub(super) const CODECS: [Row; 22] = [
    ("numcodecs.blosc", &["cname", "clevel", "shuffle", "typesize", "blocksize"], blosc),
    ("numcodecs.zstd", &["level", "checksum"], zstd),
    ("numcodecs.gzip", &["level"], gzip),
    ("numcodecs.zlib", &["level"], |options, _| {
        Ok(Arc::new(Deflate::new(Wrapping::Zlib, options.int("level", 1)?)?))
    }),
    ("numcodecs.lz4", &["acceleration"], |options, _| {
        Ok(Arc::new(Lz4::new(options.int("acceleration", 1)?)))
    }),
    ("numcodecs.bz2", &["level"], |options, _| Ok(Arc::new(Bz2::new(options.int("level", 1)?)?))),
    ("numcodecs.lzma", &["format", "check", "preset", "filters"], lzma::make),
    ("numcodecs.shuffle", &["elementsize"], |options, _| {
        Ok(Arc::new(Shuffle::new(options.size("elementsize", 4)?)))
    }),
    ("numcodecs.delta", &["dtype", "astype"], |options, _| {
        let (dtype, astype) = types(options)?;
        Ok(Arc::new(Delta::new(dtype, astype)?))
    }),
    ("numcodecs.astype", &["encode_dtype", "decode_dtype"], |options, _| {
        let encoded = options.text("encode_dtype", None)?;
        let decoded = options.text("decode_dtype", None)?;
        Ok(Arc::new(Elements(AsType::new(encoded, decoded)?)))
    }),
    ("numcodecs.quantize", &["digits", "dtype", "astype"], |options, _| {
        let digits = options.required_int("digits")?;
        let (dtype, astype) = types(options)?;
        Ok(Arc::new(Elements(Quantize::new(digits, dtype, astype)?)))
    }),
    ("numcodecs.fixedscaleoffset", &["offset", "scale", "dtype", "astype"], |options, _| {
        let (dtype, astype) = types(options)?;
        let (offset, scale) = (options.number("offset")?, options.number("scale")?);
        Ok(Arc::new(Elements(FixedScaleOffset::new(offset, scale, dtype, astype)?)))
    }),
    ("numcodecs.bitround", &["keepbits", "dtype"], bitround),
    ("numcodecs.categorize", &["labels", "dtype", "astype"], |options, _| {
        let labels = options.list_of("labels", "a list of strings", |label| label.as_str())?;
        let labels = labels.ok_or_else(|| options.wrong("labels", "a list of strings"))?;
        let astype = options.text("astype", Some("|u1"))?;
        let codec = Categorize::new(&labels, options.text("dtype", None)?, astype)?;
        Ok(Arc::new(Elements(codec)))
    }),
    ("numcodecs.packbits", &[], |_, _| Ok(Arc::new(PackBits::numcodecs()))),
    ("numcodecs.pcodec", PCODEC_KEYS, pcodec),
    ("numcodecs.base64", &[], |_, _| Ok(Arc::new(Base64))),
    ("numcodecs.crc32", &["location"], |options, _| checksum(options, Algorithm::Crc32, "start")),
    ("numcodecs.adler32", &["location"], |options, _| {
        checksum(options, Algorithm::Adler32, "start")
    }),
    ("numcodecs.crc32c", &["location"], |options, _| checksum(options, Algorithm::Crc32c, "end")),
    ("numcodecs.fletcher32", &[], |_, _| {
        Ok(Arc::new(Checksum::new(Algorithm::Fletcher32, Location::End)))
    }),
    ("numcodecs.jenkins_lookup3", &["initval", "prefix"], |options, _| {
        let initial = options.u32("initval")?.unwrap_or(0);
        let byte = |value: &serde_json::Value| value.as_u64().and_then(|v| u8::try_from(v).ok());
        let prefix = options.list_of("prefix", "a list of integers from 0 to 255", byte)?;
        let algorithm = Algorithm::JenkinsLookup3 { initial, prefix: prefix.unwrap_or_default() };
        Ok(Arc::new(Checksum::new(algorithm, Location::End)))
    }),
];

pub(super) const PCODEC_KEYS: &[&str] = &[
    "level",
    "mode_spec",
    "delta_spec",
    "paging_spec",
    "delta_encoding_order",
    "equal_pages_up_to",
    "dtype",
];

/// numcodecs takes the type from the array; here `dtype` gives it.
pub(super) fn pcodec(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let level = options.size("level", 8)?;
    if level > 12 {
        return Err(options.wrong("level", "0 to 12"));
    }
    let mode = match options.text("mode_spec", Some("auto"))? {
        "auto" => ModeSpec::Auto,
        "classic" => ModeSpec::Classic,
        _ => return Err(options.wrong("mode_spec", "auto or classic")),
    };
    let order = options.u32("delta_encoding_order")?;
    if order.is_some_and(|order| order > 7) {
        return Err(options.wrong("delta_encoding_order", "0 to 7"));
    }
    // An order alone means that order, as it did before there was a kind of differences.
    let delta = match (options.text("delta_spec", Some("auto"))?, order) {
        ("auto" | "try_consecutive", Some(order)) => DeltaSpec::TryConsecutive(order as usize),
        ("auto", None) => DeltaSpec::Auto,
        ("none", None) => DeltaSpec::NoOp,
        ("try_lookback", None) => DeltaSpec::TryLookback,
        _ => {
            let allowed = "auto, none, try_lookback, or with delta_encoding_order try_consecutive";
            return Err(options.wrong("delta_spec", allowed));
        }
    };
    if options.text("paging_spec", Some("equal_pages_up_to"))? != "equal_pages_up_to" {
        return Err(options.wrong("paging_spec", "equal_pages_up_to"));
    }
    let page = options.size("equal_pages_up_to", DEFAULT_MAX_PAGE_N)?;
    if !(1..=1 << 24).contains(&page) {
        return Err(options.wrong("equal_pages_up_to", "1 to 16777216"));
    }
    let config = pcodec::config(level, mode, delta, page);
    Ok(Arc::new(Pcodec::new(options.text("dtype", None)?, config)?))
}

/// `dtype`, and `astype`, which is the same when it is left out.
fn types<'a>(options: &Options<'a>) -> Result<(&'a str, &'a str)> {
    let dtype = options.text("dtype", None)?;
    Ok((dtype, options.text("astype", Some(dtype))?))
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

/// numcodecs has no key for the type, and takes floats only: without it, the float type of that
/// width.
fn bitround(options: &Options<'_>, input: Input) -> Result<Arc<dyn Codec>> {
    let keep_bits = options.u32("keepbits")?;
    let keep_bits = keep_bits.ok_or_else(|| options.wrong("keepbits", "an integer from 0"))?;
    let codec = BitRound::new(keep_bits, options.text("dtype", Some(input.float()))?)?;
    if !codec.fits() {
        return Err(options.wrong("keepbits", "at most the bits of a float's mantissa"));
    }
    Ok(Arc::new(Elements(codec)))
}
