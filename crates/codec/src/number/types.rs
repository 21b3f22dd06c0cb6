//! A value in the arithmetic of its NumPy type, and the conversions between types.

use crate::error::{CodecError, Result};

/// What a number is, apart from its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Bool,
    Int,
    Uint,
    Float,
}

/// A NumPy type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) kind: NumberKind,
    pub(crate) bytes: usize,
    pub(crate) big: bool,
}

/// A value in the arithmetic of its type; integers are kept as wide as any and wrapped when stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Int(i64),
    Uint(u64),
    Half(f32),
    Single(f32),
    Double(f64),
}

impl Type {
    /// From a type string such as `<i4` or `i4`, or a name such as `int32`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let native_big = cfg!(target_endian = "big");
        let (kind, bytes, big) = match text.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), kind, width] => (
                *kind,
                usize::from(width.checked_sub(b'0')?),
                *order == b'>' || (*order == b'=' && native_big),
            ),
            [kind, width] => (*kind, usize::from(width.checked_sub(b'0')?), native_big),
            b"bool" => (b'b', 1, native_big),
            _ => {
                let (name, bits) = text.split_at(text.find(|c: char| c.is_ascii_digit())?);
                let kind = match name {
                    "int" => b'i',
                    "uint" => b'u',
                    "float" => b'f',
                    _ => return None,
                };
                let bits: usize =
                    bits.parse().ok().filter(|bits: &usize| bits.is_multiple_of(8))?;
                (kind, bits / 8, native_big)
            }
        };
        let kind = match (kind, bytes) {
            (b'b', 1) => NumberKind::Bool,
            (b'i', 1 | 2 | 4 | 8) => NumberKind::Int,
            (b'u', 1 | 2 | 4 | 8) => NumberKind::Uint,
            (b'f', 2 | 4 | 8) => NumberKind::Float,
            _ => return None,
        };
        Some(Self { kind, bytes, big: big && bytes > 1 })
    }

    /// The type that a configuration's `key` names.
    ///
    /// # Errors
    ///
    /// [`CodecError::Configuration`] if it is not a NumPy number that we compute with.
    pub(crate) fn configured(codec: &str, key: &str, text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| CodecError::Configuration {
            codec: codec.to_owned(),
            reason: format!(
                "{key} is {text:?}, allowed: booleans, integers of 1, 2, 4 or 8 bytes and \
                 floating-point numbers of 2, 4 or 8 bytes, such as \"<i4\""
            ),
        })
    }

    /// The same type in this machine's byte order.
    pub(crate) const fn native(self) -> Self {
        Self { big: cfg!(target_endian = "big"), ..self }
    }

    /// The type that NumPy computes in when it meets both; byte order is left as it is.
    pub(crate) fn promoted(self, other: Self) -> Self {
        use NumberKind::{Bool, Float, Int, Uint};
        let widest = self.bytes.max(other.bytes);
        let (kind, bytes) = match (self.kind, other.kind) {
            (a, b) if a == b => (a, widest),
            (Float, _) => (Float, widest_float(self.bytes, other.bytes)),
            (_, Float) => (Float, widest_float(other.bytes, self.bytes)),
            (Bool, other_kind) => (other_kind, other.bytes),
            (own_kind, Bool) => (own_kind, self.bytes),
            (Uint, _) if self.bytes == 8 => (Float, 8),
            (_, Uint) if other.bytes == 8 => (Float, 8),
            // The sum is wrapped to the narrower type in the end: 64 bits serve all of them.
            (Int | Uint, _) => (Int, 8),
        };
        Self { kind, bytes, big: self.big }
    }

    /// Reads an element of exactly this type's bytes.
    pub(crate) fn read(self, element: &[u8]) -> Number {
        let mut word = [0; 8];
        if self.big {
            for (to, from) in word.iter_mut().zip(element.iter().rev()) {
                *to = *from;
            }
        } else {
            word[..element.len()].copy_from_slice(element);
        }
        let bits = u64::from_le_bytes(word);
        match (self.kind, self.bytes) {
            (NumberKind::Bool, _) => Number::Uint(u64::from(bits != 0)),
            (NumberKind::Uint, _) => Number::Uint(bits),
            (NumberKind::Int, _) => self.wrapped(Number::Int(bits as i64)),
            (NumberKind::Float, 2) => Number::Half(half_to_single(bits as u16)),
            (NumberKind::Float, 4) => Number::Single(f32::from_bits(bits as u32)),
            (NumberKind::Float, _) => Number::Double(f64::from_bits(bits)),
        }
    }

    /// Reads an integer of this type, `N` bytes wide, sign and all, as 64 bits.
    #[inline(always)]
    pub(crate) fn read_integer<const N: usize>(self, mut element: [u8; N]) -> u64 {
        if self.big {
            element.reverse();
        }
        let mut word = [0; 8];
        word[..N].copy_from_slice(&element);
        self.wrapped_integer(u64::from_le_bytes(word))
    }

    /// The lowest bits of an integer as an element of `N` bytes.
    #[inline(always)]
    pub(crate) fn write_integer<const N: usize>(self, value: u64) -> [u8; N] {
        let mut element = [0; N];
        element.copy_from_slice(&value.to_le_bytes()[..N]);
        if self.big {
            element.reverse();
        }
        element
    }

    /// 64 bits of which only as many count as this type has.
    #[inline(always)]
    pub(crate) fn wrapped_integer(self, value: u64) -> u64 {
        let unused = 64 - 8 * self.bytes as u32;
        match self.kind {
            NumberKind::Int => ((value << unused) as i64 >> unused) as u64,
            _ => value << unused >> unused,
        }
    }

    /// Writes a number as an element of this type, cast as NumPy casts.
    pub(crate) fn write(self, number: Number, element: &mut [u8]) {
        let bits = match self.cast(number) {
            Number::Int(value) => value as u64,
            Number::Uint(value) => value,
            Number::Half(value) => u64::from(double_to_half(f64::from(value))),
            Number::Single(value) => u64::from(value.to_bits()),
            Number::Double(value) => value.to_bits(),
        };
        let word = bits.to_le_bytes();
        for (i, byte) in word.into_iter().take(element.len()).enumerate() {
            let at = if self.big { element.len() - 1 - i } else { i };
            element[at] = byte;
        }
    }

    /// The number in this type's arithmetic.
    pub(crate) fn cast(self, number: Number) -> Number {
        match (self.kind, self.bytes) {
            (NumberKind::Bool, _) => Number::Uint(u64::from(number.to_double() != 0.0)),
            (NumberKind::Int, _) => self.wrapped(Number::Int(number.to_int(self))),
            (NumberKind::Uint, _) => self.wrapped(Number::Uint(number.to_int(self) as u64)),
            (NumberKind::Float, 2) => Number::Half(match number {
                // NumPy takes integers to half precision through single precision.
                Number::Int(_) | Number::Uint(_) => rounded_to_half(f64::from(number.to_single())),
                _ => rounded_to_half(number.to_double()),
            }),
            (NumberKind::Float, 4) => Number::Single(number.to_single()),
            (NumberKind::Float, _) => Number::Double(number.to_double()),
        }
    }

    /// An integer with only as many bits as this type has.
    pub(crate) fn wrapped(self, number: Number) -> Number {
        let unused = 64 - 8 * self.bytes as u32;
        match number {
            Number::Int(value) => Number::Int(value << unused >> unused),
            Number::Uint(value) => Number::Uint(value << unused >> unused),
            float => float,
        }
    }
}

/// The floating-point width that holds a float of `float_bytes` and an integer of `int_bytes`.
fn widest_float(float_bytes: usize, int_bytes: usize) -> usize {
    float_bytes.max((2 * int_bytes).min(8))
}

impl Number {
    /// `self - before`, both of one type.
    pub(crate) fn minus(self, before: Self) -> Self {
        match (self, before) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.wrapping_sub(b)),
            (Self::Uint(a), Self::Uint(b)) => Self::Uint(a.wrapping_sub(b)),
            (Self::Half(a), Self::Half(b)) => Self::Half(rounded_to_half(f64::from(a - b))),
            (Self::Single(a), Self::Single(b)) => Self::Single(a - b),
            (a, b) => Self::Double(a.to_double() - b.to_double()),
        }
    }

    /// `self + difference`, both of one type.
    pub(crate) fn plus(self, difference: Self) -> Self {
        match (self, difference) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.wrapping_add(b)),
            (Self::Uint(a), Self::Uint(b)) => Self::Uint(a.wrapping_add(b)),
            (Self::Half(a), Self::Half(b)) => Self::Half(rounded_to_half(f64::from(a + b))),
            (Self::Single(a), Self::Single(b)) => Self::Single(a + b),
            (a, b) => Self::Double(a.to_double() + b.to_double()),
        }
    }

    /// The integer, 64 bits of it, of which `to` keeps its own; floats are cut towards zero.
    fn to_int(self, to: Type) -> i64 {
        let cut = |value: f64| match (to.kind, to.bytes) {
            (NumberKind::Int, 4) | (_, 1 | 2) => i64::from(cut_to_i32(value)),
            (NumberKind::Uint, 4) => i64::from(cut_to_u32(value)),
            (NumberKind::Int, _) => cut_to_i64(value),
            _ => cut_to_u64(value) as i64,
        };
        match self {
            Self::Int(value) => value,
            Self::Uint(value) => value as i64,
            Self::Half(value) | Self::Single(value) => cut(f64::from(value)),
            Self::Double(value) => cut(value),
        }
    }

    fn to_single(self) -> f32 {
        match self {
            Self::Int(value) => value as f32,
            Self::Uint(value) => value as f32,
            Self::Half(value) | Self::Single(value) => value,
            Self::Double(value) => value as f32,
        }
    }

    fn to_double(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Uint(value) => value as f64,
            Self::Half(value) | Self::Single(value) => f64::from(value),
            Self::Double(value) => value,
        }
    }
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// A float cut to 32 bits, or the lowest number when they cannot hold it.
#[inline(always)]
pub(super) fn cut_to_i32(value: f64) -> i32 {
    #[cfg(target_arch = "x86_64")]
    return crate::sse2::cut_to_i32(value);
    #[cfg(not(target_arch = "x86_64"))]
    if value > -2_147_483_649.0 && value < 2_147_483_648.0 { value as i32 } else { i32::MIN }
}

/// A float cut to 32 bits without a sign.
///
/// NumPy takes four elements at a time through the conversion of signed numbers, less 2^31 where
/// that is needed; the one to three elements left at the end of a run it cuts to 64 bits instead,
/// so beyond the range of the type those few may differ.
#[inline(always)]
pub(super) fn cut_to_u32(value: f64) -> u32 {
    const HALF: f64 = 2_147_483_648.0;
    if value >= HALF { cut_to_i32(value - HALF) as u32 ^ 1 << 31 } else { cut_to_i32(value) as u32 }
}

/// A float cut to 64 bits, or the lowest number when they cannot hold it.
#[inline(always)]
pub(super) fn cut_to_i64(value: f64) -> i64 {
    #[cfg(target_arch = "x86_64")]
    return crate::sse2::cut_to_i64(value);
    #[cfg(not(target_arch = "x86_64"))]
    if (-TWO_63..TWO_63).contains(&value) { value as i64 } else { i64::MIN }
}

/// A float cut to 64 bits without a sign.
#[inline(always)]
pub(super) fn cut_to_u64(value: f64) -> u64 {
    if value >= TWO_63 {
        cut_to_i64(value - TWO_63) as u64 ^ 1 << 63
    } else {
        cut_to_i64(value) as u64
    }
}

/// Rounds to half precision, ties to even.
pub(crate) fn rounded_to_half(value: f64) -> f32 {
    half_to_single(double_to_half(value))
}

/// IEEE 754 binary16 to binary32, which holds every value of it.
pub(super) fn half_to_single(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let fraction = u32::from(half & 0x03FF);
    let magnitude = match half >> 10 & 0x1F {
        // A subnormal is its fraction times 2^-24.
        0 => (fraction as f32 * 2_f32.powi(-24)).to_bits(),
        31 => 0x7F80_0000 | fraction << 13,
        exponent => (u32::from(exponent) + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// IEEE 754 binary64 to binary16, ties to even, in one rounding.
pub(super) fn double_to_half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let magnitude = value.abs();
    let rounded = if value.is_nan() {
        // The payload's top bits survive, and never all of them are zero.
        let payload = (bits >> 42) as u16 & 0x03FF;
        0x7C00 | if payload == 0 { 1 } else { payload }
    } else if magnitude >= 65520.0 {
        0x7C00
    } else if magnitude < 2_f64.powi(-14) {
        // Adding 2^28 leaves the fraction of a subnormal, rounded, in the lowest bits.
        ((magnitude + 2_f64.powi(28)).to_bits() & 0x7FF) as u16
    } else {
        let exponent = (magnitude.to_bits() >> 52) - 1008;
        let fraction = magnitude.to_bits() & ((1 << 52) - 1);
        let kept = exponent << 10 | fraction >> 42;
        let rest = fraction & ((1 << 42) - 1);
        let half_way = 1 << 41;
        let up = rest > half_way || (rest == half_way && kept & 1 == 1);
        (kept + u64::from(up)) as u16
    };
    sign | rounded
}
