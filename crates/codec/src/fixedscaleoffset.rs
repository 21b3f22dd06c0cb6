//! The fixedscaleoffset filter of numcodecs: `round((x - offset) * scale)`, stored as `astype`.
//!
//! The type of each step is the one NumPy 2 takes: whole numbers leave integers what they are and
//! make them wrap, numbers with a fraction take integers to double precision, and neither widens
//! a float. So `1000` and `1000.0` are not the same offset.

use serde_json::Number as Json;

use crate::elements::Filter;
use crate::error::{CodecError, Result};
use crate::number::{BLOCK, NumberKind, Real, Step, Type, cast, compute, map};

const NAME: &str = "fixedscaleoffset";
const INT64: Type = Type { kind: NumberKind::Int, bytes: 8, big: cfg!(target_endian = "big") };
const FLOAT64: Type = Type { kind: NumberKind::Float, bytes: 8, big: cfg!(target_endian = "big") };

/// The numcodecs fixedscaleoffset filter.
#[derive(Debug)]
pub(crate) struct FixedScaleOffset {
    offset: Parameter,
    scale: Parameter,
    decoded: Type,
    encoded: Type,
}

/// A parameter as a Python number.
#[derive(Clone, Copy, Debug)]
struct Parameter {
    value: f64,
    /// The lowest 64 bits, when it is a whole number and an integer stays one beside it.
    integer: Option<i64>,
}

impl Parameter {
    fn new(key: &str, number: &Json, beside: Type) -> Result<Self> {
        let wrong = |allowed: &str| refused(format!("{key} is {number}, allowed: {allowed}"));
        let value = number.as_f64().ok_or_else(|| wrong("a finite number"))?;
        let integer = match number.as_i128() {
            Some(integer) if beside.kind != NumberKind::Float => {
                let unused = 128 - 8 * beside.bytes as u32;
                let kept = match beside.kind {
                    NumberKind::Uint => ((integer as u128) << unused >> unused) as i128,
                    _ => integer << unused >> unused,
                };
                if kept != integer {
                    return Err(wrong("a number that fits dtype"));
                }
                Some(integer as i64)
            }
            _ => None,
        };
        Ok(Self { value, integer })
    }
}

fn refused(reason: String) -> CodecError {
    CodecError::Configuration { codec: NAME.to_owned(), reason }
}

struct Encode {
    offset: f64,
    scale: f64,
}

impl Step for Encode {
    fn run<R: Real>(&self, run: &mut [u8]) {
        let (offset, scale) = (R::of(self.offset), R::of(self.scale));
        map(run, |value: R| value.minus(offset).times(scale).rounded());
    }
}

struct Decode {
    offset: f64,
    scale: f64,
}

impl Step for Decode {
    fn run<R: Real>(&self, run: &mut [u8]) {
        let (offset, scale) = (R::of(self.offset), R::of(self.scale));
        map(run, |value: R| value.over(scale).plus(offset));
    }
}

/// The type in which NumPy computes with numbers of `stored` and a float.
fn real(stored: Type) -> Type {
    if stored.kind == NumberKind::Float { stored.native() } else { FLOAT64 }
}

impl FixedScaleOffset {
    /// `dtype` is what is encoded, `astype` what is stored.
    pub(crate) fn new(offset: &Json, scale: &Json, dtype: &str, astype: &str) -> Result<Self> {
        let parse = |key: &str, text: &str| match Type::configured(NAME, key, text)? {
            Type { kind: NumberKind::Bool, .. } => {
                Err(refused(format!("{key} is {text:?}, allowed: integers and floats")))
            }
            number => Ok(number),
        };
        let (decoded, encoded) = (parse("dtype", dtype)?, parse("astype", astype)?);
        let offset = Parameter::new("offset", offset, decoded)?;
        // Beside an offset with a fraction the scale meets floats only.
        let beside = if offset.integer.is_some() { decoded } else { FLOAT64 };
        Ok(Self { offset, scale: Parameter::new("scale", scale, beside)?, decoded, encoded })
    }

    fn encode_block(&self, src: &[u8], dst: &mut [u8]) {
        let (native, real) = (self.decoded.native(), real(self.decoded));
        let elements = src.len() / self.decoded.bytes;
        let (mut block, mut integers) = ([0; 8 * BLOCK], [0; 8 * BLOCK]);
        let mut step = Encode { offset: self.offset.value, scale: self.scale.value };
        if let Some(offset) = self.offset.integer {
            let wide = &mut block[..8 * elements];
            cast(self.decoded, INT64, src, wide);
            for element in wide.as_chunks_mut::<8>().0 {
                let value = i64::from_ne_bytes(*element).wrapping_sub(offset);
                *element = value.wrapping_mul(self.scale.integer.unwrap_or(1)).to_ne_bytes();
            }
            let integers = &mut integers[..src.len()];
            cast(INT64, native, wide, integers);
            if self.scale.integer.is_some() {
                return cast(native, self.encoded, integers, dst);
            }
            step.offset = 0.0;
            cast(native, real, integers, &mut block[..real.bytes * elements]);
        } else {
            cast(self.decoded, real, src, &mut block[..real.bytes * elements]);
        }
        let block = &mut block[..real.bytes * elements];
        compute(real, &step, block);
        cast(real, self.encoded, block, dst);
    }
}

impl Filter for FixedScaleOffset {
    fn name(&self) -> &'static str {
        NAME
    }

    fn element_bytes(&self) -> (usize, usize) {
        (self.decoded.bytes, self.encoded.bytes)
    }

    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let (decoded, encoded) = (self.decoded.bytes * BLOCK, self.encoded.bytes * BLOCK);
        for (src, dst) in src.chunks(decoded).zip(dst.chunks_mut(encoded)) {
            self.encode_block(src, dst);
        }
        Ok(())
    }

    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let real = real(self.encoded);
        let step = Decode { offset: self.offset.value, scale: self.scale.value };
        let (decoded, encoded) = (self.decoded.bytes * BLOCK, self.encoded.bytes * BLOCK);
        let mut block = [0; 8 * BLOCK];
        for (src, dst) in src.chunks(encoded).zip(dst.chunks_mut(decoded)) {
            let block = &mut block[..src.len() / self.encoded.bytes * real.bytes];
            cast(self.encoded, real, src, block);
            compute(real, &step, block);
            cast(real, self.decoded, block, dst);
        }
        Ok(())
    }
}
