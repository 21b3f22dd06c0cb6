//! A large block of memory that belongs to one owner.

use std::mem::ManuallyDrop;

use crate::sys::{HAS_PAGES, map_pages, set_pages_aside, take_pages_back, unmap_pages};

/// A multiple of the page size of every system.
const STEP: usize = 64 << 10;

/// A block of whole pages, which it gives back to the system when it is dropped.
#[derive(Debug)]
pub struct Pages {
    begin: *mut u8,
    bytes: usize,
}

// SAFETY: it alone owns the block.
unsafe impl Send for Pages {}

impl Pages {
    /// Whether this system has such blocks.
    pub const EXIST: bool = HAS_PAGES;

    /// At least `bytes` bytes of zeros, in huge pages if `huge` and the kernel has them; `None` if
    /// the system refuses them, or does not have such blocks.
    #[must_use]
    pub fn map(bytes: usize, huge: bool) -> Option<Self> {
        let bytes = bytes.max(1).checked_next_multiple_of(STEP)?;
        Some(Self { begin: map_pages(bytes, huge)?, bytes })
    }

    /// The address of the first byte.
    #[must_use]
    pub fn begin(&self) -> *mut u8 {
        self.begin
    }

    /// The length of the block.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first address of a block that is not given back; see [`Pages::from_raw`].
    #[must_use]
    pub fn into_raw(self) -> *mut u8 {
        ManuallyDrop::new(self).begin
    }

    /// # Safety
    /// Both are those of a block that [`Pages::into_raw`] took, and that nothing else owns.
    #[must_use]
    pub unsafe fn from_raw(begin: *mut u8, bytes: usize) -> Self {
        Self { begin, bytes }
    }

    /// Sets the block aside: until [`Pages::taken_back`], its contents are unspecified, the kernel
    /// may take its memory for others, and forked children do not have it. `None`, and the block is
    /// given back, where that is not possible.
    #[must_use]
    pub fn set_aside(self) -> Option<Self> {
        // SAFETY: `self` alone owns the block.
        unsafe { set_pages_aside(self.begin, self.bytes) }.then_some(self)
    }

    /// A block that was set aside, for use; its contents are unspecified.
    #[must_use]
    pub fn taken_back(self) -> Option<Self> {
        // SAFETY: `self` alone owns the block.
        unsafe { take_pages_back(self.begin, self.bytes) }.then_some(self)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `self` alone owned the block.
        unsafe { unmap_pages(self.begin, self.bytes) };
    }
}
