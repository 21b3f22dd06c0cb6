//! Copies that convert the numbers of a decoded chunk.
//!
//! An element becomes `value * scale + offset`, clipped, with another value for NaN, computed in
//! double precision and rounded once to the type of the buffer: to the nearest integer, ties to the
//! even one, and to the nearest limit beyond the integers of the type. Integers of 64 bits are not
//! made doubles where they only become other integers. Types of one byte are looked up in a table.
//! All others are computed by a loop for each pair of types, which the compiler vectorizes; on
//! x86-64 there is a second version of each for AVX2.

use crate::memory::copy::normalize;
use crate::memory::floats::{bfloat_of, half_of, of_bfloat, of_half};
use crate::memory::strides::{Dim, Grid, List};

/// The type of stored numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A byte that is true unless it is 0.
    Bool,
    /// Unsigned and signed integers.
    U8,
    /// See [`Number::U8`].
    I8,
    /// See [`Number::U8`].
    U16,
    /// See [`Number::U8`].
    I16,
    /// See [`Number::U8`].
    U32,
    /// See [`Number::U8`].
    I32,
    /// See [`Number::U8`].
    U64,
    /// See [`Number::U8`].
    I64,
    /// Floating-point numbers.
    Float(Float),
}

/// The type of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    /// IEEE 754 half precision.
    F16,
    /// The upper half of a single.
    BF16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Float {
    /// Item size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::BF16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

impl Number {
    /// Item size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 => 4,
            Self::U64 | Self::I64 => 8,
            Self::Float(float) => float.bytes(),
        }
    }
}

/// What is computed of each number.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// Factor.
    pub scale: f64,
    /// What is added to the product; -0.0 changes nothing.
    pub offset: f64,
    /// The result is at least this.
    pub low: f64,
    /// The result is at most this.
    pub high: f64,
    /// The result for NaN.
    pub nan: f64,
}

impl Formula {
    /// Whether each number but NaN stays what it is.
    fn changes_nothing(&self) -> bool {
        (self.scale, self.offset) == (1.0, 0.0)
            && (self.low, self.high) == (f64::NEG_INFINITY, f64::INFINITY)
    }

    #[inline(always)]
    fn apply(&self, value: f64) -> f64 {
        let value = value * self.scale + self.offset;
        // Comparisons with NaN are false, so that it stays what it is until the end.
        let value = if value < self.low { self.low } else { value };
        let value = if value > self.high { self.high } else { value };
        if value.is_nan() { self.nan } else { value }
    }
}

/// Steps in bytes from one element of a row to the next.
#[derive(Clone, Copy)]
struct Steps {
    dst: isize,
    src: isize,
}

/// Converts a row of elements.
type Row = unsafe fn(*mut u8, *const u8, usize, Steps, &Formula);

/// A conversion from one type to another.
#[derive(Debug)]
pub struct Conversion {
    source: Number,
    target: Number,
    formula: Formula,
    row: Row,
    /// The results for the 256 values of a type of one byte.
    table: Option<Table>,
}

#[derive(Debug)]
enum Table {
    One(Box<[u8; 256]>),
    Two(Box<[u16; 256]>),
    Four(Box<[u32; 256]>),
    Eight(Box<[u64; 256]>),
}

impl Conversion {
    /// `swapped` says that stored numbers have the other byte order than this machine.
    #[must_use]
    pub fn new(source: Number, swapped: bool, target: Number, formula: Formula) -> Self {
        let exact = formula.changes_nothing().then(|| exact_row_of(source, swapped, target));
        let row = exact.flatten().unwrap_or_else(|| row_of(source, swapped, target));
        let mut made = Self { source, target, formula, row, table: None };
        if source.bytes() == 1 {
            made.table = Some(made.tabulated());
        }
        made
    }

    /// Item size of the stored numbers.
    #[must_use]
    pub fn source_bytes(&self) -> usize {
        self.source.bytes()
    }

    /// Item size of the results.
    #[must_use]
    pub fn target_bytes(&self) -> usize {
        self.target.bytes()
    }

    fn tabulated(&self) -> Table {
        let mut table = match self.target.bytes() {
            1 => Table::One(Box::new([0; 256])),
            2 => Table::Two(Box::new([0; 256])),
            4 => Table::Four(Box::new([0; 256])),
            _ => Table::Eight(Box::new([0; 256])),
        };
        let bytes: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        let to = match &mut table {
            Table::One(entries) => entries.as_mut_ptr().cast(),
            Table::Two(entries) => entries.as_mut_ptr().cast(),
            Table::Four(entries) => entries.as_mut_ptr().cast(),
            Table::Eight(entries) => entries.as_mut_ptr().cast(),
        };
        let steps = Steps { dst: self.target.bytes() as isize, src: 1 };
        // SAFETY: 256 elements on both sides.
        unsafe { (self.row)(to, bytes.as_ptr(), 256, steps, &self.formula) };
        table
    }

    /// Converts a box at every combination of the lists' offsets, the last list fastest.
    ///
    /// # Safety
    /// `dst` and `src` must be valid for every element that the grid reaches from them, and no
    /// element of the destination may overlap one of the source.
    pub(crate) unsafe fn copy_grid(&self, dst: *mut u8, src: *const u8, grid: Grid) {
        let Some(dims) = normalize(grid.dims, self.source.bytes()) else { return };
        // SAFETY: the caller vouches for every element of the grid.
        unsafe { self.lists(dst, src, &grid.lists, &dims) }
    }

    /// Writes the result for one `element` to every element of a grid, whose source side is
    /// ignored.
    ///
    /// # Safety
    /// `dst` must be valid for every element that the grid reaches from it, and `element` as long
    /// as one.
    pub(crate) unsafe fn fill(&self, dst: *mut u8, mut grid: Grid, element: &[u8]) {
        grid.dims.iter_mut().for_each(|dim| dim.src = 0);
        grid.lists.iter_mut().for_each(|list| list.src.fill(0));
        // SAFETY: the caller vouches for the destination; the source is one element.
        unsafe { self.copy_grid(dst, element.as_ptr(), grid) }
    }

    unsafe fn lists(&self, dst: *mut u8, src: *const u8, lists: &[List], dims: &[Dim]) {
        // SAFETY: every pointer below is one of the grid's elements, which the caller vouches for.
        unsafe {
            let [outer, inner @ ..] = lists else { return self.rows(dst, src, dims) };
            for (to, from) in outer.dst.iter().zip(&outer.src) {
                self.lists(dst.offset(*to), src.offset(*from), inner, dims);
            }
        }
    }

    unsafe fn rows(&self, dst: *mut u8, src: *const u8, dims: &[Dim]) {
        // SAFETY: every pointer below is one of the box's elements, which the caller vouches for.
        unsafe {
            match dims {
                [] => self.one_row(dst, src, 1, Steps { dst: 0, src: 0 }),
                [row] => self.one_row(dst, src, row.count, Steps { dst: row.dst, src: row.src }),
                [outer, inner @ ..] => {
                    for i in 0..outer.count as isize {
                        self.rows(dst.offset(i * outer.dst), src.offset(i * outer.src), inner);
                    }
                }
            }
        }
    }

    unsafe fn one_row(&self, dst: *mut u8, src: *const u8, count: usize, steps: Steps) {
        // SAFETY: the caller vouches for every element of the row.
        unsafe {
            match &self.table {
                None => (self.row)(dst, src, count, steps, &self.formula),
                Some(Table::One(table)) => look_up(dst, src, count, steps, table),
                Some(Table::Two(table)) => look_up(dst, src, count, steps, table),
                Some(Table::Four(table)) => look_up(dst, src, count, steps, table),
                Some(Table::Eight(table)) => look_up(dst, src, count, steps, table),
            }
        }
    }
}

unsafe fn look_up<T: Copy>(
    mut dst: *mut u8,
    mut src: *const u8,
    count: usize,
    steps: Steps,
    table: &[T; 256],
) {
    // SAFETY: every pointer is that of an element of the row, which the caller vouches for.
    unsafe {
        if steps.src == 1 && steps.dst == size_of::<T>() as isize {
            let to = dst.cast::<T>();
            for i in 0..count {
                to.add(i).write_unaligned(table[usize::from(*src.add(i))]);
            }
            return;
        }
        for _ in 0..count {
            dst.cast::<T>().write_unaligned(table[usize::from(*src)]);
            dst = dst.wrapping_offset(steps.dst);
            src = src.wrapping_offset(steps.src);
        }
    }
}

/// A stored number.
trait Load: Copy {
    /// The bits as they are stored.
    type Bits: Copy;
    fn value(bits: Self::Bits) -> f64;
    fn swapped(bits: Self::Bits) -> Self::Bits;
}

/// A number of the buffer.
trait Save: Copy {
    fn of(value: f64) -> Self;
}

macro_rules! loads {
    ($($name:ident: $bits:ty, $value:ident => $double:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name;
        impl Load for $name {
            type Bits = $bits;
            #[inline(always)]
            fn value($value: $bits) -> f64 {
                $double
            }
            #[inline(always)]
            fn swapped(bits: $bits) -> $bits {
                bits.swap_bytes()
            }
        }
    )*};
}

loads! {
    Bool: u8, bits => f64::from(u8::from(bits != 0));
    U8: u8, bits => f64::from(bits);
    I8: u8, bits => f64::from(bits as i8);
    U16: u16, bits => f64::from(bits);
    I16: u16, bits => f64::from(bits as i16);
    U32: u32, bits => f64::from(bits);
    I32: u32, bits => f64::from(bits as i32);
    U64: u64, bits => bits as f64;
    I64: u64, bits => bits as i64 as f64;
    Half: u16, bits => f64::from(of_half(bits));
    Bfloat: u16, bits => f64::from(of_bfloat(bits));
    Single: u32, bits => f64::from(f32::from_bits(bits));
    Double: u64, bits => f64::from_bits(bits);
}

/// The bits of a half.
#[derive(Clone, Copy)]
struct HalfBits(#[expect(dead_code, reason = "written as it is")] u16);
/// The bits of a bfloat.
#[derive(Clone, Copy)]
struct BfloatBits(#[expect(dead_code, reason = "written as it is")] u16);

impl Save for HalfBits {
    #[inline(always)]
    fn of(value: f64) -> Self {
        Self(half_of(value))
    }
}

impl Save for BfloatBits {
    #[inline(always)]
    fn of(value: f64) -> Self {
        Self(bfloat_of(value))
    }
}

impl Save for f32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as Self
    }
}

impl Save for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
}

/// An integer of the buffer.
trait SaveInteger: Copy {
    /// The nearest one.
    fn of_integer(value: i128) -> Self;
}

macro_rules! integers {
    ($($name:ty),*) => {$(
        impl Save for $name {
            #[inline(always)]
            fn of(value: f64) -> Self {
                // Beyond the limits a cast gives the nearest one; 0 for NaN.
                value.round_ties_even() as Self
            }
        }
        impl SaveInteger for $name {
            #[inline(always)]
            fn of_integer(value: i128) -> Self {
                value.clamp(i128::from(Self::MIN), i128::from(Self::MAX)) as Self
            }
        }
    )*};
}

integers! { u8, i8, u16, i16, u32, i32, u64, i64 }

unsafe fn exact<D: SaveInteger, const SIGNED: bool, const SWAPPED: bool>(
    mut dst: *mut u8,
    mut src: *const u8,
    count: usize,
    steps: Steps,
    _: &Formula,
) {
    for _ in 0..count {
        // SAFETY: both pointers are those of an element, which the caller vouches for.
        unsafe {
            let bits = src.cast::<u64>().read_unaligned();
            let bits = if SWAPPED { bits.swap_bytes() } else { bits };
            let value = if SIGNED { i128::from(bits as i64) } else { i128::from(bits) };
            dst.cast::<D>().write_unaligned(D::of_integer(value));
        }
        dst = dst.wrapping_offset(steps.dst);
        src = src.wrapping_offset(steps.src);
    }
}

#[inline(always)]
unsafe fn convert<S: Load, D: Save, const SWAPPED: bool>(
    mut dst: *mut u8,
    mut src: *const u8,
    count: usize,
    steps: Steps,
    formula: &Formula,
) {
    let formula = *formula;
    let one = |bits: S::Bits| {
        D::of(formula.apply(S::value(if SWAPPED { S::swapped(bits) } else { bits })))
    };
    let (item, result) = (size_of::<S::Bits>() as isize, size_of::<D>() as isize);
    // SAFETY: every pointer is that of an element of the row, which the caller vouches for.
    unsafe {
        if steps.src == item && steps.dst == result {
            let (to, from) = (dst.cast::<D>(), src.cast::<S::Bits>());
            for i in 0..count {
                to.add(i).write_unaligned(one(from.add(i).read_unaligned()));
            }
            return;
        }
        for _ in 0..count {
            dst.cast::<D>().write_unaligned(one(src.cast::<S::Bits>().read_unaligned()));
            dst = dst.wrapping_offset(steps.dst);
            src = src.wrapping_offset(steps.src);
        }
    }
}

unsafe fn plain<S: Load, D: Save, const SWAPPED: bool>(
    dst: *mut u8,
    src: *const u8,
    count: usize,
    steps: Steps,
    formula: &Formula,
) {
    // SAFETY: as the caller vouches.
    unsafe { convert::<S, D, SWAPPED>(dst, src, count, steps, formula) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn wide<S: Load, D: Save>(
    dst: *mut u8,
    src: *const u8,
    count: usize,
    steps: Steps,
    formula: &Formula,
) {
    // SAFETY: as the caller vouches.
    unsafe { convert::<S, D, false>(dst, src, count, steps, formula) }
}

fn row_of(source: Number, swapped: bool, target: Number) -> Row {
    match target {
        Number::Bool | Number::U8 => row_to::<u8>(source, swapped),
        Number::I8 => row_to::<i8>(source, swapped),
        Number::U16 => row_to::<u16>(source, swapped),
        Number::I16 => row_to::<i16>(source, swapped),
        Number::U32 => row_to::<u32>(source, swapped),
        Number::I32 => row_to::<i32>(source, swapped),
        Number::U64 => row_to::<u64>(source, swapped),
        Number::I64 => row_to::<i64>(source, swapped),
        Number::Float(Float::F16) => row_to::<HalfBits>(source, swapped),
        Number::Float(Float::BF16) => row_to::<BfloatBits>(source, swapped),
        Number::Float(Float::F32) => row_to::<f32>(source, swapped),
        Number::Float(Float::F64) => row_to::<f64>(source, swapped),
    }
}

/// How integers of 64 bits, some of which no double has, become other integers.
fn exact_row_of(source: Number, swapped: bool, target: Number) -> Option<Row> {
    match (source, swapped) {
        (Number::U64, false) => exact_row_to::<false, false>(target),
        (Number::U64, true) => exact_row_to::<false, true>(target),
        (Number::I64, false) => exact_row_to::<true, false>(target),
        (Number::I64, true) => exact_row_to::<true, true>(target),
        _ => None,
    }
}

fn exact_row_to<const SIGNED: bool, const SWAPPED: bool>(target: Number) -> Option<Row> {
    Some(match target {
        Number::Bool | Number::Float(_) => return None,
        Number::U8 => exact::<u8, SIGNED, SWAPPED>,
        Number::I8 => exact::<i8, SIGNED, SWAPPED>,
        Number::U16 => exact::<u16, SIGNED, SWAPPED>,
        Number::I16 => exact::<i16, SIGNED, SWAPPED>,
        Number::U32 => exact::<u32, SIGNED, SWAPPED>,
        Number::I32 => exact::<i32, SIGNED, SWAPPED>,
        Number::U64 => exact::<u64, SIGNED, SWAPPED>,
        Number::I64 => exact::<i64, SIGNED, SWAPPED>,
    })
}

fn row_to<D: Save>(source: Number, swapped: bool) -> Row {
    match source {
        Number::Bool => plain::<Bool, D, false>,
        Number::U8 => plain::<U8, D, false>,
        Number::I8 => plain::<I8, D, false>,
        Number::U16 => row::<U16, D>(swapped),
        Number::I16 => row::<I16, D>(swapped),
        Number::U32 => row::<U32, D>(swapped),
        Number::I32 => row::<I32, D>(swapped),
        Number::U64 => row::<U64, D>(swapped),
        Number::I64 => row::<I64, D>(swapped),
        Number::Float(Float::F16) => row::<Half, D>(swapped),
        Number::Float(Float::BF16) => row::<Bfloat, D>(swapped),
        Number::Float(Float::F32) => row::<Single, D>(swapped),
        Number::Float(Float::F64) => row::<Double, D>(swapped),
    }
}

fn row<S: Load, D: Save>(swapped: bool) -> Row {
    if swapped {
        return plain::<S, D, true>;
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return wide::<S, D>;
    }
    plain::<S, D, false>
}
