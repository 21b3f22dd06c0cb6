//! The elements that are summarized: what a summary needs of each of them.

use std::convert::identity;

/// An element that is the least or the largest.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Extreme {
    Whole(i128),
    Real(f64),
}

impl Extreme {
    pub(in crate::elements) fn is_nan(self) -> bool {
        matches!(self, Self::Real(value) if value.is_nan())
    }
}

/// An element that is summarized: a number, which any bits are.
pub(in crate::elements) trait Scalar: Copy + Default + Send + Sync {
    /// What is compared with edges: the elements themselves, or their `f64`.
    type Edge: Copy + PartialOrd + Send + Sync;

    /// An edge that nothing is above: NaN.
    const NONE: Self::Edge;

    fn is_nan(self) -> bool;
    fn equals(self, other: Self) -> bool;
    fn is_below(self, other: Self) -> bool;
    fn real(self) -> f64;
    fn extreme(self) -> Extreme;
    /// The exact sum of integers.
    fn total(values: &[Self]) -> i128;
    /// The leading 16 bits of an unsigned integer that is ordered as the elements are.
    fn own_bits(self) -> u16;

    /// [`Self::own_bits`] of its `f32`.
    #[inline]
    fn float_bits(self) -> u16 {
        nearest_f32(self.real()).own_bits()
    }

    fn on_edges(self) -> Self::Edge;
    fn edge(edge: f64) -> Self::Edge;
    fn per_bin(first: Self::Edge, last: Self::Edge, count: usize) -> Self::Edge;
    /// The bin of a number that is not outside, or one beside it.
    fn estimated_bin(value: Self::Edge, first: Self::Edge, per_bin: Self::Edge) -> u32;
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "what is left out has no bin or bucket")]
fn nearest_f32(value: f64) -> f32 {
    value as f32
}

macro_rules! edges {
    ($float:ty, $edge:expr) => {
        type Edge = $float;
        const NONE: $float = <$float>::NAN;

        #[inline]
        fn edge(edge: f64) -> $float {
            $edge(edge)
        }

        #[inline]
        #[expect(clippy::cast_precision_loss, reason = "a bin beside the right one is mended")]
        fn per_bin(first: $float, last: $float, count: usize) -> $float {
            count as $float / (last - first)
        }

        #[inline]
        #[expect(clippy::cast_possible_truncation, reason = "it is the whole part that counts")]
        fn estimated_bin(value: $float, first: $float, per_bin: $float) -> u32 {
            (((value - first) * per_bin) as i32).cast_unsigned()
        }
    };
}

macro_rules! float {
    ($($float:ty, $bits:literal, $edge:expr, $real:expr;)*) => {
        $(impl Scalar for $float {
            edges!($float, $edge);

            #[inline]
            fn is_nan(self) -> bool {
                self.is_nan()
            }

            #[inline]
            #[expect(clippy::float_cmp, reason = "a fill value is equal or it is not")]
            fn equals(self, other: Self) -> bool {
                self == other
            }

            #[inline]
            fn is_below(self, other: Self) -> bool {
                self < other
            }

            #[inline]
            fn real(self) -> f64 {
                $real(self)
            }

            fn extreme(self) -> Extreme {
                Extreme::Real(self.real())
            }

            fn total(_: &[Self]) -> i128 {
                0
            }

            #[inline]
            fn own_bits(self) -> u16 {
                let bits = self.to_bits();
                let mask = (bits.cast_signed() >> ($bits - 1)).cast_unsigned() | 1 << ($bits - 1);
                ((bits ^ mask) >> ($bits - 16)) as u16
            }

            #[inline]
            fn on_edges(self) -> $float {
                self
            }
        })*
    };
}

float! {
    f32, 32, nearest_f32, f64::from;
    f64, 64, identity, identity;
}

macro_rules! integer {
    ($($integer:ty, $word:ty, $sum:ty, $real:expr;)*) => {
        $(impl Scalar for $integer {
            edges!(f64, identity);

            #[inline]
            fn is_nan(self) -> bool {
                false
            }

            #[inline]
            fn equals(self, other: Self) -> bool {
                self == other
            }

            #[inline]
            fn is_below(self, other: Self) -> bool {
                self < other
            }

            #[inline]
            fn real(self) -> f64 {
                $real(self)
            }

            fn extreme(self) -> Extreme {
                Extreme::Whole(self.into())
            }

            fn total(values: &[Self]) -> i128 {
                values.iter().map(|value| <$sum>::from(*value)).sum::<$sum>().into()
            }

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "16 bits are left")]
            fn own_bits(self) -> u16 {
                // The smallest number has the image 0.
                let word = |value: $integer| <$word>::from_ne_bytes(value.to_ne_bytes());
                let image = u64::from(word(self) ^ word(<$integer>::MIN));
                (image >> <$word>::BITS.saturating_sub(16)) as u16
            }

            #[inline]
            fn on_edges(self) -> f64 {
                self.real()
            }
        })*
    };
}

#[inline]
#[expect(clippy::cast_precision_loss, reason = "as in NumPy")]
pub(in crate::elements) fn real_of_u64(value: u64) -> f64 {
    value as f64
}

#[inline]
#[expect(clippy::cast_precision_loss, reason = "as in NumPy")]
fn real_of_i64(value: i64) -> f64 {
    value as f64
}

integer! {
    u8, u8, i64, f64::from;
    i8, u8, i64, f64::from;
    u16, u16, i64, f64::from;
    i16, u16, i64, f64::from;
    u32, u32, i64, f64::from;
    i32, u32, i64, f64::from;
    u64, u64, i128, real_of_u64;
    i64, u64, i128, real_of_i64;
}
