//! The delta filter of numcodecs: the first element, then the difference of each to the one before.
//!
//! It is NumPy's arithmetic that defines the bytes: differences wrap in `dtype`, are cast to
//! `astype`, and the running sum is taken in the type that NumPy promotes the two to, so that
//! floating-point results are equal to the last bit.

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::number::{Number, NumberKind, Type};
use crate::scratch::Scratch;

const NAME: &str = "delta";

/// The numcodecs delta filter.
#[derive(Debug)]
pub struct Delta {
    decoded: Type,
    encoded: Type,
}

impl Delta {
    /// Both are NumPy type strings (or names) of integers or floating-point numbers.
    pub fn new(dtype: &str, astype: &str) -> Result<Self> {
        let parse = |key: &str, text: &str| match Type::configured(NAME, key, text)? {
            Type { kind: NumberKind::Bool, .. } => Err(CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: format!("{key} is {text:?}, and booleans have no differences"),
            }),
            other => Ok(other),
        };
        Ok(Self { decoded: parse("dtype", dtype)?, encoded: parse("astype", astype)? })
    }

    /// Whether all arithmetic is that of integers, which the fast loops do.
    fn is_integer(&self) -> bool {
        self.encoded.promoted(self.decoded).kind != NumberKind::Float
    }
}

/// Calls `$function` with the widths of both types as constants.
macro_rules! with_widths {
    ($function:ident, $from:expr, $to:expr, $src:expr, $dst:expr) => {
        with_widths!(@from $function, $from, $to, $src, $dst, [1, 2, 4, 8])
    };
    (@from $function:ident, $from:expr, $to:expr, $src:expr, $dst:expr, [$($width:literal),*]) => {
        match $from.bytes {
            $($width => match $to.bytes {
                1 => $function::<$width, 1>($from, $to, $src, $dst),
                2 => $function::<$width, 2>($from, $to, $src, $dst),
                4 => $function::<$width, 4>($from, $to, $src, $dst),
                _ => $function::<$width, 8>($from, $to, $src, $dst),
            },)*
            _ => {}
        }
    };
}

/// Differences of integers of `D` bytes, stored in `A` bytes.
fn differences<const D: usize, const A: usize>(
    decoded: Type,
    encoded: Type,
    src: &[u8],
    dst: &mut [u8],
) {
    let mut before = 0;
    for (from, to) in src.as_chunks::<D>().0.iter().zip(dst.as_chunks_mut::<A>().0) {
        let value = decoded.read_integer(*from);
        *to = encoded.write_integer(decoded.wrapped_integer(value.wrapping_sub(before)));
        before = value;
    }
}

/// Running sums, in `D` bytes, of integers of `A` bytes.
fn sums<const A: usize, const D: usize>(encoded: Type, decoded: Type, src: &[u8], dst: &mut [u8]) {
    let mut sum = 0_u64;
    for (from, to) in src.as_chunks::<A>().0.iter().zip(dst.as_chunks_mut::<D>().0) {
        sum = sum.wrapping_add(encoded.read_integer(*from));
        *to = decoded.write_integer(sum);
    }
}

impl Codec for Delta {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        let elements = decoded_bytes / self.decoded.bytes;
        EncodedSize::Exact(elements.saturating_mul(self.encoded.bytes))
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        if decoded_bytes.is_multiple_of(self.decoded.bytes) {
            return Ok(());
        }
        Err(CodecError::Configuration {
            codec: NAME.to_owned(),
            reason: format!(
                "a chunk of {decoded_bytes} bytes is not a whole number of {}-byte elements",
                self.decoded.bytes
            ),
        })
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        self.check_decoded(src.len())?;
        dst.clear();
        dst.set_length(src.len() / self.decoded.bytes * self.encoded.bytes)?;
        if self.is_integer() {
            with_widths!(differences, self.decoded, self.encoded, src, dst);
            return Ok(());
        }
        let mut before: Option<Number> = None;
        let elements = src.chunks_exact(self.decoded.bytes);
        for (from, to) in elements.zip(dst.chunks_exact_mut(self.encoded.bytes)) {
            let value = self.decoded.read(from);
            let difference = match before {
                None => value,
                Some(before) => self.decoded.wrapped(value.minus(before)),
            };
            self.encoded.write(difference, to);
            before = Some(value);
        }
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let elements = src.len() / self.encoded.bytes;
        if !src.len().is_multiple_of(self.encoded.bytes)
            || elements.checked_mul(self.decoded.bytes) != Some(dst.len())
        {
            return Err(CodecError::corrupt(
                NAME,
                format!(
                    "{} bytes are not the {}-byte differences of {} bytes",
                    src.len(),
                    self.encoded.bytes,
                    dst.len()
                ),
            ));
        }
        if self.is_integer() {
            with_widths!(sums, self.encoded, self.decoded, src, dst);
            return Ok(());
        }
        let sum_type = self.encoded.promoted(self.decoded);
        let mut sum: Option<Number> = None;
        let differences = src.chunks_exact(self.encoded.bytes);
        for (from, to) in differences.zip(dst.chunks_exact_mut(self.decoded.bytes)) {
            let difference = sum_type.cast(self.encoded.read(from));
            let total = sum.map_or(difference, |sum| sum.plus(difference));
            self.decoded.write(total, to);
            sum = Some(total);
        }
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let bytes = (src.len() / self.encoded.bytes).saturating_mul(self.decoded.bytes);
        if bytes > limit_bytes {
            return Err(crate::bounded::too_long(NAME, limit_bytes));
        }
        dst.set_length(bytes)?;
        self.decode_into(src, dst, scratch)
    }
}
