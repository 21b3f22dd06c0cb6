//! Blosc frames of snappy streams, which the c-blosc of this build does not write.
//!
//! The layout is the one c-blosc chooses for snappy: the same block sizes, the same splits into one
//! stream per byte of an element, and a stored frame where compression gains nothing.

use super::encode::{Blosc, Shuffle};
use super::header::HEADER_BYTES;
use crate::transpose::{bit_shuffle, shuffle};

/// Below this many bytes Blosc compresses nothing, and splits nothing into shorter streams.
const MIN_BYTES: usize = 128;
const MAX_SPLITS: usize = 16;
const CACHE_BYTES: usize = 32 << 10;
const MAX_BLOCK_BYTES: usize = (i32::MAX as usize - 255 * 4) / 3;
const STORED: u8 = 0x02;
const NO_SPLIT: u8 = 0x10;
const SNAPPY: u8 = 2 << 5;

/// Replaces the content of `dst` by a frame of `src`, which is no longer than Blosc takes.
pub(super) fn encode(blosc: &Blosc, src: &[u8], dst: &mut Vec<u8>) {
    let element_bytes = if blosc.element_bytes > 255 { 1 } else { blosc.element_bytes };
    let block_bytes = block_bytes(blosc, element_bytes, src.len());
    let splits = splits(element_bytes, block_bytes);
    let flags = SNAPPY | [0, 1, 4][blosc.shuffle as usize] | if splits { 0 } else { NO_SPLIT };
    start(dst, flags, element_bytes, src.len(), block_bytes);
    if blosc.level > 0 && src.len() >= MIN_BYTES {
        let streams = if splits { element_bytes } else { 1 };
        append_blocks(blosc.shuffle, element_bytes, streams, (src, block_bytes), dst);
        if dst.len() <= src.len() + HEADER_BYTES {
            return finish(dst);
        }
        start(dst, flags, element_bytes, src.len(), block_bytes);
    }
    dst[2] |= STORED;
    dst.extend_from_slice(src);
    finish(dst);
}

/// The header, without the length of the whole.
fn start(dst: &mut Vec<u8>, flags: u8, element_bytes: usize, bytes: usize, block_bytes: usize) {
    dst.clear();
    dst.extend_from_slice(&[2, 1, flags, element_bytes as u8]);
    for size in [bytes, block_bytes, 0] {
        dst.extend_from_slice(&(size as u32).to_le_bytes());
    }
}

fn finish(dst: &mut [u8]) {
    let bytes = (dst.len() as u32).to_le_bytes();
    dst[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&bytes);
}

fn splits(element_bytes: usize, block_bytes: usize) -> bool {
    element_bytes <= MAX_SPLITS && block_bytes / element_bytes >= MIN_BYTES
}

/// c-blosc's choice: what fits a cache, times the level, times an element where blocks are split.
fn block_bytes(blosc: &Blosc, element_bytes: usize, bytes: usize) -> usize {
    if bytes < element_bytes {
        return 1;
    }
    let mut block = match blosc.block_bytes {
        0 if bytes >= CACHE_BYTES => match blosc.level {
            0 => CACHE_BYTES / 4,
            1 => CACHE_BYTES / 2,
            2 => CACHE_BYTES,
            3 => CACHE_BYTES * 2,
            4 | 5 => CACHE_BYTES * 4,
            _ => CACHE_BYTES * 8,
        },
        0 => bytes,
        forced => forced.clamp(MIN_BYTES, MAX_BLOCK_BYTES),
    };
    if blosc.level > 0 && splits(element_bytes, block) {
        block = (block.min(1 << 18) * element_bytes).clamp(1 << 16, 1 << 20);
    }
    block = block.min(bytes);
    if block > element_bytes { block / element_bytes * element_bytes } else { block }
}

/// The table of offsets and the streams of every block.
fn append_blocks(
    filter: Shuffle,
    element_bytes: usize,
    streams: usize,
    (src, block_bytes): (&[u8], usize),
    dst: &mut Vec<u8>,
) {
    let table = dst.len();
    dst.resize(table + 4 * src.len().div_ceil(block_bytes), 0);
    let (mut transposed, mut encoder) =
        (vec![0; block_bytes.min(src.len())], snap::raw::Encoder::new());
    for (index, block) in src.chunks(block_bytes).enumerate() {
        let offset = (dst.len() as u32).to_le_bytes();
        dst[table + 4 * index..][..4].copy_from_slice(&offset);
        let transposed = &mut transposed[..block.len()];
        transpose(filter, element_bytes, block, transposed);
        // The last block is not split when it is shorter than the others.
        let streams = if block.len() == block_bytes { streams } else { 1 };
        for stream in transposed.chunks_exact(block.len() / streams) {
            append_stream(&mut encoder, stream, dst);
        }
    }
}

fn transpose(filter: Shuffle, element_bytes: usize, block: &[u8], dst: &mut [u8]) {
    let whole = block.len() / element_bytes * element_bytes;
    let (elements, rest) = block.split_at(whole);
    dst[whole..].copy_from_slice(rest);
    let dst = &mut dst[..whole];
    match filter {
        Shuffle::Bytes if element_bytes > 1 => shuffle(elements, element_bytes, dst),
        Shuffle::Bits if (whole / element_bytes).is_multiple_of(8) => {
            bit_shuffle(elements, element_bytes, dst);
        }
        _ => dst.copy_from_slice(elements),
    }
}

/// The stream after its length; as it is when snappy makes it no shorter.
fn append_stream(encoder: &mut snap::raw::Encoder, stream: &[u8], dst: &mut Vec<u8>) {
    let start = dst.len() + 4;
    dst.resize(start + snap::raw::max_compress_len(stream.len()), 0);
    let bytes = match encoder.compress(stream, &mut dst[start..]) {
        Ok(bytes) if bytes < stream.len() => bytes,
        _ => {
            dst.truncate(start);
            dst.extend_from_slice(stream);
            stream.len()
        }
    };
    dst.truncate(start + bytes);
    dst[start - 4..start].copy_from_slice(&(bytes as u32).to_le_bytes());
}
