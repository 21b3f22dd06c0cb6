//! What the elements of a block are like: moments, counts of leading bits, and a histogram.
//!
//! Elements go through a buffer that stays in the L1 cache, so that a block is read once. Moments
//! of each buffer merge by Chan's formulas, in an order that depends on the length of the block
//! alone: the bits of a result do not depend on threads.

use std::convert::identity;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use zarrix_codec::memory::zeros;

use crate::chunk::buffer::Source;
use crate::error::{EngineError, Result};
use crate::memory::convert::{Float, Number};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// Buckets of [`Summary::leading`].
pub const BUCKETS: usize = 1 << 16;

/// Elements of a buffer, and of a task, whose counts fit into 32 bits.
const BUFFER: usize = 1 << 12;
const TASK: usize = 1 << 20;

/// Counts of a bucket are in several places, so that equal neighbours do not wait for each other.
const LANES: usize = 4;

/// What is wanted of a block.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The element that is counted, and whether it is left out, as NaN is.
    pub fill: Option<&'a [u8]>,
    pub skip_fill: bool,
    pub skip_nan: bool,
    /// Find [`Summary::moments`].
    pub moments: bool,
    /// Find [`Summary::leading`]; of elements of more than 16 bits, those of their `float32`, or
    /// their own.
    pub leading: Option<Leading>,
    /// The edges of [`Summary::bins`], in their order; empty for none.
    pub edges: &'a [f64],
}

/// Whose leading bits are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leading {
    Float32,
    Own,
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

/// An element that is the least or the largest.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Extreme {
    Whole(i128),
    Real(f64),
}

impl Moments {
    fn merge(&mut self, other: &Self) {
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
                if is_nan(least) || least < low { least } else { low },
                if is_nan(largest) || largest > high { largest } else { high },
            ),
        });
    }
}

fn is_nan(one: Extreme) -> bool {
    matches!(one, Extreme::Real(one) if one.is_nan())
}

/// Summarizes a contiguous block of one axis, whose elements are in the byte order of this machine.
///
/// # Errors
/// [`EngineError::Selection`] for other elements, or a block that is not contiguous.
pub fn summarize(
    source: Source<'_>,
    number: Number,
    wanted: Wanted<'_>,
    interrupt: Interrupt<'_>,
) -> Result<Summary> {
    match number {
        Number::Bool | Number::U8 => run::<u8>(source, wanted, interrupt),
        Number::I8 => run::<i8>(source, wanted, interrupt),
        Number::U16 => run::<u16>(source, wanted, interrupt),
        Number::I16 => run::<i16>(source, wanted, interrupt),
        Number::U32 => run::<u32>(source, wanted, interrupt),
        Number::I32 => run::<i32>(source, wanted, interrupt),
        Number::U64 => run::<u64>(source, wanted, interrupt),
        Number::I64 => run::<i64>(source, wanted, interrupt),
        Number::Float(Float::F32) => run::<f32>(source, wanted, interrupt),
        Number::Float(Float::F64) => run::<f64>(source, wanted, interrupt),
        Number::Float(_) => Err(EngineError::Selection("these floats are not summarized".into())),
    }
}

fn run<T: Element>(
    source: Source<'_>,
    wanted: Wanted<'_>,
    interrupt: Interrupt<'_>,
) -> Result<Summary> {
    let item = size_of::<T>();
    let (&[length], &[stride]) = (source.shape(), source.strides()) else {
        return Err(EngineError::Selection("a block has one axis".into()));
    };
    if length > 1 && stride != item.cast_signed() {
        return Err(EngineError::Selection("the block is not contiguous".into()));
    }
    let fill = match wanted.fill {
        None => None,
        Some(bytes) if bytes.len() == item => {
            let mut element = T::default();
            // SAFETY: both have as many bytes, and any bits are a number.
            unsafe {
                ptr::copy_nonoverlapping(bytes.as_ptr(), ptr::from_mut(&mut element).cast(), item);
            }
            Some(element)
        }
        Some(_) => return Err(EngineError::Selection("the fill value has another size".into())),
    };
    let tasks = length.div_ceil(TASK);
    let found = Summary {
        leading: zeros(if wanted.leading.is_some() { BUCKETS } else { 0 })?,
        bins: zeros(wanted.edges.len().saturating_sub(1))?,
        ..Summary::default()
    };
    let of_tasks = zeros::<Moments>(tasks)?;
    let state = Mutex::new((found, of_tasks));
    let edges: Vec<T::Edge> = wanted.edges.iter().map(|edge| T::edge(*edge)).collect();
    pool::run(tasks, interrupt, &|task| {
        let begin = task * TASK;
        let mut tables = Tables::new(wanted, fill, &edges)?;
        for from in (begin..length.min(begin + TASK)).step_by(BUFFER) {
            let count = BUFFER.min(length.min(begin + TASK) - from);
            let start = source.base().wrapping_add(from * item);
            // SAFETY: these elements are in the source, whose maker vouches for it; the buffer has
            // room for them, and any bits are a number.
            unsafe {
                ptr::copy_nonoverlapping(start, tables.buffer.as_mut_ptr().cast(), count * item);
            }
            tables.add(count);
        }
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let (found, of_tasks) = &mut *state;
        of_tasks[task] = tables.moments;
        found.nans += tables.nans;
        found.fills += tables.fills;
        gather(&mut found.leading, &tables.leading);
        gather(&mut found.bins, &tables.bins);
        Ok(())
    })?;
    let (mut found, of_tasks) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    for one in &of_tasks {
        found.moments.merge(one);
    }
    Ok(found)
}

fn gather(total: &mut [u64], counts: &[[u32; LANES]]) {
    for (sum, lanes) in total.iter_mut().zip(counts) {
        *sum += lanes.iter().map(|one| u64::from(*one)).sum::<u64>();
    }
}

/// What a task finds.
struct Tables<'a, T: Element> {
    wanted: Wanted<'a>,
    fill: Option<T>,
    edges: &'a [T::Edge],
    buffer: Vec<T>,
    /// The bins of the elements, which the compiler computes several at a time.
    places: Vec<u32>,
    nans: u64,
    fills: u64,
    moments: Moments,
    leading: Vec<[u32; LANES]>,
    /// The edges of each bin; nothing is above that of the last one.
    limits: Vec<(T::Edge, T::Edge)>,
    /// One more than there are bins, for what is outside.
    bins: Vec<[u32; LANES]>,
}

impl<'a, T: Element> Tables<'a, T> {
    fn new(wanted: Wanted<'a>, fill: Option<T>, edges: &'a [T::Edge]) -> Result<Self> {
        Ok(Self {
            wanted,
            fill,
            edges,
            buffer: zeros(BUFFER)?,
            places: zeros(if edges.is_empty() { 0 } else { BUFFER })?,
            nans: 0,
            fills: 0,
            moments: Moments::default(),
            leading: zeros(if wanted.leading.is_some() { BUCKETS } else { 0 })?,
            limits: edges
                .windows(2)
                .enumerate()
                .map(|(at, ends)| (ends[0], if at + 2 == edges.len() { T::NONE } else { ends[1] }))
                .collect(),
            bins: zeros(edges.len())?,
        })
    }

    /// Adds the first `count` elements of the buffer.
    fn add(&mut self, count: usize) {
        let nans = counted(&self.buffer[..count], T::is_nan);
        let fills =
            self.fill.map_or(0, |fill| counted(&self.buffer[..count], |one| one.equals(fill)));
        self.nans += nans;
        self.fills += fills;
        let (skip_nan, skip_fill) = (self.wanted.skip_nan, self.wanted.skip_fill);
        let mut kept = count;
        if (skip_nan && nans > 0) || (skip_fill && fills > 0) {
            kept = 0;
            for at in 0..count {
                let one = self.buffer[at];
                let is_fill = skip_fill && self.fill.is_some_and(|fill| one.equals(fill));
                self.buffer[kept] = one;
                kept += usize::from(!(is_fill || skip_nan && one.is_nan()));
            }
        }
        let values = &self.buffer[..kept];
        if self.wanted.moments && !values.is_empty() {
            self.moments.merge(&moments(values, nans > 0 && !skip_nan));
        }
        match self.wanted.leading {
            None => {}
            Some(Leading::Own) => tally(&mut self.leading, values, T::own_bits),
            Some(Leading::Float32) => tally(&mut self.leading, values, T::float_bits),
        }
        if let [first, .., last] = self.edges {
            let outside = self.limits.len();
            let norm = T::per_bin(*first, *last, outside);
            for (place, one) in self.places.iter_mut().zip(values) {
                *place = T::place(one.on_edges(), *first, norm);
            }
            for (number, (place, one)) in self.places.iter().zip(values).enumerate() {
                let one = one.on_edges();
                let at = (*place as usize).min(outside - 1);
                let (low, high) = self.limits[at];
                let at =
                    at.wrapping_sub(usize::from(one < low)).wrapping_add(usize::from(one >= high));
                // NaN is in no bin.
                let at = if one >= *first && one <= *last { at } else { outside };
                self.bins[at][number % LANES] += 1;
            }
        }
    }
}

/// How many elements of a buffer are so; counts of 32 bits are vectorized better.
fn counted<T: Copy>(values: &[T], is_so: impl Fn(T) -> bool) -> u64 {
    u64::from(values.iter().map(|one| u32::from(is_so(*one))).sum::<u32>())
}

fn amount(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn tally<T: Copy>(counts: &mut [[u32; LANES]], values: &[T], bits: impl Fn(T) -> u16) {
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        for (lane, one) in group.iter().enumerate() {
            counts[usize::from(bits(*one))][lane] += 1;
        }
    }
    for one in rest {
        counts[usize::from(bits(*one))][0] += 1;
    }
}

/// The moments of a buffer that has elements, by eight sums that the compiler keeps in registers.
fn moments<T: Element>(values: &[T], has_nan: bool) -> Moments {
    let (groups, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    let (mut least, mut largest) = ([values[0]; 8], [values[0]; 8]);
    for group in groups {
        for lane in 0..8 {
            let one = group[lane];
            sums[lane] += one.real();
            least[lane] = if one.is_below(least[lane]) { one } else { least[lane] };
            largest[lane] = if largest[lane].is_below(one) { one } else { largest[lane] };
        }
    }
    for (lane, one) in rest.iter().enumerate() {
        sums[lane] += one.real();
        least[lane] = if one.is_below(least[lane]) { *one } else { least[lane] };
        largest[lane] = if largest[lane].is_below(*one) { *one } else { largest[lane] };
    }
    let mean = sums.iter().sum::<f64>() / real_of_u64(amount(values.len()));
    let mut squares = [0.0; 8];
    for group in groups {
        for lane in 0..8 {
            let difference = group[lane].real() - mean;
            squares[lane] += difference * difference;
        }
    }
    for (lane, one) in rest.iter().enumerate() {
        let difference = one.real() - mean;
        squares[lane] += difference * difference;
    }
    let nan = Extreme::Real(f64::NAN);
    let low = least.iter().fold(least[0], |low, one| if one.is_below(low) { *one } else { low });
    let high =
        largest.iter().fold(largest[0], |high, one| if high.is_below(*one) { *one } else { high });
    Moments {
        count: amount(values.len()),
        total: T::total(values),
        mean,
        squares: squares.iter().sum(),
        extremes: Some(if has_nan { (nan, nan) } else { (low.extreme(), high.extreme()) }),
    }
}

/// A number; any bits are one.
trait Element: Copy + Default + Send + Sync {
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
    /// The leading 16 bits of its image.
    fn own_bits(self) -> u16;

    /// The leading 16 bits of the image of its `f32`.
    #[inline]
    fn float_bits(self) -> u16 {
        narrow(self.real()).own_bits()
    }

    fn on_edges(self) -> Self::Edge;
    fn edge(edge: f64) -> Self::Edge;
    fn per_bin(first: Self::Edge, last: Self::Edge, count: usize) -> Self::Edge;
    /// The bin of a number that is not outside, or one beside it.
    fn place(one: Self::Edge, first: Self::Edge, per_bin: Self::Edge) -> u32;
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "what is left out has no bin or bucket")]
fn narrow(one: f64) -> f32 {
    one as f32
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
        fn place(one: $float, first: $float, per_bin: $float) -> u32 {
            (((one - first) * per_bin) as i32).cast_unsigned()
        }
    };
}

macro_rules! float {
    ($($float:ty, $bits:literal, $edge:expr, $real:expr;)*) => {
        $(impl Element for $float {
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
    f32, 32, narrow, f64::from;
    f64, 64, identity, identity;
}

macro_rules! integer {
    ($($integer:ty, $word:ty, $wide:ty, $real:expr;)*) => {
        $(impl Element for $integer {
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
                values.iter().map(|one| <$wide>::from(*one)).sum::<$wide>().into()
            }

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "16 bits are left")]
            fn own_bits(self) -> u16 {
                // The smallest number has the image 0.
                let word = |one: $integer| <$word>::from_ne_bytes(one.to_ne_bytes());
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
fn real_of_u64(one: u64) -> f64 {
    one as f64
}

#[inline]
#[expect(clippy::cast_precision_loss, reason = "as in NumPy")]
fn real_of_i64(one: i64) -> f64 {
    one as f64
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
