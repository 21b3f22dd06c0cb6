//! The registered scale_offset codec: `(x - offset) * scale` in the type of the elements.
//!
//! Floating-point numbers are rounded to their type after each step. Integers are exact or an error:
//! nothing wraps, and what scale does not divide was not encoded with it.

use crate::elements::Filter;
use crate::number::{BLOCK, Kind, Number, Real, Step, Type, cast, compute, map};
use crate::{CodecError, Result};

const NAME: &str = "scale_offset";

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

    /// Replaces every integer of `src`; the number of the first that has no result otherwise.
    fn integers(
        &self,
        src: &[u8],
        dst: &mut [u8],
        step: impl Fn(i128) -> Option<i128>,
    ) -> std::result::Result<(), usize> {
        let bits = 8 * self.dtype.bytes as u32;
        let range = match self.dtype.kind {
            Kind::Int => -(1_i128 << (bits - 1))..1 << (bits - 1),
            _ => 0..1 << bits,
        };
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
                .integers(src, dst, |value| (value - offset).checked_mul(scale))
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
            Parameters::Integers { offset, scale } => self
                .integers(src, dst, |value| (value % scale == 0).then(|| value / scale + offset))
                .map_err(|index| {
                    CodecError::corrupt(
                        NAME,
                        format!("element {index} is no value that scale {scale} gives"),
                    )
                })?,
        }
        Ok(())
    }
}
