//! What a thread keeps between calls so that coding allocates nothing.
//!
//! Every context is made at its first use, so that a thread that only meets Blosc and LZ4 never
//! pays for a zstd or deflate context. Nothing here outlives a call: a codec may find any of it in
//! any state and leaves it in any state.

use std::cell::Cell;

use crate::deflate::{Compressor, Decompressor};
use crate::memory::{Grow, Refused};
use crate::{CodecError, Result};

/// How much is decoded, at least, from one call of the poll to the next.
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
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").field("block_bytes", &self.block.len()).finish_non_exhaustive()
    }
}

/// What is in `slot`, made if it is empty.
fn made<T>(slot: &mut Option<T>, make: impl FnOnce() -> Option<T>) -> Result<&mut T> {
    if slot.is_none() {
        *slot = make();
    }
    slot.as_mut().ok_or(CodecError::Memory(Refused { bytes: size_of::<T>() }))
}

impl Scratch {
    /// Has `poll` asked between the steps of long work, which ends with
    /// [`CodecError::Interrupted`] when that answers true.
    ///
    /// Asked are the blocks of Blosc, and bz2 and lzma. What libraries code in one call (deflate,
    /// zstd, LZ4, encoding of blosclz and zlib by c-blosc) is done at a rate that leaves nobody waiting for long.
    pub fn poll_with(&mut self, poll: fn() -> bool) {
        self.poll = Some(poll);
    }

    /// Asks whether to go on, now.
    pub(crate) fn poll(&self) -> Result<()> {
        match self.poll {
            Some(poll) if poll() => Err(CodecError::Interrupted),
            _ => Ok(()),
        }
    }

    /// Asks, if there is work of some size since the last time.
    ///
    /// # Errors
    ///
    /// [`CodecError::Interrupted`] if it is over.
    pub fn poll_after(&mut self, bytes: usize) -> Result<()> {
        self.unpolled_bytes += bytes;
        if self.unpolled_bytes < POLL_BYTES {
            return Ok(());
        }
        self.unpolled_bytes = 0;
        self.poll()
    }

    /// Notes that `bytes` behind an encoded form were ignored.
    pub(crate) fn ignore(&self, bytes: usize) {
        self.ignored_bytes.set(self.ignored_bytes.get().saturating_add(bytes));
    }

    /// How many bytes behind encoded forms were ignored since this was last asked.
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

    /// Takes the block buffer out, at least `bytes` long, so that the contexts stay usable beside
    /// it; [`Scratch::put_block`] gives it back.
    pub(crate) fn take_block(&mut self, bytes: usize) -> Result<Vec<u8>> {
        let mut block = std::mem::take(&mut self.block);
        if block.len() < bytes {
            block.set_length(bytes)?;
        }
        Ok(block)
    }

    /// Gives a buffer of [`Scratch::take_block`] back.
    pub(crate) fn put_block(&mut self, block: Vec<u8>) {
        self.block = block;
    }
}
