//! One entry of a call that reads windows of several arrays: what is read, and how it lies in the
//! buffer.

use crate::array::io::ArrayIO;
use crate::calls::resized::Resized;
use crate::calls::windows::Outside;
use crate::chunk::buffer::Target;
use crate::error::{EngineError, Result};
use crate::memory::convert::Conversion;
use crate::memory::copy;
use crate::memory::strides::{Dim, Dims, Grid};
use crate::memory::turns::Turns;
use crate::selection::chunk_selection::offset_of;
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// Windows of one array, and the buffer for them.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The array.
    pub array: &'a ArrayIO,
    /// One row of coordinates per window; signed, unless windows outside of the array are refused.
    pub starts: &'a [u64],
    /// What happens to a window that leaves the array.
    pub outside: Outside,
    /// The element that fills what [`Outside::Skip`] leaves unchanged.
    pub pad: Option<&'a [u8]>,
    /// The buffer, of shape `(N, *shape)`.
    pub target: Target<'a>,
    /// What becomes of the numbers, if the buffer has others than the array.
    pub convert: Option<Convert<'a>>,
    /// How each window lies in the buffer, if not as in the array.
    pub turns: Option<Turns<'a>>,
    /// Where windows get another size, once they are in the buffer.
    pub resized: Option<Resized<'a>>,
}

/// The conversion of all elements, or one for each index of the windows along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Convert<'a> {
    /// The axis.
    pub axis: usize,
    /// One conversion, or as many as the windows are long along the axis; all of the same types.
    pub each: &'a [Conversion],
}

impl Entry<'_> {
    pub(crate) fn windows(&self) -> usize {
        self.target.shape().first().copied().unwrap_or(0)
    }

    /// Whether part of a window lies outside of the array.
    fn leaves(&self, window: usize) -> bool {
        let lengths = &self.array.layout.shape;
        let starts = &self.starts[window * lengths.len()..(window + 1) * lengths.len()];
        let sizes = self.target.shape()[1..].iter();
        starts.iter().zip(sizes).zip(lengths).any(|((start, size), length)| {
            let begin = i128::from(*start as i64);
            begin < 0 || begin + *size as i128 > i128::from(*length)
        })
    }

    /// Fills each window that leaves the array with the padding; the parts inside are read later.
    pub(crate) fn fill_outside(&self, interrupt: Interrupt<'_>) -> Result<()> {
        let Some(pad) = self.pad.filter(|_| self.outside == Outside::Skip) else { return Ok(()) };
        if pad.len() != self.array.layout.item_bytes || self.target.sink().is_some() {
            let reason = format!("padding of {} bytes does not fit the elements", pad.len());
            return Err(EngineError::Selection(reason));
        }
        let leaving: Vec<usize> =
            (0..self.windows()).filter(|window| self.leaves(*window)).collect();
        pool::run(leaving.len(), interrupt, &|number| {
            self.fill(leaving[number], Some(pad));
            Ok(())
        })
    }

    /// Fills a window with an element; with the fill value of the array if it is `None`.
    pub(crate) fn fill(&self, window: usize, element: Option<&[u8]>) {
        if self.target.sink().is_some() {
            return;
        }
        let (shape, strides) = (self.target.shape(), self.target.strides());
        let dims = shape.iter().zip(strides).skip(1);
        let dims: Dims =
            dims.map(|(count, dst)| Dim { count: *count, dst: *dst, src: 0 }).collect();
        let to = self.target.base().wrapping_offset(offset_of(window, &shape[..1], &strides[..1]));
        let grid = |dims: &Dims| Grid { dims: dims.clone(), ..Grid::default() };
        let fill = &self.array.layout.fill;
        // SAFETY: these are the elements of one window of the target, whose maker vouches for them;
        // no thread reads chunks to it at this time.
        unsafe {
            match (self.convert, element) {
                (None, Some(element)) => copy::fill(to, grid(&dims), element),
                (None, None) => fill.put(to, grid(&dims)),
                (Some(Convert { each: [only], .. }), _) => {
                    only.fill(to, grid(&dims), element.unwrap_or(fill.number()));
                }
                (Some(Convert { axis, each }), _) => {
                    let mut one = dims.clone();
                    one[axis].count = 1;
                    for (index, conversion) in (0..).zip(each) {
                        let to = to.wrapping_offset(index * dims[axis].dst);
                        conversion.fill(to, grid(&one), element.unwrap_or(fill.number()));
                    }
                }
            }
        }
    }

    /// Gives a window its other size, if entries have one.
    pub(crate) fn fit(&self, window: usize) -> Result<()> {
        let Some(resized) = self.resized else { return Ok(()) };
        let at = window * resized.resampling.bytes_before();
        // SAFETY: the target has this window, contiguous, as `check_size` saw; it was read, and no
        // other thread resizes it.
        unsafe { resized.window(self.target.base().add(at), window) }
    }

    /// Refuses a size that does not fit the buffers.
    pub(crate) fn check_size(&self) -> Result<()> {
        let Some(resized) = self.resized else { return Ok(()) };
        let before = resized.resampling.before();
        if self.turns.is_some() || self.target.shape().get(1..) != Some(before) {
            let reason = format!("windows of {before:?} are not those of the buffer");
            return Err(EngineError::Selection(reason));
        }
        resized.check(self.windows())
    }

    /// Refuses a conversion that does not fit the array and the windows.
    pub(crate) fn check_conversion(&self) -> Result<()> {
        let Some(Convert { axis, each }) = self.convert else { return Ok(()) };
        let axes = self.array.layout.shape.len();
        if each.len() > 1 && self.turns.is_some_and(|turns| !turns.leaves(axis, axes)) {
            let reason = format!("axis {axis}, whose indices are converted apart, is turned");
            return Err(EngineError::Selection(reason));
        }
        let item = self.array.layout.item_bytes;
        let length = self.target.shape().get(axis + 1);
        let fits = self.target.sink().is_none()
            && each.iter().all(|one| one.source_bytes() == item)
            && (each.len() == 1 || length == Some(&each.len()));
        if fits {
            return Ok(());
        }
        Err(EngineError::Selection(format!(
            "{} conversions of axis {axis} do not fit windows of {length:?} indices along it, or \
             elements of {item} bytes",
            each.len()
        )))
    }
}
