//! Blosc frames, assembled from blocks that any threads encode in any order.
//!
//! The frames have the same bytes as those of c-blosc: the same block sizes, the same streams, from
//! the same libraries. c-blosc does it in one call on one thread, without a way to cancel it; here
//! several threads share the work, and a cancellation ends it between two blocks.

use std::borrow::Borrow;
use std::ops::Range;

use super::config::{Blosc, Shuffle};
use super::header::{HEADER_BYTES, LENGTH_BYTES};
use crate::error::Result;
use crate::lz4;
use crate::memory::Grow;
use crate::scratch::Scratch;
use crate::transpose::{bit_shuffle, shuffle};

/// Below this many bytes, Blosc neither compresses nor splits into shorter streams.
const MIN_BYTES: usize = 128;
const MAX_SPLITS: usize = 16;
const CACHE_BYTES: usize = 32 << 10;
const MAX_BLOCK_BYTES: usize = (i32::MAX as usize - 255 * 4) / 3;
const STORED: u8 = 0x02;
const NO_SPLIT: u8 = 0x10;

/// What compresses the streams of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Streams {
    Lz4,
    Lz4Hc,
    Snappy,
    Zstd,
}

impl Streams {
    /// The compressor that metadata calls `cname`; `None` for those that only c-blosc has.
    pub(super) fn named(cname: &[u8]) -> Option<Self> {
        match cname {
            b"lz4" => Some(Self::Lz4),
            b"lz4hc" => Some(Self::Lz4Hc),
            b"snappy" => Some(Self::Snappy),
            b"zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The number of the format in the header.
    fn format(self) -> u8 {
        match self {
            Self::Lz4 | Self::Lz4Hc => 1,
            Self::Snappy => 2,
            Self::Zstd => 4,
        }
    }

    /// Whether it gets larger blocks: it has a cost per block, and finds more in larger ones.
    fn is_slow(self) -> bool {
        matches!(self, Self::Lz4Hc | Self::Zstd)
    }

    /// Space that its output may need during compression.
    fn room(self, bytes: usize) -> usize {
        if self == Self::Snappy { snap::raw::max_compress_len(bytes) } else { bytes }
    }

    /// Compresses `src` into the front of `dst`; `None` if it does not fit.
    fn compress(
        self,
        level: u8,
        src: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Option<usize> {
        let level = i32::from(level);
        match self {
            Self::Lz4 => lz4::compress(src, dst, 10 - level),
            Self::Lz4Hc => lz4::compress_slowly(src, dst, level),
            Self::Snappy => snap::raw::Encoder::new().compress(src, dst).ok(),
            Self::Zstd => {
                let level = match level {
                    9.. => zstd_safe::max_c_level(),
                    level => 2 * level - 1,
                };
                scratch.zstd_encoder().ok()?.compress(dst, src, level).ok()
            }
        }
    }
}

/// How one chunk is divided into blocks, and how each is encoded.
#[derive(Clone, Copy, Debug)]
pub struct BlockEncoder {
    streams: Streams,
    level: u8,
    shuffle: Shuffle,
    element_bytes: usize,
    decoded_bytes: usize,
    block_bytes: usize,
    splits: bool,
}

impl BlockEncoder {
    pub(super) fn new(blosc: &Blosc, streams: Streams, decoded_bytes: usize) -> Self {
        let element_bytes = if blosc.element_bytes > 255 { 1 } else { blosc.element_bytes };
        let block_bytes = block_bytes(blosc, streams, element_bytes, decoded_bytes);
        Self {
            streams,
            level: blosc.level,
            shuffle: blosc.shuffle,
            element_bytes,
            decoded_bytes,
            block_bytes,
            splits: splits(streams, element_bytes, block_bytes),
        }
    }

    /// Number of blocks to encode; 0 if the chunk is stored uncompressed.
    pub fn n_blocks(&self) -> usize {
        if self.level == 0 || self.decoded_bytes < MIN_BYTES {
            return 0;
        }
        self.decoded_bytes.div_ceil(self.block_bytes)
    }

    /// Length of the decoded chunk.
    pub fn decoded_bytes(&self) -> usize {
        self.decoded_bytes
    }

    /// Where in the chunk the bytes of block `index` are.
    pub fn range(&self, index: usize) -> Range<usize> {
        let start = index * self.block_bytes;
        start..(start + self.block_bytes).min(self.decoded_bytes)
    }

    /// Appends the streams of `block`, the bytes of one of the ranges, to `dst`.
    ///
    /// # Errors
    /// [`crate::error::CodecError::Interrupted`] if the call was cancelled.
    pub fn encode_block(
        &self,
        block: &[u8],
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        scratch.poll_after(block.len())?;
        // The last block is not split when it is shorter than the others.
        let whole = block.len() == self.block_bytes;
        let count = if self.splits && whole { self.element_bytes } else { 1 };
        let stream_bytes = block.len() / count;
        let room = self.streams.room(stream_bytes);
        let mut memory = scratch.take_block(block.len() + room)?;
        // A copy of the block and the length of each stream, at most.
        dst.make_room(block.len() + LENGTH_BYTES * count)?;
        let (transposed, output) = memory.split_at_mut(block.len());
        let transposed = self.transpose(block, transposed);
        let output = &mut output[..room];
        for stream in transposed.chunks_exact(stream_bytes) {
            let bytes = self.streams.compress(self.level, stream, output, scratch);
            // A stream that does not become shorter is stored uncompressed.
            let kept = match bytes {
                Some(bytes) if 0 < bytes && bytes < stream_bytes => &output[..bytes],
                _ => stream,
            };
            dst.extend_from_slice(&(kept.len() as u32).to_le_bytes());
            dst.extend_from_slice(kept);
        }
        scratch.put_block(memory);
        Ok(())
    }

    /// Replaces `dst` by the transposed bytes of `block`, or by a copy.
    ///
    /// This is the only access to the caller's bytes, which other threads may change meanwhile: the
    /// result is compressed and, if that does not make it shorter, stored.
    fn transpose<'a>(&self, block: &[u8], dst: &'a mut [u8]) -> &'a [u8] {
        let (element_bytes, bytes) = (self.element_bytes, block.len());
        match self.shuffle {
            Shuffle::Bytes if element_bytes > 1 => shuffle(block, element_bytes, dst),
            Shuffle::Bits if bytes >= element_bytes => bit_shuffle(block, element_bytes, dst),
            _ => dst.copy_from_slice(block),
        }
        dst
    }

    /// Replaces `dst` by the frame of all `blocks`; false if [`Self::store`] has to make it,
    /// because the blocks did not become shorter.
    ///
    /// # Errors
    /// [`crate::error::CodecError::Memory`]
    pub fn assemble(&self, blocks: &[impl Borrow<[u8]>], dst: &mut Vec<u8>) -> Result<bool> {
        let table = HEADER_BYTES + LENGTH_BYTES * blocks.len();
        let bytes = blocks.iter().map(|block| block.borrow().len()).sum::<usize>() + table;
        if blocks.is_empty() || bytes > self.decoded_bytes + HEADER_BYTES {
            return Ok(false);
        }
        self.start(0, dst);
        dst.make_room(bytes - HEADER_BYTES)?;
        let mut offset = table;
        for block in blocks {
            dst.extend_from_slice(&(offset as u32).to_le_bytes());
            offset += block.borrow().len();
        }
        for block in blocks {
            dst.extend_from_slice(block.borrow());
        }
        finish(dst);
        Ok(true)
    }

    /// Replaces `dst` by the frame of `src`, block by block on this thread.
    pub(super) fn encode(
        &self,
        src: &[u8],
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.begin(dst)?;
        let blocks = self.n_blocks();
        let mut shorter = blocks > 0;
        for index in 0..blocks {
            shorter = self.push(index, &src[self.range(index)], dst, scratch)?;
            if !shorter {
                break;
            }
        }
        match shorter {
            true => self.finish(dst),
            false => self.store(src, dst)?,
        }
        Ok(())
    }

    /// Replaces `dst` by the front of a frame, to which [`Self::push`] appends all blocks in order.
    ///
    /// # Errors
    /// [`crate::error::CodecError::Memory`]
    pub fn begin(&self, dst: &mut Vec<u8>) -> Result<()> {
        self.start(0, dst);
        dst.make_room(self.decoded_bytes)?;
        Ok(dst.set_length(HEADER_BYTES + LENGTH_BYTES * self.n_blocks())?)
    }

    /// Appends block `index`; false if [`Self::store`] has to make the frame, because the blocks do
    /// not become shorter.
    ///
    /// # Errors
    /// [`crate::error::CodecError::Interrupted`] if the call was cancelled.
    pub fn push(
        &self,
        index: usize,
        block: &[u8],
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let offset = (dst.len() as u32).to_le_bytes();
        dst[HEADER_BYTES + LENGTH_BYTES * index..][..LENGTH_BYTES].copy_from_slice(&offset);
        self.encode_block(block, dst, scratch)?;
        Ok(dst.len() <= self.decoded_bytes + HEADER_BYTES)
    }

    /// Completes a frame that has all of its blocks.
    pub fn finish(&self, dst: &mut [u8]) {
        finish(dst);
    }

    /// Replaces `dst` by the frame that holds `src`, the complete chunk, uncompressed.
    ///
    /// # Errors
    /// [`crate::error::CodecError::Memory`]
    pub fn store(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        self.start(STORED, dst);
        dst.append_slice(src)?;
        finish(dst);
        Ok(())
    }

    /// The header, without the length of the whole.
    fn start(&self, flags: u8, dst: &mut Vec<u8>) {
        let transposed = match self.shuffle {
            Shuffle::None => 0,
            Shuffle::Bytes => 1,
            Shuffle::Bits => 4,
        };
        let split = if self.splits { 0 } else { NO_SPLIT };
        let flags = flags | transposed | split | self.streams.format() << 5;
        dst.clear();
        dst.extend_from_slice(&[2, 1, flags, self.element_bytes as u8]);
        for size in [self.decoded_bytes, self.block_bytes, 0] {
            dst.extend_from_slice(&(size as u32).to_le_bytes());
        }
    }
}

fn finish(dst: &mut [u8]) {
    let bytes = (dst.len() as u32).to_le_bytes();
    dst[HEADER_BYTES - LENGTH_BYTES..HEADER_BYTES].copy_from_slice(&bytes);
}

fn splits(streams: Streams, element_bytes: usize, block_bytes: usize) -> bool {
    streams != Streams::Zstd
        && element_bytes <= MAX_SPLITS
        && block_bytes / element_bytes >= MIN_BYTES
}

/// c-blosc's choice: what fits a cache, times the level, times an element where blocks are split.
fn block_bytes(blosc: &Blosc, streams: Streams, element_bytes: usize, bytes: usize) -> usize {
    if bytes < element_bytes {
        return 1;
    }
    let cache = if streams.is_slow() { 2 * CACHE_BYTES } else { CACHE_BYTES };
    let mut block = match blosc.block_bytes {
        0 if bytes >= CACHE_BYTES => match blosc.level {
            0 => cache / 4,
            1 => cache / 2,
            2 => cache,
            3 => cache * 2,
            4 | 5 => cache * 4,
            9 if streams.is_slow() => cache * 16,
            _ => cache * 8,
        },
        0 => bytes,
        forced => forced.clamp(MIN_BYTES, MAX_BLOCK_BYTES),
    };
    if blosc.level > 0 && splits(streams, element_bytes, block) {
        block = (block.min(1 << 18) * element_bytes).clamp(1 << 16, 1 << 20);
    }
    block = block.min(bytes);
    if block > element_bytes { block / element_bytes * element_bytes } else { block }
}
