//! The moments of elements: count, sum, mean, squared differences, and extremes.
//!
//! Moments of parts merge by Chan's formulas. The bits of the result depend on the order in which
//! parts are merged.

use crate::elements::scalar::{Extreme, Scalar, real_of_u64};

/// Sums that the compiler keeps in registers, side by side.
const LANES: usize = 8;

/// The moments of elements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    pub count: u64,
    /// The sum of integers.
    pub total: i128,
    pub mean: f64,
    /// The sum of squared differences from the mean.
    pub squares: f64,
    /// The least and the largest element; NaN if one of them is NaN.
    pub extremes: Option<(Extreme, Extreme)>,
}

impl Moments {
    /// The moments of a buffer that has elements.
    pub(in crate::elements) fn of<T: Scalar>(values: &[T], has_nan: bool) -> Self {
        let count = u64::try_from(values.len()).unwrap_or(u64::MAX);
        let (sum, least, largest) = sum_and_extremes(values);
        let mean = sum / real_of_u64(count);
        let nan = Extreme::Real(f64::NAN);
        Self {
            count,
            total: T::total(values),
            mean,
            squares: squared_differences(values, mean),
            extremes: Some(if has_nan { (nan, nan) } else { (least.extreme(), largest.extreme()) }),
        }
    }

    pub(in crate::elements) fn merge(&mut self, other: &Self) {
        let Some((least, largest)) = other.extremes else { return };
        let count = self.count + other.count;
        let (own, others, all) =
            (real_of_u64(self.count), real_of_u64(other.count), real_of_u64(count));
        // A difference of infinities is NaN, which is what the mean of both is.
        let difference = other.mean - self.mean;
        self.squares += other.squares + difference * difference * own * others / all;
        self.mean = if self.count > 0 { self.mean + difference * others / all } else { other.mean };
        self.count = count;
        self.total += other.total;
        self.extremes = Some(match self.extremes {
            None => (least, largest),
            // Comparisons with NaN are false: once there, it stays.
            Some((low, high)) => (
                if least.is_nan() || least < low { least } else { low },
                if largest.is_nan() || largest > high { largest } else { high },
            ),
        });
    }
}

fn sum_and_extremes<T: Scalar>(values: &[T]) -> (f64, T, T) {
    let (groups, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    let (mut least, mut largest) = ([values[0]; LANES], [values[0]; LANES]);
    for group in groups {
        for lane in 0..LANES {
            let value = group[lane];
            sums[lane] += value.real();
            least[lane] = smaller(value, least[lane]);
            largest[lane] = larger(value, largest[lane]);
        }
    }
    for (lane, value) in rest.iter().enumerate() {
        sums[lane] += value.real();
        least[lane] = smaller(*value, least[lane]);
        largest[lane] = larger(*value, largest[lane]);
    }
    let least_of_all = least.iter().fold(least[0], |low, value| smaller(*value, low));
    let largest_of_all = largest.iter().fold(largest[0], |high, value| larger(*value, high));
    (sums.iter().sum::<f64>(), least_of_all, largest_of_all)
}

fn squared_differences<T: Scalar>(values: &[T], mean: f64) -> f64 {
    let (groups, rest) = values.as_chunks::<LANES>();
    let mut squares = [0.0; LANES];
    for group in groups {
        for lane in 0..LANES {
            let difference = group[lane].real() - mean;
            squares[lane] += difference * difference;
        }
    }
    for (lane, value) in rest.iter().enumerate() {
        let difference = value.real() - mean;
        squares[lane] += difference * difference;
    }
    squares.iter().sum()
}

/// `value` if it is below `low`. NaN is not below anything, nor is anything below NaN.
#[inline]
fn smaller<T: Scalar>(value: T, low: T) -> T {
    if value.is_below(low) { value } else { low }
}

/// `value` if `high` is below it.
#[inline]
fn larger<T: Scalar>(value: T, high: T) -> T {
    if high.is_below(value) { value } else { high }
}
