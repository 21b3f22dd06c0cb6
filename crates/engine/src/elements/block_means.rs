//! Means of blocks of integers, for the levels of a pyramid.
//!
//! Sums are exact, and are rounded once, half to even. At the far edge of an axis a block has the
//! elements that exist. Rows are added to sums that stay in the L1 cache, so that a level is one
//! pass over its source.

use std::ptr;

use smallvec::SmallVec;
use zarrix_codec::memory::zeros;

use crate::chunk::buffer::{Source, Target, check_shape};
use crate::error::{EngineError, Result};
use crate::memory::convert::Number;
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// A task takes about as many bytes of the source.
const TASK_BYTES: usize = 1 << 18;

/// With at most as many elements in a block, the sums of types of two bytes fit into 32 bits, and
/// those of four bytes into 64.
const MAX_ELEMENTS_OF_I32: usize = 1 << 15;
const MAX_ELEMENTS_OF_I64: usize = 1 << 31;

/// Writes the mean of each block of `factors` elements of `source` to `target`.
///
/// Elements are integers of at most four bytes, in the byte order of this machine, and contiguous
/// along the last axis on both sides.
///
/// # Errors
/// [`EngineError::Selection`] if the shapes do not fit together, or for other elements.
pub fn block_means(
    source: Source<'_>,
    target: Target<'_>,
    number: Number,
    factors: &[usize],
    interrupt: Interrupt<'_>,
) -> Result<()> {
    let refused = |reason: &str| Err(EngineError::Selection(reason.into()));
    if factors.is_empty() || factors.len() != source.shape().len() || factors.contains(&0) {
        return refused("blocks need a length of at least 1 for each axis");
    }
    let expected: Vec<usize> =
        source.shape().iter().zip(factors).map(|(n, factor)| n.div_ceil(*factor)).collect();
    check_shape(&expected, target.shape(), "the buffer of means")?;
    let size = factors.iter().try_fold(1usize, |size, factor| size.checked_mul(*factor));
    let Some(size) = size.filter(|size| *size <= MAX_ELEMENTS_OF_I64) else {
        return refused("blocks of more than 2^31 elements");
    };
    let fits_i32 = size <= MAX_ELEMENTS_OF_I32;
    let means = BlockMeans { source, target, factors };
    match number {
        Number::U8 if fits_i32 => means.write::<u8, i32>(interrupt),
        Number::I8 if fits_i32 => means.write::<i8, i32>(interrupt),
        Number::U16 if fits_i32 => means.write::<u16, i32>(interrupt),
        Number::I16 if fits_i32 => means.write::<i16, i32>(interrupt),
        Number::U8 => means.write::<u8, i64>(interrupt),
        Number::I8 => means.write::<i8, i64>(interrupt),
        Number::U16 => means.write::<u16, i64>(interrupt),
        Number::I16 => means.write::<i16, i64>(interrupt),
        Number::U32 => means.write::<u32, i64>(interrupt),
        Number::I32 => means.write::<i32, i64>(interrupt),
        _ => refused("the elements are not integers of at most four bytes"),
    }
}

/// A signed integer that has the sum of a block.
trait Sum: Copy + Default + Send + Sync {
    /// The sum of both, which the length of blocks keeps in range. Checked sums are not vectorized.
    fn plus(self, other: Self) -> Self;
    /// The sum divided by `count`, rounded half to even.
    fn mean(self, count: Self) -> Self;
    /// [`Self::mean`] for a `count` of `1 << shift`, at least 2.
    fn mean_of_shift(self, shift: u32) -> Self;
    fn of_count(count: usize) -> Self;
}

/// The type of the elements, whose range a mean is in.
trait Integer<S>: Copy + Default {
    fn sum(self) -> S;
    fn of_mean(mean: S) -> Self;
}

macro_rules! sum {
    ($sum:ty, $($integer:ty),*) => {
        impl Sum for $sum {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn mean(self, count: Self) -> Self {
                let (whole, rest) = (self.div_euclid(count), self.rem_euclid(count));
                // The remainder is at least 0, so that its double does not leave u32 or u64.
                let double = rest.unsigned_abs() * 2;
                let half = count.unsigned_abs();
                whole + Self::from(double > half || (double == half && whole & 1 == 1))
            }

            #[inline]
            fn mean_of_shift(self, shift: u32) -> Self {
                let half = (1 << (shift - 1)) - 1;
                let odd = self.wrapping_shr(shift) & 1;
                self.wrapping_add(half).wrapping_add(odd).wrapping_shr(shift)
            }

            #[inline]
            fn of_count(count: usize) -> Self {
                <$sum>::try_from(count).unwrap_or(<$sum>::MAX)
            }
        }
        $(impl Integer<$sum> for $integer {
            #[inline]
            fn sum(self) -> $sum {
                <$sum>::from(self)
            }

            #[inline]
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a mean is between two elements"
            )]
            fn of_mean(mean: $sum) -> Self {
                mean as $integer
            }
        })*
    };
}

sum!(i32, u8, i8, u16, i16);
sum!(i64, u8, i8, u16, i16, u32, i32);

#[derive(Clone, Copy)]
struct BlockMeans<'a> {
    source: Source<'a>,
    target: Target<'a>,
    factors: &'a [usize],
}

impl BlockMeans<'_> {
    fn write<T: Integer<S>, S: Sum>(self, interrupt: Interrupt<'_>) -> Result<()> {
        let item = size_of::<T>();
        let last = self.factors.len() - 1;
        let contiguous = |shape: &[usize], strides: &[isize]| {
            shape[last] <= 1 || strides[last].unsigned_abs() == item && strides[last] > 0
        };
        if !contiguous(self.source.shape(), self.source.strides())
            || !contiguous(self.target.shape(), self.target.strides())
        {
            let reason = "the last axis of the buffers is not contiguous";
            return Err(EngineError::Selection(reason.into()));
        }
        if self.target.shape().contains(&0) {
            return Ok(());
        }
        let rows: usize = self.target.shape()[..last].iter().product();
        let row_bytes = self.factors[..last].iter().product::<usize>() * self.source.shape()[last];
        let step = (TASK_BYTES / (row_bytes * item).max(1)).max(1);
        pool::run(rows.div_ceil(step), interrupt, &|task| {
            let mut buffers = TaskBuffers::<T, S> {
                elements: zeros(self.source.shape()[last])?,
                sums: zeros(self.source.shape()[last])?,
                means: zeros(self.target.shape()[last])?,
            };
            let begin = task * step;
            for row in begin..rows.min(begin + step) {
                self.write_row(row, &mut buffers);
            }
            Ok(())
        })
    }

    /// Writes a row of the target, whose number counts the rows in C order.
    fn write_row<T: Integer<S>, S: Sum>(&self, number: usize, buffers: &mut TaskBuffers<T, S>) {
        let row = self.target_row(number);
        let count = row.axes.iter().map(|(count, _)| count).product();
        self.sum_columns(&row, count, buffers);
        let TaskBuffers { sums, means, .. } = buffers;
        let length = self.factors[self.factors.len() - 1];
        let whole = sums.len() / length;
        divide(&sums[..whole * length], &mut means[..whole], length, count);
        if let rest @ [_, ..] = &sums[whole * length..] {
            divide(rest, &mut means[whole..], rest.len(), count);
        }
        let out = self.target.base().wrapping_offset(row.target_offset);
        let bytes = size_of_val(&**means);
        // SAFETY: the row is contiguous and in the target, whose maker vouches for it, and no other
        // task writes it.
        unsafe { ptr::copy_nonoverlapping(means.as_ptr().cast(), out, bytes) };
    }

    fn target_row(&self, number: usize) -> TargetRow {
        let (shape, strides) = (self.source.shape(), self.source.strides());
        let mut rest = number;
        let mut row = TargetRow { source_offset: 0, target_offset: 0, axes: SmallVec::new() };
        for axis in (0..self.factors.len() - 1).rev() {
            let count = self.target.shape()[axis];
            let index = rest % count;
            rest /= count;
            let begin = index * self.factors[axis];
            row.source_offset += begin.cast_signed() * strides[axis];
            row.target_offset += index.cast_signed() * self.target.strides()[axis];
            row.axes.push((self.factors[axis].min(shape[axis] - begin), strides[axis]));
        }
        row
    }

    /// Sums the `count` rows of the source that become one row of the target.
    fn sum_columns<T: Integer<S>, S: Sum>(
        &self,
        row: &TargetRow,
        count: usize,
        buffers: &mut TaskBuffers<T, S>,
    ) {
        for number in 0..count {
            let (mut rest, mut offset) = (number, row.source_offset);
            for (count, stride) in &row.axes {
                offset += (rest % count).cast_signed() * stride;
                rest /= count;
            }
            let start = self.source.base().wrapping_offset(offset);
            let elements = &mut buffers.elements;
            let bytes = size_of_val(&**elements);
            // SAFETY: the row is contiguous and in the source, whose maker vouches for it; the
            // buffer of the task has as many elements, and any bits are an integer.
            unsafe { ptr::copy_nonoverlapping(start, elements.as_mut_ptr().cast(), bytes) };
            let sums = buffers.sums.iter_mut().zip(elements);
            if number == 0 {
                sums.for_each(|(sum, element)| *sum = element.sum());
            } else {
                sums.for_each(|(sum, element)| *sum = sum.plus(element.sum()));
            }
        }
    }
}

/// Where the blocks of one row of the target begin.
struct TargetRow {
    source_offset: isize,
    target_offset: isize,
    /// All axes of the blocks but the last: how many elements exist, and their stride.
    axes: SmallVec<[(usize, isize); 6]>,
}

/// The buffers of a task. Memory of the caller is copied, because other threads may write to it.
struct TaskBuffers<T, S> {
    elements: Vec<T>,
    sums: Vec<S>,
    means: Vec<T>,
}

/// Divides the sum of each `length` column sums of `rows` elements by the size of their block.
fn divide<T: Integer<S>, S: Sum>(sums: &[S], out: &mut [T], length: usize, rows: usize) {
    let count = rows * length;
    let blocks = out.iter_mut().zip(sums.chunks_exact(length));
    let total = |block: &[S]| block.iter().fold(S::default(), |sum, one| sum.plus(*one));
    if count == 1 {
        blocks.for_each(|(mean, block)| *mean = T::of_mean(total(block)));
    } else if !count.is_power_of_two() {
        let count = S::of_count(count);
        blocks.for_each(|(mean, block)| *mean = T::of_mean(total(block).mean(count)));
    } else if length == 2 {
        // The usual length, which the compiler vectorizes.
        let shift = count.trailing_zeros();
        for (mean, [sum, other]) in out.iter_mut().zip(sums.as_chunks::<2>().0) {
            *mean = T::of_mean(sum.plus(*other).mean_of_shift(shift));
        }
    } else {
        let shift = count.trailing_zeros();
        blocks.for_each(|(mean, block)| *mean = T::of_mean(total(block).mean_of_shift(shift)));
    }
}
