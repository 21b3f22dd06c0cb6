//! Arithmetic on runs of floating-point numbers, every step rounded to their own type.

use super::cast::{Element, Half};
use super::types::{NumberKind, Type, double_to_half, half_to_single};

/// A type of floating-point numbers that filters compute in.
pub(crate) trait Real: Element {
    /// As NumPy makes it from a Python number.
    fn of(value: f64) -> Self;
    /// The same in double precision, which holds all of them.
    fn double(self) -> f64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    /// The nearest integer, the even one of two.
    fn rounded(self) -> Self;
}

macro_rules! real {
    ($($real:ty: $lowest_whole:literal;)*) => {$(
        impl Real for $real {
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn double(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn rounded(self) -> Self {
                // From here on all numbers are whole, so adding it rounds as the processor does;
                // `round_ties_even` is a call on processors before SSE4.1, and cannot be vectors.
                let whole = <$real>::copysign($lowest_whole, self);
                let rounded = ((self + whole) - whole).copysign(self);
                if self.abs() < $lowest_whole { rounded } else { self }
            }
        }
    )*};
}

real! {
    f32: 8_388_608.0;
    f64: 4_503_599_627_370_496.0;
}

impl Half {
    fn single(self) -> f32 {
        half_to_single(self.0)
    }
}

impl Real for Half {
    fn of(value: f64) -> Self {
        Self(double_to_half(value))
    }
    fn double(self) -> f64 {
        f64::from(self.single())
    }
    fn plus(self, other: Self) -> Self {
        Self::of(f64::from(self.single() + other.single()))
    }
    fn minus(self, other: Self) -> Self {
        Self::of(f64::from(self.single() - other.single()))
    }
    fn times(self, other: Self) -> Self {
        Self::of(f64::from(self.single() * other.single()))
    }
    fn over(self, other: Self) -> Self {
        Self::of(f64::from(self.single() / other.single()))
    }
    fn rounded(self) -> Self {
        Self::of(f64::from(self.single().rounded()))
    }
}

/// What a filter does with a run of numbers of any type.
pub(crate) trait Step {
    fn run<R: Real>(&self, run: &mut [u8]);
}

/// Does `step` on a run of native numbers of the floating-point type `real`.
pub(crate) fn compute(real: Type, step: &impl Step, run: &mut [u8]) {
    debug_assert!(real.kind == NumberKind::Float && real == real.native());
    match real.bytes {
        2 => step.run::<Half>(run),
        4 => step.run::<f32>(run),
        _ => step.run::<f64>(run),
    }
}

/// Replaces every number of a native run by what `step` makes of it.
#[inline(always)]
pub(crate) fn map<R: Real>(run: &mut [u8], step: impl Fn(R) -> R) {
    for bytes in R::chunks_mut(run) {
        *bytes = step(R::load(*bytes)).store();
    }
}
