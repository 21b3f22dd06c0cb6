//! Bit rounding: the lowest bits of every number are rounded away, so that compressors find more.
//!
//! Floating-point numbers keep `keepbits` bits of the mantissa, ties to even, as in numcodecs.
//! Integers keep as many bits from the highest set bit on, as in the registered `bitround`.
//! Decoding changes nothing.

use crate::elements::Filter;
use crate::error::{CodecError, Result};
use crate::number::{NumberKind, Type, swap, swap_in_place};

const NAME: &str = "bitround";

/// The bitround codec.
#[derive(Debug)]
pub(crate) struct BitRound {
    keep_bits: u32,
    /// Bits of the mantissa; `None` for integers.
    mantissa_bits: Option<u32>,
    word_bytes: usize,
    big: bool,
}

impl BitRound {
    /// Keeps `keep_bits` bits of the numbers that `dtype` names.
    pub(crate) fn new(keep_bits: u32, dtype: &str) -> Result<Self> {
        let (word_bytes, big, mantissa_bits) =
            layout(dtype).ok_or_else(|| CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: format!("dtype is {dtype:?}, allowed: floats, complex numbers, integers"),
            })?;
        Ok(Self { keep_bits, mantissa_bits, word_bytes, big })
    }

    /// Whether there are enough bits to keep, which numcodecs requires.
    pub(crate) fn fits(&self) -> bool {
        self.mantissa_bits.is_some_and(|bits| self.keep_bits <= bits)
    }
}

/// Bytes of a word, whether they are big-endian, and bits of its mantissa if it has one.
fn layout(dtype: &str) -> Option<(usize, bool, Option<u32>)> {
    let big = dtype.starts_with('>');
    match dtype.trim_start_matches(['<', '>', '|', '=']) {
        "bfloat16" | "complex_bfloat16" => return Some((2, big, Some(7))),
        "complex_float16" => return Some((2, big, Some(10))),
        "c8" | "complex64" | "complex_float32" => return Some((4, big, Some(23))),
        "c16" | "complex128" | "complex_float64" => return Some((8, big, Some(52))),
        time if time.starts_with("M8") || time.starts_with("m8") => return Some((8, big, None)),
        _ => {}
    }
    let number = Type::parse(dtype)?;
    let mantissa_bits = match (number.kind, number.bytes) {
        (NumberKind::Bool, _) => return None,
        (NumberKind::Int | NumberKind::Uint, _) => None,
        (NumberKind::Float, 2) => Some(10),
        (NumberKind::Float, 4) => Some(23),
        (NumberKind::Float, _) => Some(52),
    };
    Some((number.bytes, number.big, mantissa_bits))
}

/// Rounds every word of a native run.
macro_rules! round {
    ($word:ty, $run:expr, $keep_bits:expr, $mantissa_bits:expr) => {
        for bytes in $run.as_chunks_mut::<{ size_of::<$word>() }>().0 {
            let word = <$word>::from_ne_bytes(*bytes);
            let bits = $mantissa_bits.unwrap_or(<$word>::BITS - word.leading_zeros());
            let cut_bits = bits.saturating_sub($keep_bits);
            if cut_bits > 0 {
                let half = (1 << (cut_bits - 1)) - 1 + (word >> cut_bits & 1);
                let rounded = match $mantissa_bits {
                    Some(_) => word.wrapping_add(half),
                    None => word.saturating_add(half),
                };
                *bytes = (rounded >> cut_bits << cut_bits).to_ne_bytes();
            }
        }
    };
}

impl Filter for BitRound {
    fn name(&self) -> &'static str {
        NAME
    }

    fn element_bytes(&self) -> (usize, usize) {
        (self.word_bytes, self.word_bytes)
    }

    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let foreign = self.big != cfg!(target_endian = "big");
        swap(if foreign { self.word_bytes } else { 1 }, src, dst);
        match self.word_bytes {
            1 => round!(u8, dst, self.keep_bits, self.mantissa_bits),
            2 => round!(u16, dst, self.keep_bits, self.mantissa_bits),
            4 => round!(u32, dst, self.keep_bits, self.mantissa_bits),
            _ => round!(u64, dst, self.keep_bits, self.mantissa_bits),
        }
        if foreign {
            swap_in_place(self.word_bytes, dst);
        }
        Ok(())
    }

    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(src);
        Ok(())
    }
}
