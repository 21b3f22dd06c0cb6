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
const MOST_NARROW: usize = 1 << 15;
const MOST_WIDE: usize = 1 << 31;

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
    let Some(size) = size.filter(|size| *size <= MOST_WIDE) else {
        return refused("blocks of more than 2^31 elements");
    };
    let narrow = size <= MOST_NARROW;
    let call = Call { source, target, factors };
    match number {
        Number::U8 if narrow => call.run::<u8, i32>(interrupt),
        Number::I8 if narrow => call.run::<i8, i32>(interrupt),
        Number::U16 if narrow => call.run::<u16, i32>(interrupt),
        Number::I16 if narrow => call.run::<i16, i32>(interrupt),
        Number::U8 => call.run::<u8, i64>(interrupt),
        Number::I8 => call.run::<i8, i64>(interrupt),
        Number::U16 => call.run::<u16, i64>(interrupt),
        Number::I16 => call.run::<i16, i64>(interrupt),
        Number::U32 => call.run::<u32, i64>(interrupt),
        Number::I32 => call.run::<i32, i64>(interrupt),
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

/// An element; a mean is in the range of the elements.
trait Element<W>: Copy + Default {
    fn sum(self) -> W;
    fn of_mean(mean: W) -> Self;
}

macro_rules! sum {
    ($wide:ty, $($narrow:ty),*) => {
        impl Sum for $wide {
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
                <$wide>::try_from(count).unwrap_or(<$wide>::MAX)
            }
        }
        $(impl Element<$wide> for $narrow {
            #[inline]
            fn sum(self) -> $wide {
                <$wide>::from(self)
            }

            #[inline]
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a mean is between two elements"
            )]
            fn of_mean(mean: $wide) -> Self {
                mean as $narrow
            }
        })*
    };
}

sum!(i32, u8, i8, u16, i16);
sum!(i64, u8, i8, u16, i16, u32, i32);

#[derive(Clone, Copy)]
struct Call<'a> {
    source: Source<'a>,
    target: Target<'a>,
    factors: &'a [usize],
}

impl Call<'_> {
    fn run<T: Element<W>, W: Sum>(self, interrupt: Interrupt<'_>) -> Result<()> {
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
            let mut rows_of = Rows::<T, W> {
                elements: zeros(self.source.shape()[last])?,
                sums: zeros(self.source.shape()[last])?,
                means: zeros(self.target.shape()[last])?,
            };
            let begin = task * step;
            for row in begin..rows.min(begin + step) {
                self.one_row(row, &mut rows_of);
            }
            Ok(())
        })
    }

    /// Computes a row of the target, whose number counts the rows in C order.
    fn one_row<T: Element<W>, W: Sum>(&self, row: usize, of: &mut Rows<T, W>) {
        let last = self.factors.len() - 1;
        let (shape, strides) = (self.source.shape(), self.source.strides());
        let mut left = row;
        let (mut from, mut to) = (0, 0);
        // The axes of the block's rows: how many elements exist, and their stride.
        let mut block: SmallVec<[(usize, isize); 6]> = SmallVec::new();
        for axis in (0..last).rev() {
            let count = self.target.shape()[axis];
            let at = left % count;
            left /= count;
            let begin = at * self.factors[axis];
            from += begin.cast_signed() * strides[axis];
            to += at.cast_signed() * self.target.strides()[axis];
            block.push((self.factors[axis].min(shape[axis] - begin), strides[axis]));
        }
        let count: usize = block.iter().map(|(count, _)| count).product();
        for number in 0..count {
            let (mut left, mut offset) = (number, from);
            for (count, stride) in &block {
                offset += (left % count).cast_signed() * stride;
                left /= count;
            }
            let start = self.source.base().wrapping_offset(offset);
            let row = &mut of.elements;
            // SAFETY: the row is contiguous and in the source, whose maker vouches for it; the
            // buffer of the task has as many elements, and any bits are an integer.
            unsafe {
                ptr::copy_nonoverlapping(start, row.as_mut_ptr().cast(), size_of_val(&**row))
            };
            let sums = of.sums.iter_mut().zip(row);
            if number == 0 {
                sums.for_each(|(sum, element)| *sum = element.sum());
            } else {
                sums.for_each(|(sum, element)| *sum = sum.plus(element.sum()));
            }
        }
        let length = self.factors[last];
        let whole = of.sums.len() / length;
        means(&of.sums[..whole * length], &mut of.means[..whole], length, count);
        if let rest @ [_, ..] = &of.sums[whole * length..] {
            means(rest, &mut of.means[whole..], rest.len(), count);
        }
        let out = self.target.base().wrapping_offset(to);
        let bytes = size_of_val(&*of.means);
        // SAFETY: the row is contiguous and in the target, whose maker vouches for it, and no other
        // task writes it.
        unsafe { ptr::copy_nonoverlapping(of.means.as_ptr().cast(), out, bytes) };
    }
}

/// The buffers of a task. Memory of the caller is copied, because other threads may write to it.
struct Rows<T, W> {
    elements: Vec<T>,
    sums: Vec<W>,
    means: Vec<T>,
}

/// The means of blocks of `length` sums, each of which is of `rows` elements.
fn means<T: Element<W>, W: Sum>(sums: &[W], out: &mut [T], length: usize, rows: usize) {
    let count = rows * length;
    let blocks = out.iter_mut().zip(sums.chunks_exact(length));
    let total = |block: &[W]| block.iter().fold(W::default(), |sum, one| sum.plus(*one));
    if count == 1 {
        blocks.for_each(|(mean, block)| *mean = T::of_mean(total(block)));
    } else if !count.is_power_of_two() {
        let count = W::of_count(count);
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
