//! What a thread keeps between calls so that coding allocates nothing.
//!
//! Every context is made at its first use, so that a thread that only meets Blosc and LZ4 never
//! pays for a zstd or deflate context. Nothing here outlives a call: a codec may find any of it in
//! any state and leaves it in any state.

use crate::deflate::{Compressor, Decompressor};

/// Contexts and buffers of one thread, shared by all codecs that the thread runs.
#[derive(Default)]
pub struct Scratch {
    zstd_decoder: Option<zstd_safe::DCtx<'static>>,
    zstd_encoder: Option<zstd_safe::CCtx<'static>>,
    inflater: Option<Decompressor>,
    deflater: Option<Compressor>,
    block: Vec<u8>,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").field("block_bytes", &self.block.len()).finish_non_exhaustive()
    }
}

impl Scratch {
    /// The zstd decoding context.
    pub(crate) fn zstd_decoder(&mut self) -> &mut zstd_safe::DCtx<'static> {
        self.zstd_decoder.get_or_insert_with(zstd_safe::DCtx::create)
    }

    /// The zstd encoding context.
    pub(crate) fn zstd_encoder(&mut self) -> &mut zstd_safe::CCtx<'static> {
        self.zstd_encoder.get_or_insert_with(zstd_safe::CCtx::create)
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
    pub(crate) fn take_block(&mut self, bytes: usize) -> Vec<u8> {
        let mut block = std::mem::take(&mut self.block);
        if block.len() < bytes {
            block.resize(bytes, 0);
        }
        block
    }

    /// Gives a buffer of [`Scratch::take_block`] back.
    pub(crate) fn put_block(&mut self, block: Vec<u8>) {
        self.block = block;
    }
}
