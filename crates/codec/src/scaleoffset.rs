//! The registered scale_offset codec: `(x - offset) * scale` in the type of the elements.
//!
//! Floating-point numbers are rounded to their type after each step. Integers are exact or an
//! error: they never wrap, and a stored number that the scale does not divide is corrupt.

use crate::elements::Filter;
use crate::error::{CodecError, Result};
use crate::number::{BLOCK, Number, NumberKind, Real, Step, Type, cast, compute, map};

const NAME: &str = "scale_offset";
const INT64: Type = Type { kind: NumberKind::Int, bytes: 8, big: cfg!(target_endian = "big") };

/// Offset and scale, as the elements' type has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parameters {
    Integers { offset: i128, scale: i128 },
    Reals { offset: f64, scale: f64 },
}

/// The scale_offset codec.
#[derive(Debug)]
pub(crate) struct ScaleOffset {
    dtype: Type,
    parameters: Parameters,
}

impl ScaleOffset {
    /// `parameters` are of the kind that `dtype` is, and the scale is not 0.
    pub(crate) fn new(dtype: Type, parameters: Parameters) -> Self {
        Self { dtype, parameters }
    }

    /// The integers that the type has.
    fn range(&self) -> std::ops::Range<i128> {
        let bits = 8 * self.dtype.bytes as u32;
        match self.dtype.kind {
            NumberKind::Int => -(1_i128 << (bits - 1))..1 << (bits - 1),
            _ => 0..1 << bits,
        }
    }

    /// Replaces every integer of `src`; the index of one without a result is the error.
    fn integers(
        &self,
        src: &[u8],
        dst: &mut [u8],
        step: impl Fn(i128) -> Option<i128>,
    ) -> std::result::Result<(), usize> {
        let range = self.range();
        let elements = src.chunks_exact(self.dtype.bytes);
        for (index, (from, to)) in elements.zip(dst.chunks_exact_mut(self.dtype.bytes)).enumerate()
        {
            let value = match self.dtype.read(from) {
                Number::Uint(value) => i128::from(value),
                Number::Int(value) => i128::from(value),
                _ => return Err(index),
            };
            let result = step(value).filter(|result| range.contains(result)).ok_or(index)?;
            self.dtype.write(Number::Uint(result as u64), to);
        }
        Ok(())
    }

    /// The same if 64 bits hold every step, as for types of up to 32 bits.
    ///
    /// For a value without a result, `step` may return anything outside the range of 32 bits.
    fn small_integers(
        &self,
        src: &[u8],
        dst: &mut [u8],
        step: impl Fn(i64) -> i64,
    ) -> std::result::Result<(), usize> {
        let range = self.range();
        let range = range.start as i64..range.end as i64;
        let bytes = self.dtype.bytes;
        let mut block = [0; 8 * BLOCK];
        let blocks = src.chunks(bytes * BLOCK).zip(dst.chunks_mut(bytes * BLOCK));
        for (index, (src, dst)) in blocks.enumerate() {
            let block = &mut block[..src.len() / bytes * 8];
            cast(self.dtype, INT64, src, block);
            let words = block.as_chunks_mut::<8>().0;
            let mut all_fit = true;
            for word in &mut *words {
                let result = step(i64::from_ne_bytes(*word));
                all_fit &= range.contains(&result);
                *word = result.to_ne_bytes();
            }
            if !all_fit {
                let fits = |word: &[u8; 8]| range.contains(&i64::from_ne_bytes(*word));
                let first = words.iter().position(|word| !fits(word)).unwrap_or(0);
                return Err(index * BLOCK + first);
            }
            cast(INT64, self.dtype, block, dst);
        }
        Ok(())
    }

    fn encode_integers(
        &self,
        src: &[u8],
        dst: &mut [u8],
        (offset, scale): (i128, i128),
    ) -> std::result::Result<(), usize> {
        if self.dtype.bytes == 8 {
            return self.integers(src, dst, |value| (value - offset).checked_mul(scale));
        }
        let (offset, scale) = (offset as i64, scale as i64);
        self.small_integers(src, dst, |value| {
            (value - offset).checked_mul(scale).unwrap_or(i64::MAX)
        })
    }

    fn decode_integers(
        &self,
        src: &[u8],
        dst: &mut [u8],
        (offset, scale): (i128, i128),
    ) -> std::result::Result<(), usize> {
        if self.dtype.bytes == 8 {
            return self
                .integers(src, dst, |value| (value % scale == 0).then(|| value / scale + offset));
        }
        let (offset, scale) = (offset as i64, scale as i64);
        // Numbers of 32 bits are divided exactly by doubles, and much faster than by integers.
        let divisor = scale as f64;
        self.small_integers(src, dst, |value| {
            let quotient = (value as f64 / divisor) as i64;
            if quotient * scale == value { quotient + offset } else { i64::MAX }
        })
    }

    fn reals(&self, src: &[u8], dst: &mut [u8], step: &impl Step) {
        let native = self.dtype.native();
        let bytes = self.dtype.bytes * BLOCK;
        let mut block = [0; 8 * BLOCK];
        for (src, dst) in src.chunks(bytes).zip(dst.chunks_mut(bytes)) {
            let block = &mut block[..src.len()];
            cast(self.dtype, native, src, block);
            compute(native, step, block);
            cast(native, self.dtype, block, dst);
        }
    }
}

struct Encode(f64, f64);

impl Step for Encode {
    fn run<R: Real>(&self, run: &mut [u8]) {
        let (offset, scale) = (R::of(self.0), R::of(self.1));
        map(run, |value: R| value.minus(offset).times(scale));
    }
}

struct Decode(f64, f64);

impl Step for Decode {
    fn run<R: Real>(&self, run: &mut [u8]) {
        let (offset, scale) = (R::of(self.0), R::of(self.1));
        map(run, |value: R| value.over(scale).plus(offset));
    }
}

impl Filter for ScaleOffset {
    fn name(&self) -> &'static str {
        NAME
    }

    fn element_bytes(&self) -> (usize, usize) {
        (self.dtype.bytes, self.dtype.bytes)
    }

    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        match self.parameters {
            Parameters::Reals { offset, scale } => self.reals(src, dst, &Encode(offset, scale)),
            Parameters::Integers { offset, scale } => self
                .encode_integers(src, dst, (offset, scale))
                .map_err(|index| CodecError::Encode {
                    codec: NAME,
                    reason: format!("element {index} is out of range when scaled"),
                })?,
        }
        Ok(())
    }

    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        match self.parameters {
            Parameters::Reals { offset, scale } => self.reals(src, dst, &Decode(offset, scale)),
            Parameters::Integers { offset, scale } => {
                self.decode_integers(src, dst, (offset, scale)).map_err(|index| {
                    CodecError::corrupt(
                        NAME,
                        format!("element {index} is not a value that scale {scale} gives"),
                    )
                })?
            }
        }
        Ok(())
    }
}
