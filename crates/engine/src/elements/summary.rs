//! A summary of a block: moments, counts of leading bits, and a histogram.
//!
//! Elements go through a buffer that stays in the L1 cache, so that a block is read once. Moments
//! of the buffers are merged in an order that depends on the length of the block alone: the bits of
//! a result do not depend on threads.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use zarrix_codec::memory::zeros;

use crate::chunk::buffer::Source;
use crate::elements::bit_counts::{BIT_COUNTS, BitCounts, LeadingBits};
use crate::elements::histogram::Histogram;
use crate::elements::moments::Moments;
use crate::elements::scalar::Scalar;
use crate::error::{EngineError, Result};
use crate::memory::convert::{Float, Number};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// Elements of a buffer, and of a task, whose counts fit into 32 bits.
const BUFFER_ELEMENTS: usize = 1 << 12;
const TASK_ELEMENTS: usize = 1 << 20;

/// What a summary has to find.
#[derive(Clone, Copy, Debug)]
pub struct SummaryRequest<'a> {
    /// The element that is counted, and whether it is left out, as NaN is.
    pub fill: Option<&'a [u8]>,
    pub skip_fill: bool,
    pub skip_nan: bool,
    /// Find [`Summary::moments`].
    pub moments: bool,
    /// Find [`Summary::leading`], of these bits.
    pub leading: Option<LeadingBits>,
    /// The edges of [`Summary::bins`], in their order; empty for none.
    pub edges: &'a [f64],
}

/// What a block is like.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub nans: u64,
    pub fills: u64,
    pub moments: Moments,
    /// How many elements begin with each 16 bits of an integer image that keeps their order.
    pub leading: Vec<u64>,
    /// How many elements are between two edges; the last bin has its upper edge, too.
    pub bins: Vec<u64>,
}

/// Summarizes a contiguous block of one axis, whose elements are in the byte order of this machine.
///
/// # Errors
/// [`EngineError::Selection`] for other elements, or a block that is not contiguous.
pub fn summarize(
    block: Source<'_>,
    number: Number,
    request: SummaryRequest<'_>,
    interrupt: Interrupt<'_>,
) -> Result<Summary> {
    match number {
        Number::Bool | Number::U8 => summarize_as::<u8>(block, request, interrupt),
        Number::I8 => summarize_as::<i8>(block, request, interrupt),
        Number::U16 => summarize_as::<u16>(block, request, interrupt),
        Number::I16 => summarize_as::<i16>(block, request, interrupt),
        Number::U32 => summarize_as::<u32>(block, request, interrupt),
        Number::I32 => summarize_as::<i32>(block, request, interrupt),
        Number::U64 => summarize_as::<u64>(block, request, interrupt),
        Number::I64 => summarize_as::<i64>(block, request, interrupt),
        Number::Float(Float::F32) => summarize_as::<f32>(block, request, interrupt),
        Number::Float(Float::F64) => summarize_as::<f64>(block, request, interrupt),
        Number::Float(_) => Err(EngineError::Selection("these floats are not summarized".into())),
    }
}

fn summarize_as<T: Scalar>(
    block: Source<'_>,
    request: SummaryRequest<'_>,
    interrupt: Interrupt<'_>,
) -> Result<Summary> {
    let length = contiguous_length(&block, size_of::<T>())?;
    let fill: Option<T> = request.fill.map(element_of).transpose()?;
    let tasks = length.div_ceil(TASK_ELEMENTS);
    let summary = Summary {
        leading: zeros(if request.leading.is_some() { BIT_COUNTS } else { 0 })?,
        bins: zeros(request.edges.len().saturating_sub(1))?,
        ..Summary::default()
    };
    let moments_of_tasks = zeros::<Moments>(tasks)?;
    let state = Mutex::new((summary, moments_of_tasks));
    let edges: Vec<T::Edge> = request.edges.iter().map(|edge| T::edge(*edge)).collect();
    pool::run(tasks, interrupt, &|task| {
        let begin = task * TASK_ELEMENTS;
        let end = length.min(begin + TASK_ELEMENTS);
        let mut found = TaskSummary::new(request, fill, &edges)?;
        for first in (begin..end).step_by(BUFFER_ELEMENTS) {
            found.add(&block, first, BUFFER_ELEMENTS.min(end - first));
        }
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let (summary, moments_of_tasks) = &mut *state;
        moments_of_tasks[task] = found.moments;
        found.add_counts_to(summary);
        Ok(())
    })?;
    let (mut summary, moments_of_tasks) =
        state.into_inner().unwrap_or_else(PoisonError::into_inner);
    for moments in &moments_of_tasks {
        summary.moments.merge(moments);
    }
    Ok(summary)
}

/// The length of a block of one axis, which is contiguous.
fn contiguous_length(block: &Source<'_>, item_bytes: usize) -> Result<usize> {
    let (&[length], &[stride]) = (block.shape(), block.strides()) else {
        return Err(EngineError::Selection("a block has one axis".into()));
    };
    if length > 1 && stride != item_bytes.cast_signed() {
        return Err(EngineError::Selection("the block is not contiguous".into()));
    }
    Ok(length)
}

fn element_of<T: Scalar>(bytes: &[u8]) -> Result<T> {
    if bytes.len() != size_of::<T>() {
        return Err(EngineError::Selection("the fill value has another size".into()));
    }
    let mut element = T::default();
    // SAFETY: both have as many bytes, and any bits are a number.
    unsafe {
        ptr::copy_nonoverlapping(bytes.as_ptr(), ptr::from_mut(&mut element).cast(), bytes.len());
    }
    Ok(element)
}

/// What a task has found so far.
struct TaskSummary<'a, T: Scalar> {
    request: SummaryRequest<'a>,
    fill: Option<T>,
    /// Memory of the caller is copied, because other threads may write to it.
    buffer: Vec<T>,
    nans: u64,
    fills: u64,
    moments: Moments,
    bit_counts: Option<BitCounts>,
    histogram: Option<Histogram<T>>,
}

impl<'a, T: Scalar> TaskSummary<'a, T> {
    fn new(request: SummaryRequest<'a>, fill: Option<T>, edges: &[T::Edge]) -> Result<Self> {
        Ok(Self {
            request,
            fill,
            buffer: zeros(BUFFER_ELEMENTS)?,
            nans: 0,
            fills: 0,
            moments: Moments::default(),
            bit_counts: request.leading.map(BitCounts::new).transpose()?,
            histogram: Histogram::new(edges)?,
        })
    }

    /// Adds `count` elements of the block, which fit into the buffer.
    fn add(&mut self, block: &Source<'_>, first: usize, count: usize) {
        let item_bytes = size_of::<T>();
        let begin = block.base().wrapping_add(first * item_bytes);
        // SAFETY: these elements are in the block, whose maker vouches for it; the buffer has room
        // for them, and any bits are a number.
        unsafe {
            ptr::copy_nonoverlapping(begin, self.buffer.as_mut_ptr().cast(), count * item_bytes);
        }
        let nans = count_of(&self.buffer[..count], T::is_nan);
        let fills =
            self.fill.map_or(0, |fill| count_of(&self.buffer[..count], |value| value.equals(fill)));
        self.nans += nans;
        self.fills += fills;
        let (skip_nan, skip_fill) = (self.request.skip_nan, self.request.skip_fill);
        let skips_some = (skip_nan && nans > 0) || (skip_fill && fills > 0);
        let remaining = if skips_some { self.skip(count) } else { count };
        let values = &self.buffer[..remaining];
        if self.request.moments && !values.is_empty() {
            self.moments.merge(&Moments::of(values, nans > 0 && !skip_nan));
        }
        if let Some(bit_counts) = &mut self.bit_counts {
            bit_counts.add(values);
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.add(values);
        }
    }

    /// Removes the elements that are left out from the first `count`; returns how many remain.
    fn skip(&mut self, count: usize) -> usize {
        let (skip_nan, skip_fill) = (self.request.skip_nan, self.request.skip_fill);
        let mut remaining = 0;
        for index in 0..count {
            let value = self.buffer[index];
            let is_fill = skip_fill && self.fill.is_some_and(|fill| value.equals(fill));
            self.buffer[remaining] = value;
            remaining += usize::from(!(is_fill || skip_nan && value.is_nan()));
        }
        remaining
    }

    fn add_counts_to(&self, summary: &mut Summary) {
        summary.nans += self.nans;
        summary.fills += self.fills;
        if let Some(bit_counts) = &self.bit_counts {
            bit_counts.add_to(&mut summary.leading);
        }
        if let Some(histogram) = &self.histogram {
            histogram.add_to(&mut summary.bins);
        }
    }
}

/// How many elements of a buffer are so; counts of 32 bits are vectorized better.
fn count_of<T: Copy>(values: &[T], is_so: impl Fn(T) -> bool) -> u64 {
    u64::from(values.iter().map(|value| u32::from(is_so(*value))).sum::<u32>())
}
