//! The quantize filter of numcodecs: floating-point numbers rounded to decimal digits.

use crate::elements::Filter;
use crate::error::{CodecError, Result};
use crate::number::{BLOCK, NumberKind, Real, Step, Type, cast, compute, map};

const NAME: &str = "quantize";

/// The numcodecs quantize filter.
#[derive(Debug)]
pub(crate) struct Quantize {
    scale: f64,
    decoded: Type,
    encoded: Type,
}

impl Quantize {
    /// Keeps `digits` decimal digits of `dtype`, stored as `astype`.
    pub(crate) fn new(digits: i32, dtype: &str, astype: &str) -> Result<Self> {
        let parse = |key: &str, text: &str| match Type::configured(NAME, key, text)? {
            real if real.kind == NumberKind::Float => Ok(real),
            _ => Err(refused(format!("{key} is {text:?}, allowed: floating-point numbers"))),
        };
        let scale = scale(digits).ok_or_else(|| {
            refused(format!("digits is {digits}, allowed: what a power of 10 can express"))
        })?;
        Ok(Self { scale, decoded: parse("dtype", dtype)?, encoded: parse("astype", astype)? })
    }
}

fn refused(reason: String) -> CodecError {
    CodecError::Configuration { codec: NAME.to_owned(), reason }
}

/// The power of two whose inverse is the first below the precision, as numcodecs computes it.
fn scale(digits: i32) -> Option<f64> {
    let precision = 10_f64.powf(-f64::from(digits));
    let exponent = precision.log10();
    let exponent = if exponent < 0.0 { exponent.floor() } else { exponent.ceil() };
    let bits = 10_f64.powf(-exponent).log2().ceil();
    let scale = 2_f64.powf(bits);
    (precision > 0.0 && precision.is_finite() && scale > 0.0 && scale.is_finite()).then_some(scale)
}

impl Step for Quantize {
    fn run<R: Real>(&self, run: &mut [u8]) {
        let (scale, inverse) = (R::of(self.scale), R::of(1.0 / self.scale));
        // The inverse of a power of two is one too, where the type has it, and a product is as
        // exact as the quotient and much faster.
        if scale.times(inverse).double() == 1.0 {
            map(run, |value: R| scale.times(value).rounded().times(inverse));
        } else {
            map(run, |value: R| scale.times(value).rounded().over(scale));
        }
    }
}

impl Filter for Quantize {
    fn name(&self) -> &'static str {
        NAME
    }

    fn element_bytes(&self) -> (usize, usize) {
        (self.decoded.bytes, self.encoded.bytes)
    }

    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let native = self.decoded.native();
        let (decoded, encoded) = (self.decoded.bytes * BLOCK, self.encoded.bytes * BLOCK);
        let mut block = [0; 8 * BLOCK];
        for (src, dst) in src.chunks(decoded).zip(dst.chunks_mut(encoded)) {
            let block = &mut block[..src.len()];
            cast(self.decoded, native, src, block);
            compute(native, self, block);
            cast(native, self.encoded, block, dst);
        }
        Ok(())
    }

    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        cast(self.encoded, self.decoded, src, dst);
        Ok(())
    }
}
