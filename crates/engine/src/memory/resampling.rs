//! Windows that get another size before they are in the buffer, along any of their axes.
//!
//! The result at index i of n, of m source indices, has its centre at (i + 1/2) m / n. "nearest"
//! takes the source index in which the centre lies. "linear" weighs source indices by a triangle
//! around the centre, and "area" by how much of them the result covers; where the size shrinks, both
//! reach as far as the result does, so that nothing between is left out. Weights are divided by
//! their sum. One axis is computed after the other, in double precision, and rounded once.

use smallvec::SmallVec;
use zarrix_codec::memory::{Refused, zeros};

use crate::error::{EngineError, Result};
use crate::memory::convert::{Conversion, Float, Formula, Number};
use crate::memory::copy;
use crate::memory::strides::{Dim, Dims, Grid, List};
use crate::memory::turns::Turn;

/// How elements between others are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The nearest one.
    Nearest,
    /// Weighed by a triangle.
    Linear,
    /// Weighed by what is covered.
    Area,
}

/// Makes windows of one shape and type those of another shape.
#[derive(Debug)]
pub struct Resampling {
    from: Vec<usize>,
    to: Vec<usize>,
    item: usize,
    /// To doubles and from them; `None` for the nearest elements, which are copied as they are.
    through: Option<(Conversion, Conversion)>,
    /// The weights along each axis whose length changes.
    axes: Vec<Option<Weights>>,
}

/// For each index of the result, the first source index that has a weight, and all weights.
#[derive(Debug)]
struct Weights(Vec<(usize, SmallVec<[f64; 4]>)>);

impl Weights {
    fn new(method: Method, from: usize, to: usize) -> Self {
        let scale = from as f64 / to as f64;
        let one = |index: usize| {
            let centre = (index as f64 + 0.5) * scale;
            // In integers: a centre may lie on the border of two elements.
            let nearest = (2 * index as u128 + 1) * from as u128 / (2 * to as u128);
            let reach = match method {
                Method::Nearest => return (nearest as usize, SmallVec::from_slice(&[1.0])),
                Method::Linear => scale.max(1.0),
                Method::Area => scale / 2.0,
            };
            let first = (centre - reach).floor().max(0.0) as usize;
            let end = ((centre + reach).ceil() as usize).min(from);
            let weight = |source: usize| {
                let (low, high) = (source as f64, source as f64 + 1.0);
                match method {
                    Method::Area => high.min(centre + reach) - low.max(centre - reach),
                    _ => 1.0 - ((low + 0.5 - centre) / reach).abs(),
                }
            };
            let mut weights: SmallVec<[f64; 4]> =
                (first..end).map(|source| weight(source).max(0.0)).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= sum);
            (first, weights)
        };
        Self((0..to).map(one).collect())
    }
}

impl Resampling {
    /// For windows of shape `from`, which become those of shape `to`.
    ///
    /// # Errors
    /// The shapes have different numbers of axes, or one of no elements becomes one that has some.
    pub fn new(method: Method, number: Number, from: &[usize], to: &[usize]) -> Result<Self> {
        let mut pairs = from.iter().zip(to);
        if from.len() != to.len() || pairs.any(|(from, to)| (*from == 0) != (*to == 0)) {
            let reason = format!("windows of {from:?} are not resized to {to:?}");
            return Err(EngineError::Selection(reason));
        }
        let plain = Formula {
            scale: 1.0,
            offset: -0.0,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            nan: f64::NAN,
        };
        let double = Number::Float(Float::F64);
        let through = (method != Method::Nearest).then(|| {
            (
                Conversion::new(number, false, double, plain),
                Conversion::new(double, false, number, plain),
            )
        });
        let pairs = from.iter().zip(to);
        let axes = pairs
            .map(|(from, to)| (from != to && *to > 0).then(|| Weights::new(method, *from, *to)));
        let axes = axes.collect();
        Ok(Self { from: from.to_vec(), to: to.to_vec(), item: number.bytes(), through, axes })
    }

    /// The shape of windows before.
    #[must_use]
    pub fn before(&self) -> &[usize] {
        &self.from
    }

    /// The shape of windows after.
    #[must_use]
    pub fn after(&self) -> &[usize] {
        &self.to
    }

    /// Item size in bytes.
    #[must_use]
    pub fn item_bytes(&self) -> usize {
        self.item
    }

    /// Bytes of a window before.
    #[must_use]
    pub fn bytes_before(&self) -> usize {
        self.from.iter().copied().fold(self.item, usize::saturating_mul)
    }

    /// Resizes the window at `src`, whose elements are contiguous, to the one at `dst` with these
    /// strides, whose axes lie there as `turns` says; as they are if it is empty.
    ///
    /// # Safety
    /// `src` must be valid for a window before, and `dst` for the elements of a window after; they
    /// must not overlap.
    pub(crate) unsafe fn window(
        &self,
        src: *const u8,
        dst: *mut u8,
        strides: &[isize],
        turns: &[Turn],
    ) -> std::result::Result<(), Refused> {
        if self.to.contains(&0) {
            return Ok(());
        }
        let mut base = 0;
        let place = |axis: usize| match turns.get(axis) {
            None => strides[axis],
            Some(turn) => {
                let (begin, stride) = turn.place(&self.to, strides);
                base += begin;
                stride
            }
        };
        let placed: SmallVec<[isize; 6]> = (0..self.to.len()).map(place).collect();
        let dst = dst.wrapping_offset(base);
        // SAFETY: the caller vouches for both sides, and turns were checked against the shape.
        unsafe {
            match &self.through {
                None => {
                    copy::copy_grid(dst, src, self.picked(&placed), self.item);
                    Ok(())
                }
                Some((load, save)) => self.weighed(src, dst, &placed, load, save),
            }
        }
    }

    /// The copies that take the nearest elements.
    fn picked(&self, placed: &[isize]) -> Grid {
        let mut grid = Grid::default();
        let mut step = self.item as isize;
        let mut dims = Dims::new();
        for (axis, weights) in self.axes.iter().enumerate().rev() {
            match weights {
                None => dims.push(Dim { count: self.to[axis], dst: placed[axis], src: step }),
                Some(Weights(each)) => grid.lists.push(List {
                    dst: (0..each.len() as isize).map(|index| index * placed[axis]).collect(),
                    src: each.iter().map(|(first, _)| *first as isize * step).collect(),
                }),
            }
            step *= self.from[axis] as isize;
        }
        dims.reverse();
        grid.lists.reverse();
        grid.dims = dims;
        grid
    }

    unsafe fn weighed(
        &self,
        src: *const u8,
        dst: *mut u8,
        placed: &[isize],
        load: &Conversion,
        save: &Conversion,
    ) -> std::result::Result<(), Refused> {
        let mut shape = self.from.clone();
        let mut values: Vec<f64> = zeros(shape.iter().product())?;
        // SAFETY: a contiguous window on both sides.
        unsafe {
            let count = values.len();
            let dims = Dims::from_slice(&[Dim { count, dst: 8, src: self.item as isize }]);
            let grid = Grid { dims, ..Grid::default() };
            load.copy_grid(values.as_mut_ptr().cast(), src, grid);
        }
        for (axis, weights) in self.axes.iter().enumerate() {
            if let Some(weights) = weights {
                values = weighed_along(&values, &shape, axis, weights)?;
                shape[axis] = self.to[axis];
            }
        }
        let mut step = 8isize;
        let mut dims = Dims::new();
        for axis in (0..shape.len()).rev() {
            dims.push(Dim { count: shape[axis], dst: placed[axis], src: step });
            step *= shape[axis] as isize;
        }
        dims.reverse();
        // SAFETY: the caller vouches for the destination; the source has this shape.
        unsafe { save.copy_grid(dst, values.as_ptr().cast(), Grid { dims, ..Grid::default() }) };
        Ok(())
    }
}

fn weighed_along(
    values: &[f64],
    shape: &[usize],
    axis: usize,
    Weights(weights): &Weights,
) -> std::result::Result<Vec<f64>, Refused> {
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let mut results: Vec<f64> = zeros(outer * weights.len() * inner)?;
    let blocks = values.chunks_exact(shape[axis] * inner);
    for (source, result) in blocks.zip(results.chunks_exact_mut(weights.len() * inner)) {
        for ((first, each), row) in weights.iter().zip(result.chunks_exact_mut(inner)) {
            let rows = source[first * inner..].chunks_exact(inner);
            if let [sum] = row {
                *sum = each.iter().zip(&source[*first..]).map(|(weight, one)| weight * one).sum();
                continue;
            }
            for (weight, source) in each.iter().zip(rows) {
                row.iter_mut().zip(source).for_each(|(sum, one)| *sum += weight * one);
            }
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resized(method: Method, values: &[u8], to: usize) -> Result<Vec<u8>> {
        let made = Resampling::new(method, Number::U8, &[values.len()], &[to])?;
        let mut results = vec![0; to];
        // SAFETY: both have the lengths that were told.
        unsafe { made.window(values.as_ptr(), results.as_mut_ptr(), &[1], &[]) }?;
        Ok(results)
    }

    #[test]
    fn halves_and_doubles_are_what_they_are_by_hand() -> Result<()> {
        assert_eq!(resized(Method::Nearest, &[1, 2, 3, 4], 2)?, [2, 4]);
        assert_eq!(resized(Method::Area, &[1, 3, 5, 9], 2)?, [2, 7]);
        assert_eq!(resized(Method::Area, &[0, 90, 30], 2)?, [30, 50]);
        assert_eq!(resized(Method::Linear, &[0, 80], 4)?, [0, 20, 60, 80]);
        // The weights 3, 3, 1 and 1, 3, 3 of 7.
        assert_eq!(resized(Method::Linear, &[7, 14, 21, 28], 2)?, [12, 23]);
        assert!(Resampling::new(Method::Area, Number::U8, &[0], &[1]).is_err());
        Ok(())
    }
}
