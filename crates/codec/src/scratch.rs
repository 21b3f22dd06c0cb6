//! The contexts and buffers of a thread, reused so that coding allocates nothing.
//!
//! Every context is made at its first use, so that a thread that only meets Blosc and LZ4 never
//! pays for a zstd or deflate context. A codec may find all of it in any state, and may leave it in
//! any state.

use std::cell::Cell;

use crate::error::{CodecError, Result};
use crate::libdeflate::{Compressor, Decompressor};
use crate::memory::{Grow, Refused};

/// Minimum of decoded bytes between two polls.
const POLL_BYTES: usize = 1 << 20;

/// Contexts and buffers of one thread, shared by all codecs that the thread runs.
#[derive(Default)]
pub struct Scratch {
    zstd_decoder: Option<zstd_safe::DCtx<'static>>,
    zstd_encoder: Option<zstd_safe::CCtx<'static>>,
    inflater: Option<Decompressor>,
    deflater: Option<Compressor>,
    block: Vec<u8>,
    poll: Option<fn() -> bool>,
    unpolled_bytes: usize,
    ignored_bytes: Cell<usize>,
    bypasses_caches: bool,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").field("block_bytes", &self.block.len()).finish_non_exhaustive()
    }
}

/// The value in `slot`, made if it is empty.
fn made<T>(slot: &mut Option<T>, make: impl FnOnce() -> Option<T>) -> Result<&mut T> {
    if slot.is_none() {
        *slot = make();
    }
    slot.as_mut().ok_or(CodecError::Memory(Refused { bytes: size_of::<T>() }))
}

impl Scratch {
    /// Sets the poll of long work, which ends with [`CodecError::Interrupted`] if it returns true.
    ///
    /// Blosc polls between blocks, and so do bz2 and lzma between slices. Libraries that code in
    /// one call (deflate, zstd, LZ4, c-blosc's encoder for blosclz and zlib) are too fast to need
    /// it.
    pub fn poll_with(&mut self, poll: fn() -> bool) {
        self.poll = Some(poll);
    }

    /// Polls now.
    pub(crate) fn poll(&self) -> Result<()> {
        match self.poll {
            Some(poll) if poll() => Err(CodecError::Interrupted),
            _ => Ok(()),
        }
    }

    /// Polls, if enough work was done since the last time.
    ///
    /// # Errors
    /// [`CodecError::Interrupted`] if the call was cancelled.
    pub fn poll_after(&mut self, bytes: usize) -> Result<()> {
        self.unpolled_bytes += bytes;
        if self.unpolled_bytes < POLL_BYTES {
            return Ok(());
        }
        self.unpolled_bytes = 0;
        self.poll()
    }

    /// Whether decoders should bypass the CPU caches when they write to their destination, because
    /// it is a part of a result that is larger. They may do it or not; the bytes are the same.
    pub fn bypass_caches(&mut self, bypasses: bool) {
        self.bypasses_caches = bypasses;
    }

    pub(crate) fn bypasses_caches(&self) -> bool {
        self.bypasses_caches
    }

    /// Counts `bytes` after an encoded form that were ignored.
    pub(crate) fn ignore(&self, bytes: usize) {
        self.ignored_bytes.set(self.ignored_bytes.get().saturating_add(bytes));
    }

    /// Returns the count of ignored bytes, and resets it.
    pub fn take_ignored(&self) -> usize {
        self.ignored_bytes.take()
    }

    /// The zstd decoding context.
    pub(crate) fn zstd_decoder(&mut self) -> Result<&mut zstd_safe::DCtx<'static>> {
        made(&mut self.zstd_decoder, zstd_safe::DCtx::try_create)
    }

    /// The zstd encoding context.
    pub(crate) fn zstd_encoder(&mut self) -> Result<&mut zstd_safe::CCtx<'static>> {
        made(&mut self.zstd_encoder, zstd_safe::CCtx::try_create)
    }

    /// The deflate decoding context; `None` when memory is exhausted.
    pub(crate) fn inflater(&mut self) -> Option<&mut Decompressor> {
        if self.inflater.is_none() {
            self.inflater = Decompressor::new();
        }
        self.inflater.as_mut()
    }

    /// The deflate encoding context for `level`; `None` when memory is exhausted.
    pub(crate) fn deflater(&mut self, level: i32) -> Option<&mut Compressor> {
        if self.deflater.as_ref().is_none_or(|made| made.level() != level) {
            self.deflater = Compressor::new(level);
        }
        self.deflater.as_mut()
    }

    /// Takes the block buffer out, at least `bytes` long, so that the contexts can be used at the
    /// same time; [`Scratch::put_block`] returns it.
    pub(crate) fn take_block(&mut self, bytes: usize) -> Result<Vec<u8>> {
        let mut block = std::mem::take(&mut self.block);
        if block.len() < bytes {
            block.set_length(bytes)?;
        }
        Ok(block)
    }

    /// Returns a buffer of [`Scratch::take_block`].
    pub(crate) fn put_block(&mut self, block: Vec<u8>) {
        self.block = block;
    }
}
