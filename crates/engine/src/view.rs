//! Memory that belongs to the caller: a base pointer and byte strides, as NumPy describes it.
//!
//! The engine never makes a slice of a strided view; it copies runs in and out of it, and only a
//! run that is known to be one contiguous block is handed to a decoder as a slice.

use std::sync::atomic::AtomicUsize;

use crate::blobs::{ObjectSink, ObjectSource};
use crate::error::{EngineError, Result};

/// Where a read puts its elements.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    base: *mut u8,
    shape: &'a [usize],
    strides: &'a [isize],
    objects: Option<&'a dyn ObjectSink>,
    absent: Option<&'a AtomicUsize>,
}

/// Where a write takes its elements from; a stride of 0 repeats one.
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
        Self { base, shape, strides, objects: None, absent: None }
    }

    /// Elements that have no size of their own; the memory is the sink's, and only it touches it.
    pub fn objects(shape: &'a [usize], strides: &'a [isize], sink: &'a dyn ObjectSink) -> Self {
        let base = std::ptr::null_mut();
        Self { base, shape, strides, objects: Some(sink), absent: None }
    }

    /// The same target, of a call that counts in `absent` which of its chunks are not stored.
    pub(crate) fn counting<'b>(self, absent: &'b AtomicUsize) -> Target<'b>
    where
        'a: 'b,
    {
        Target { absent: Some(absent), ..self }
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

    /// Elements that have no size of their own; the memory is the source's, and only it looks at it.
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

/// Refuses a buffer whose shape is not what the selection gives.
pub(crate) fn check_shape(wanted: &[usize], given: &[usize], role: &str) -> Result<()> {
    if wanted == given {
        return Ok(());
    }
    Err(EngineError::Selection(format!(
        "{role} has shape {given:?}, but the selection has shape {wanted:?}"
    )))
}
