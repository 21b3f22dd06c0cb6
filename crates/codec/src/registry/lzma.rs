//! The configuration of lzma: that of Python's module, with liblzma's numbers.

use std::sync::Arc;

use liblzma::stream::{Check, MatchFinder, Mode};
use serde_json::Value;

use super::options::Options;
use super::row::Input;
use crate::codec::Codec;
use crate::error::Result;
use crate::lzma::{DEFAULT_PRESET, Filter, Format, Lzma, Tuning};

/// liblzma's number of the first version's filter, which only the older formats have.
const LZMA1: u64 = 0x4000_0000_0000_0001;
const LZMA2: u64 = 33;
const DELTA: u64 = 3;
const TUNING_KEYS: &[&str] =
    &["id", "preset", "dict_size", "lc", "lp", "pb", "mode", "nice_len", "mf", "depth"];

/// The lzma codec of a configuration.
pub(super) fn make(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let format = match options.int("format", 1)? {
        1 => Format::Xz,
        2 => Format::Alone,
        3 => Format::Raw,
        _ => return Err(options.wrong("format", "1 (xz), 2 (alone) or 3 (raw)")),
    };
    let check = match (options.int("check", -1)?, format) {
        (-1, Format::Xz) => Check::Crc64,
        (-1 | 0, _) => Check::None,
        (1, Format::Xz) => Check::Crc32,
        (4, Format::Xz) => Check::Crc64,
        (10, Format::Xz) => Check::Sha256,
        _ => return Err(options.wrong("check", "-1, 0, and in xz 1, 4 or 10")),
    };
    let filters = match (options.list("filters")?, preset(options)?) {
        (Some(_), Some(_)) => {
            return Err(options.refused("a preset and filters exclude each other"));
        }
        (None, _) if format == Format::Raw => {
            return Err(options.wrong("filters", "a list, which raw streams need"));
        }
        (None, preset) => {
            let tuning = Tuning::preset(preset.unwrap_or(DEFAULT_PRESET));
            vec![if format == Format::Xz { Filter::Lzma2(tuning) } else { Filter::Lzma1(tuning) }]
        }
        (Some(specs), None) => {
            specs.iter().map(|spec| filter(options.codec, spec)).collect::<Result<_>>()?
        }
    };
    Ok(Arc::new(Lzma::new(format, check, filters)?))
}

fn preset(options: &Options<'_>) -> Result<Option<u32>> {
    match options.u32("preset")? {
        Some(preset) if !Lzma::is_preset(preset) => {
            Err(options.wrong("preset", "0 to 9, or that with 2^31 for the extreme one"))
        }
        preset => Ok(preset),
    }
}

fn filter(codec: &str, spec: &Value) -> Result<Filter> {
    let options = Options { codec, configuration: spec };
    let id = spec.get("id").and_then(Value::as_u64);
    match id {
        Some(LZMA1) => Ok(Filter::Lzma1(tuning(&options)?)),
        Some(LZMA2) => Ok(Filter::Lzma2(tuning(&options)?)),
        Some(DELTA) => {
            options.check_keys(&["id", "dist"])?;
            let distance = options.u32("dist")?.unwrap_or(1);
            let less_one = distance.checked_sub(1).and_then(|less| u8::try_from(less).ok());
            less_one.map(Filter::Delta).ok_or_else(|| options.wrong("dist", "1 to 256"))
        }
        Some(processor @ 4..=9) => {
            options.check_keys(&["id", "start_offset"])?;
            Ok(Filter::Code(processor as u8, options.u32("start_offset")?.unwrap_or(0)))
        }
        _ => Err(options.wrong("id", "a filter number of liblzma")),
    }
}

fn tuning(options: &Options<'_>) -> Result<Tuning> {
    options.check_keys(TUNING_KEYS)?;
    let mode = match options.u32("mode")? {
        None => None,
        Some(1) => Some(Mode::Fast),
        Some(2) => Some(Mode::Normal),
        Some(_) => return Err(options.wrong("mode", "1 (fast) or 2 (normal)")),
    };
    let match_finder = match options.u32("mf")? {
        None => None,
        Some(3) => Some(MatchFinder::HashChain3),
        Some(4) => Some(MatchFinder::HashChain4),
        Some(18) => Some(MatchFinder::BinaryTree2),
        Some(19) => Some(MatchFinder::BinaryTree3),
        Some(20) => Some(MatchFinder::BinaryTree4),
        Some(_) => return Err(options.wrong("mf", "3, 4, 18, 19 or 20")),
    };
    Ok(Tuning {
        preset: preset(options)?.unwrap_or(DEFAULT_PRESET),
        dict_size: options.u32("dict_size")?,
        literal_context_bits: options.u32("lc")?,
        literal_position_bits: options.u32("lp")?,
        position_bits: options.u32("pb")?,
        mode,
        nice_len: options.u32("nice_len")?,
        match_finder,
        depth: options.u32("depth")?,
    })
}
