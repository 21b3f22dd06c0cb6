//! The registered cast_value codec: values, not bits, from one type of numbers to another.
//!
//! The cases that NumPy's casts leave undefined are configured here: how a value between two of the
//! target is rounded, and whether a value outside its range is an error, is clipped or wraps.
//! Infinities and NaN become integers only if the configuration maps them. Blocks whose values all
//! fit use the casts that every filter has; other blocks are cast value by value.

use crate::elements::Filter;
use crate::error::{CodecError, Result};
use crate::number::{BLOCK, Number, NumberKind, Real, Step, Type, cast, compute, map};

const NAME: &str = "cast_value";

/// How a value is rounded that lies between two of the target's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    NearestEven,
    NearestAway,
    TowardsZero,
    TowardsPositive,
    TowardsNegative,
}

/// What happens to a value outside the target's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfRange {
    Error,
    Clamp,
    Wrap,
}

/// A value of any of the types, exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Int(i128),
    Real(f64),
}

impl Value {
    fn of(number: Number) -> Self {
        match number {
            Number::Int(value) => Self::Int(value.into()),
            Number::Uint(value) => Self::Int(value.into()),
            Number::Half(value) | Number::Single(value) => Self::Real(value.into()),
            Number::Double(value) => Self::Real(value),
        }
    }

    fn number(self) -> Number {
        match self {
            Self::Int(value) => match i64::try_from(value) {
                Ok(value) => Number::Int(value),
                Err(_) => Number::Uint(value as u64),
            },
            Self::Real(value) => Number::Double(value),
        }
    }

    /// Equal in value, or both NaN.
    fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Real(a), Self::Real(b)) => a == b || (a.is_nan() && b.is_nan()),
            _ => false,
        }
    }

    pub(crate) fn real(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// `self - real`, whose sign is exact; both are so near that a float's is too.
    fn less(self, real: f64) -> f64 {
        match self {
            Self::Int(value) => (value - real as i128) as f64,
            Self::Real(value) => value - real,
        }
    }
}

/// The cast in one direction.
#[derive(Debug)]
pub(crate) struct Cast {
    from: Type,
    to: Type,
    rounding: Rounding,
    out_of_range: OutOfRange,
    /// Values with a result of their own.
    mapped: Vec<(Value, Number)>,
}

/// Why a value has no cast.
#[derive(Clone, Copy, Debug)]
enum Failure {
    OutOfRange(Value),
    NotFinite(f64),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfRange(Value::Int(value)) => write!(f, "{value} is out of range")?,
            Self::OutOfRange(Value::Real(value)) => write!(f, "{value:e} is out of range")?,
            Self::NotFinite(value) => {
                return write!(f, "{value} is not an integer (see scalar_map)");
            }
        }
        write!(f, " (see out_of_range)")
    }
}

impl Cast {
    /// Values of `from` to values of `to`.
    pub(crate) fn new(
        from: Type,
        to: Type,
        rounding: Rounding,
        out_of_range: OutOfRange,
        map: &[(Value, Value)],
    ) -> Self {
        let mapped = map.iter().map(|(key, value)| (*key, to.cast(value.number()))).collect();
        Self { from, to, rounding, out_of_range, mapped }
    }

    fn run(&self, src: &[u8], dst: &mut [u8]) -> std::result::Result<(), Failure> {
        let (from, to) = (self.from.bytes, self.to.bytes);
        for (src, dst) in src.chunks(from * BLOCK).zip(dst.chunks_mut(to * BLOCK)) {
            if self.mapped.is_empty() && self.fits(src) {
                self.cast_block(src, dst);
                continue;
            }
            for (src, dst) in src.chunks_exact(from).zip(dst.chunks_exact_mut(to)) {
                self.to.write(self.one(self.from.read(src))?, dst);
            }
        }
        Ok(())
    }

    /// Whether all values of a block are in the target's range and need no rounding but that of
    /// the plain cast, or of [`Cast::cast_block`].
    fn fits(&self, src: &[u8]) -> bool {
        let bits = 8 * self.to.bytes as i32;
        let (low, high) = match (self.from.kind, self.to.kind) {
            (NumberKind::Float, NumberKind::Float) if self.to.bytes >= self.from.bytes => {
                return true;
            }
            (_, NumberKind::Float) if self.rounding != Rounding::NearestEven => return false,
            (_, NumberKind::Float) => (-largest(self.to), largest(self.to)),
            // Half an integer beyond the limits may be rounded to them or not.
            (_, NumberKind::Int) => (-(2_f64.powi(bits - 1)), 2_f64.powi(bits - 1) - 1.0),
            _ => (0.0, 2_f64.powi(bits) - 1.0),
        };
        // As doubles, the limits of 64 bits are just outside the range, and values near them round.
        let (low, high) = if self.to.kind != NumberKind::Float && bits == 64 {
            (low, high * (1.0 - f64::EPSILON))
        } else {
            (low, high)
        };
        let mut block = [0; 8 * BLOCK];
        let block = &mut block[..src.len() / self.from.bytes * 8];
        cast(self.from, DOUBLE, src, block);
        let doubles = block.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
        doubles.fold(true, |fit, value| fit & (low <= value) & (value <= high))
    }

    /// Casts a block of values that fit.
    fn cast_block(&self, src: &[u8], dst: &mut [u8]) {
        if self.from.kind != NumberKind::Float || self.to.kind == NumberKind::Float {
            return cast(self.from, self.to, src, dst);
        }
        let real = self.from.native();
        let mut block = [0; 8 * BLOCK];
        let block = &mut block[..src.len()];
        cast(self.from, real, src, block);
        compute(real, self, block);
        cast(real, self.to, block, dst);
    }

    /// One value, with everything that can happen to it.
    fn one(&self, number: Number) -> std::result::Result<Number, Failure> {
        let value = Value::of(number);
        if let Some((_, mapped)) = self.mapped.iter().find(|(key, _)| key.same(value)) {
            return Ok(*mapped);
        }
        match (value, self.to.kind) {
            (_, NumberKind::Float) => self.one_to_real(value, number),
            (Value::Int(value), _) => self.one_to_integer(value),
            (Value::Real(real), _) if !real.is_finite() => Err(Failure::NotFinite(real)),
            (Value::Real(real), _) => {
                let whole = rounded(real, self.rounding);
                if whole.abs() < 2_f64.powi(100) {
                    return self.one_to_integer(whole as i128);
                }
                match self.out_of_range {
                    // The remainder is exact, and below what 128 bits hold.
                    OutOfRange::Wrap => self.one_to_integer((whole % 2_f64.powi(64)) as i128),
                    OutOfRange::Clamp => {
                        self.one_to_integer(if whole < 0.0 { i128::MIN } else { i128::MAX })
                    }
                    OutOfRange::Error => Err(Failure::OutOfRange(value)),
                }
            }
        }
    }

    fn one_to_integer(&self, value: i128) -> std::result::Result<Number, Failure> {
        let bits = 8 * self.to.bytes as u32;
        let (low, high) = match self.to.kind {
            NumberKind::Int => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            _ => (0, (1_i128 << bits) - 1),
        };
        if (low..=high).contains(&value) {
            return Ok(Value::Int(value).number());
        }
        match self.out_of_range {
            OutOfRange::Error => Err(Failure::OutOfRange(Value::Int(value))),
            OutOfRange::Clamp => Ok(Value::Int(value.clamp(low, high)).number()),
            OutOfRange::Wrap => Ok(self.to.wrapped(Number::Int(value as i64))),
        }
    }

    fn one_to_real(&self, value: Value, number: Number) -> std::result::Result<Number, Failure> {
        let real = value.real();
        if !real.is_finite() {
            return Ok(number);
        }
        // Above the largest value there would be one more, which is out of range.
        let beyond = match self.to.bytes {
            2 => 2_f64.powi(16),
            4 => 2_f64.powi(127) * 2.0,
            _ => f64::INFINITY,
        };
        let nearest = Value::of(self.to.cast(number)).real();
        let rounded = if real.abs() >= beyond {
            f64::INFINITY.copysign(real)
        } else {
            self.other_neighbour(value, nearest, beyond)
        };
        if rounded.is_finite() || self.out_of_range == OutOfRange::Clamp {
            return Ok(self.to.cast(Number::Double(rounded)));
        }
        Err(Failure::OutOfRange(value))
    }

    /// `nearest` to `value`, or the neighbouring value of the target on the other side if the
    /// rounding requires it.
    fn other_neighbour(&self, value: Value, nearest: f64, beyond: f64) -> f64 {
        let finite = |real: f64| if real.is_finite() { real } else { beyond.copysign(real) };
        let above = value.less(finite(nearest));
        let positive = value.less(0.0) > 0.0;
        let up = match self.rounding {
            _ if above == 0.0 => return nearest,
            Rounding::NearestEven => return nearest,
            Rounding::TowardsPositive => true,
            Rounding::TowardsNegative => false,
            Rounding::TowardsZero => !positive,
            Rounding::NearestAway => {
                let other = next(self.to, nearest, above > 0.0);
                let tie = value.less(finite(other)).abs() == above.abs();
                if !tie {
                    return nearest;
                }
                positive
            }
        };
        if up == (above > 0.0) { next(self.to, nearest, up) } else { nearest }
    }
}

const DOUBLE: Type = Type { kind: NumberKind::Float, bytes: 8, big: cfg!(target_endian = "big") };

/// The largest value of a type of floats.
fn largest(real: Type) -> f64 {
    match real.bytes {
        2 => 65504.0,
        4 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

/// The value of `real` that follows `value` in one direction.
fn next(real: Type, value: f64, up: bool) -> f64 {
    match (real.bytes, up) {
        (2, _) => next_half(value, up),
        (4, true) => f64::from((value as f32).next_up()),
        (4, false) => f64::from((value as f32).next_down()),
        (_, true) => value.next_up(),
        (_, false) => value.next_down(),
    }
}

/// The half that follows a half: one unit of its last place further, which a double can be added.
fn next_half(value: f64, up: bool) -> f64 {
    if value.is_infinite() {
        return if (value > 0.0) == up { value } else { 65504_f64.copysign(value) };
    }
    // Down to 2^-14 a half has ten bits after the first.
    let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
    let towards_zero = (value > 0.0) != up && value != 0.0;
    let lower_edge = towards_zero && value.abs() == 2_f64.powi(exponent) && exponent > -14;
    let unit = 2_f64.powi(exponent.max(-14) - 10 - i32::from(lower_edge));
    let stepped = if up { value + unit } else { value - unit };
    if stepped.abs() > 65504.0 { f64::INFINITY.copysign(stepped) } else { stepped }
}

fn rounded(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => value.rounded(),
        Rounding::NearestAway => value.round(),
        Rounding::TowardsZero => value.trunc(),
        Rounding::TowardsPositive => value.ceil(),
        Rounding::TowardsNegative => value.floor(),
    }
}

impl Step for Cast {
    fn run<R: Real>(&self, run: &mut [u8]) {
        match self.rounding {
            Rounding::NearestEven => map(run, R::rounded),
            // The cast to integers that follows cuts.
            Rounding::TowardsZero => {}
            other => map(run, |value: R| R::of(rounded(value.double(), other))),
        }
    }
}

/// The cast_value codec.
#[derive(Debug)]
pub(crate) struct CastValue {
    pub(crate) encode: Cast,
    pub(crate) decode: Cast,
}

impl Filter for CastValue {
    fn name(&self) -> &'static str {
        NAME
    }

    fn element_bytes(&self) -> (usize, usize) {
        (self.encode.from.bytes, self.encode.to.bytes)
    }

    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.encode
            .run(src, dst)
            .map_err(|failure| CodecError::Encode { codec: NAME, reason: failure.to_string() })
    }

    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.decode.run(src, dst).map_err(|failure| CodecError::corrupt(NAME, failure.to_string()))
    }
}
