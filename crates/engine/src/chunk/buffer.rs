//! Memory of the caller: a base pointer and byte strides, as in NumPy.
//!
//! The engine never makes a slice of a strided view. It copies runs in and out of it, and only a
//! run that is known to be one contiguous block is handed to a decoder as a slice.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{CodecResult, EngineError, Result};
use crate::layout::chunk::ChunkLayout;
use crate::layout::document::Layout;
use crate::memory::convert::Conversion;
use crate::memory::copy;
use crate::memory::strides::{Dim, Dims, Grid};
use crate::selection::chunk_selection::{ChunkSelection, covered};
use crate::selection::picks::Picks;

/// Buffers of this length do not stay in the CPU caches anyway.
const LARGE_BYTES: usize = 32 << 20;

/// The destination of a read.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    base: *mut u8,
    shape: &'a [usize],
    strides: &'a [isize],
    objects: Option<&'a dyn ObjectSink>,
    absent: Option<&'a AtomicUsize>,
    /// If it is not empty, it has the memory of each destination that selections name by number.
    outs: &'a [Out<'a>],
}

/// One of several destinations of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out<'a> {
    pub base: *mut u8,
    /// How numbers are converted.
    pub conversion: Option<&'a Conversion>,
}

// SAFETY: as for `Target`, of which it is a part.
unsafe impl Send for Out<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Out<'_> {}

/// The source of a write; a stride of 0 repeats one element.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    base: *const u8,
    shape: &'a [usize],
    strides: &'a [isize],
    objects: Option<&'a dyn ObjectSource>,
}

// SAFETY: the constructor's contract lets the engine write from any thread until the call returns,
// and every task of a call writes elements that no other task of it touches.
unsafe impl Send for Target<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Target<'_> {}
// SAFETY: the constructor's contract lets the engine read from any thread until the call returns.
unsafe impl Send for Source<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Source<'_> {}

impl<'a> Target<'a> {
    /// # Safety
    /// Every element that `shape` and `strides` (in bytes) reach from `base` is writable memory
    /// that stays valid while this value is in use, and no two of them overlap.
    pub unsafe fn new(base: *mut u8, shape: &'a [usize], strides: &'a [isize]) -> Self {
        Self { base, shape, strides, objects: None, absent: None, outs: &[] }
    }

    /// A target for variable-length elements; only the sink accesses the memory.
    pub fn objects(shape: &'a [usize], strides: &'a [isize], sink: &'a dyn ObjectSink) -> Self {
        let base = std::ptr::null_mut();
        Self { base, shape, strides, objects: Some(sink), absent: None, outs: &[] }
    }

    /// Several targets as one: `shape` has as many elements as all of them, and selections name
    /// them by number.
    pub(crate) fn several(outs: &'a [Out<'a>], shape: &'a [usize]) -> Self {
        let base = std::ptr::null_mut();
        Self { base, shape, strides: &[], objects: None, absent: None, outs }
    }

    /// The same target, for a call that counts its missing chunks in `absent`.
    pub(crate) fn counting<'b>(self, absent: &'b AtomicUsize) -> Target<'b>
    where
        'a: 'b,
    {
        Target { absent: Some(absent), ..self }
    }

    /// Bytes of its elements, if each has `item_bytes`.
    pub(crate) fn bytes(&self, item_bytes: usize) -> usize {
        self.shape.iter().copied().fold(item_bytes, usize::saturating_mul)
    }

    pub(crate) fn absent(&self) -> Option<&'a AtomicUsize> {
        self.absent
    }

    pub(crate) fn sink(&self) -> Option<&'a dyn ObjectSink> {
        self.objects
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.shape
    }

    pub(crate) fn strides(&self) -> &[isize] {
        self.strides
    }
}

impl<'a> Source<'a> {
    /// # Safety
    /// Every element that `shape` and `strides` (in bytes) reach from `base` is readable memory
    /// that stays valid while this value is in use.
    pub unsafe fn new(base: *const u8, shape: &'a [usize], strides: &'a [isize]) -> Self {
        Self { base, shape, strides, objects: None }
    }

    /// A source of variable-length elements; only the source itself accesses the memory.
    pub fn objects(shape: &'a [usize], strides: &'a [isize], source: &'a dyn ObjectSource) -> Self {
        Self { base: std::ptr::null(), shape, strides, objects: Some(source) }
    }

    pub(crate) fn source(&self) -> Option<&'a dyn ObjectSource> {
        self.objects
    }

    pub(crate) fn base(&self) -> *const u8 {
        self.base
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.shape
    }

    pub(crate) fn strides(&self) -> &[isize] {
        self.strides
    }
}

/// Refuses a buffer with another shape than the selection.
pub(crate) fn check_shape(expected: &[usize], given: &[usize], role: &str) -> Result<()> {
    if expected == given {
        return Ok(());
    }
    Err(EngineError::Selection(format!(
        "{role} has shape {given:?}, but the selection has shape {expected:?}"
    )))
}

/// The buffer of a read, as its tasks use it.
#[derive(Clone, Copy)]
pub(crate) struct ReadBuffer<'a> {
    to: *mut u8,
    outs: &'a [Out<'a>],
    pub objects: Option<&'a dyn ObjectSink>,
    pub layout: &'a Layout,
    /// Counts the missing chunks of the call.
    pub absent: Option<&'a AtomicUsize>,
    is_large: bool,
}

impl<'a> ReadBuffer<'a> {
    pub fn new(target: Target<'a>, layout: &'a Layout) -> Self {
        let (objects, absent) = (target.sink(), target.absent());
        let is_large = target.bytes(layout.item_bytes) >= LARGE_BYTES;
        Self { to: target.base(), outs: target.outs, objects, layout, absent, is_large }
    }

    /// For a chunk that is contiguous memory.
    pub fn over(memory: &'a mut [u8], layout: &'a Layout) -> Self {
        Self {
            to: memory.as_mut_ptr(),
            outs: &[],
            objects: None,
            layout,
            absent: None,
            is_large: false,
        }
    }

    /// The memory of `selected`, and how its numbers are converted.
    fn out(&self, selected: &ChunkSelection<'_>) -> Out<'a> {
        let only = Out { base: self.to, conversion: None };
        self.outs.get(selected.out()).copied().unwrap_or(only)
    }

    /// Where an element of `selected` lies whose offset is `offset`, if elements are copied there
    /// as they are.
    pub fn plain(&self, selected: &ChunkSelection<'_>, offset: isize) -> Option<*mut u8> {
        let out = self.out(selected);
        out.conversion.is_none().then(|| out.base.wrapping_offset(offset))
    }

    /// Copies one decoded element of `selected` to where it lies at `offset`, converted if need be.
    ///
    /// # Safety
    /// As for [`Self::copy`].
    pub unsafe fn copy_one(&self, selected: &ChunkSelection<'_>, offset: isize, from: *const u8) {
        let out = self.out(selected);
        let to = out.base.wrapping_offset(offset);
        // SAFETY: as the caller vouches.
        unsafe {
            match out.conversion {
                Some(conversion) => conversion.copy_grid(to, from, Grid::default()),
                None => std::ptr::copy_nonoverlapping(from, to, self.layout.item_bytes),
            }
        }
    }

    /// Copies a box of decoded elements to where it begins at `offset`, converted if need be.
    ///
    /// # Safety
    /// `from` must be valid for every element that `dims` reach from it, and no element of the
    /// buffer may overlap one of them. The maker of the buffer vouches for the other side.
    pub unsafe fn copy(
        &self,
        selected: &ChunkSelection<'_>,
        offset: isize,
        from: *const u8,
        dims: &[Dim],
    ) {
        if dims.is_empty() {
            // SAFETY: as the caller vouches.
            return unsafe { self.copy_one(selected, offset, from) };
        }
        let dims = Dims::from_slice(dims);
        // SAFETY: as the caller vouches.
        unsafe { self.copy_grid(selected, offset, from, Grid { dims, ..Grid::default() }) }
    }

    /// [`Self::copy`] of a box at every combination of the offsets of the grid's lists.
    ///
    /// # Safety
    /// As for [`Self::copy`], for every element that the grid reaches.
    pub unsafe fn copy_grid(
        &self,
        selected: &ChunkSelection<'_>,
        offset: isize,
        from: *const u8,
        grid: Grid,
    ) {
        let (out, item) = (self.out(selected), self.layout.item_bytes);
        let to = out.base.wrapping_offset(offset);
        // SAFETY: as the caller vouches.
        unsafe {
            match out.conversion {
                Some(conversion) => conversion.copy_grid(to, from, grid),
                None if self.is_large && grid.lists.is_empty() => {
                    copy::copy_nontemporal(to, from, grid.dims, item);
                }
                None => copy::copy_grid(to, from, grid, item),
            }
        }
    }

    /// Writes the fill value to every element of a grid that begins at `offset`; its source side is
    /// ignored.
    ///
    /// # Safety
    /// The maker of the buffer vouches for every element that the grid reaches.
    pub unsafe fn fill(&self, selected: &ChunkSelection<'_>, offset: isize, grid: Grid) {
        let out = self.out(selected);
        let to = out.base.wrapping_offset(offset);
        // SAFETY: as the caller vouches; numbers have complete fill values.
        unsafe {
            match out.conversion {
                Some(conversion) => conversion.fill(to, grid, self.layout.fill.number()),
                None => self.layout.fill.put(to, grid),
            }
        }
    }

    /// Whether all of the buffer is larger than the CPU caches.
    pub fn is_large(&self) -> bool {
        self.is_large
    }

    pub fn count_absent(&self) {
        if let Some(absent) = self.absent {
            absent.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The buffer of a write, as its tasks use it.
#[derive(Clone, Copy)]
pub(crate) struct WriteBuffer<'a> {
    pub from: *const u8,
    pub objects: Option<&'a dyn ObjectSource>,
    pub layout: &'a Layout,
    /// Whether a chunk that is all fill value is stored.
    pub keep_empty: bool,
}

impl WriteBuffer<'_> {
    /// Whether a chunk of these elements is stored.
    pub fn stores(&self, decoded: &[u8]) -> bool {
        self.keep_empty || !self.layout.fill.is_all(decoded)
    }
}

/// What a call changes of one chunk.
#[derive(Clone, Copy)]
pub(crate) struct Edit<'a, 'w> {
    pub selected: &'a [ChunkSelection<'w>],
    /// How much of the chunk lies inside the array, by the shape that this handle knows.
    pub limits: &'a [usize],
    pub buffer: WriteBuffer<'a>,
}

impl Edit<'_, '_> {
    /// Whether all of the chunk is written, inside and outside of the array.
    pub fn covers_all(&self, chunk: &ChunkLayout) -> bool {
        covered(self.selected, &chunk.shape)
    }

    /// Whether all that lies inside the array is written.
    pub fn covers_inside(&self) -> bool {
        covered(self.selected, self.limits)
    }
}

/// Extracts elements from decoded variable-length chunks, to memory that it knows. Called from any
/// thread of the pool.
pub trait ObjectSink: Sync + fmt::Debug {
    /// Writes the selected elements of `chunk` to memory, or the fill value if `chunk` is `None`.
    ///
    /// # Errors
    /// [`CodecError::Corrupt`] or [`CodecError::Foreign`] if the chunk is not valid.
    fn place(&self, chunk: Option<&[u8]>, picks: &Picks<'_, '_>) -> CodecResult<()>;
}

/// Makes decoded variable-length chunks. Called from any thread of the pool.
pub trait ObjectSource: Sync + fmt::Debug {
    /// Replaces `out` by a chunk with the selected elements from the source. The others are those
    /// of `old`, or the fill value if that is `None`.
    ///
    /// False if all elements are the fill value, and such a chunk is not stored.
    ///
    /// # Errors
    /// [`CodecError::Corrupt`] or [`CodecError::Foreign`] if the old chunk is not valid, and
    /// [`CodecError::Encode`] if an element cannot be stored.
    fn update(
        &self,
        old: Option<&[u8]>,
        picks: &Picks<'_, '_>,
        keep_empty: bool,
        out: &mut Vec<u8>,
    ) -> CodecResult<bool>;
}
