//! Encoded bytes of one chunk into the caller's buffer.
//!
//! A chunk that is contiguous in the buffer is decoded straight into it. Where the codec's format
//! allows it (Blosc), only the blocks that are wanted are decoded, each once and right before its
//! elements are copied out, while it is still in cache. A shard in memory is cut into its inner
//! chunks, each of which is placed the same way. What is not stored reads as the fill value.

use std::ops::Range;

use zarrix_codec::ChainScratch;
use zarrix_codec::blosc::Frame;

use crate::chunk::buffer::{PlaceScratch, Sink};
use crate::chunk::lengths::check_length;
use crate::chunk::shard_index::Index;
use crate::chunk::variable::place_blob;
use crate::error::CodecResult;
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::memory::copy;
use crate::memory::strides::{Dims, Grid};
use crate::selection::chunk_selection::{Cut, Placed, Points, Wanted};
use crate::selection::picks::Picks;
use crate::selection::runs::walk;
use crate::threads::scratch::Scratch;
use zarrix_codec::memory::zeros;

/// Puts what is wanted of one chunk into the buffer; `None` is a chunk that is not stored.
pub(crate) fn place(
    chunk: &ChunkLayout,
    encoded: Option<&[u8]>,
    wanted: &[Wanted<'_>],
    sink: Sink<'_>,
    scratch: &mut PlaceScratch<'_>,
) -> CodecResult<()> {
    let Some(encoded) = encoded else {
        if let Some(objects) = sink.objects {
            return objects.place(None, &Picks::new(chunk, wanted, &[]));
        }
        wanted.iter().for_each(|wanted| fill(chunk, wanted, sink));
        return Ok(());
    };
    match &chunk.encoding {
        Encoding::Elements(elements) => {
            place_elements(chunk, elements, encoded, wanted, sink, scratch)
        }
        Encoding::Blob(blob) => place_blob(chunk, blob, encoded, wanted, sink, scratch),
        Encoding::Shard(shard) => place_shard(chunk, shard, encoded, wanted, sink, scratch),
    }
}

fn fill(chunk: &ChunkLayout, wanted: &Wanted<'_>, sink: Sink<'_>) {
    match wanted {
        Wanted::Box { parts, base } => {
            // The source side of a fill is not looked at, so any strides do.
            let strides: PerAxis<isize> = chunk.shape.iter().map(|_| 0).collect();
            let placed = Placed::new(parts, *base, &strides);
            let to = sink.to.wrapping_offset(placed.buffer_offset);
            // SAFETY: the plan reaches only elements of the buffer, whose maker vouches for them.
            unsafe { sink.layout.fill.put(to, placed.grid) }
        }
        Wanted::Points { points, which } => {
            for point in *which {
                let to = sink.to.wrapping_offset(points.buffer_offset(*point));
                // SAFETY: one element of the buffer, which has one for each point.
                unsafe { sink.layout.fill.put(to, Grid::default()) }
            }
        }
    }
}

fn place_shard(
    chunk: &ChunkLayout,
    shard: &Shard,
    encoded: &[u8],
    wanted: &[Wanted<'_>],
    sink: Sink<'_>,
    scratch: &mut PlaceScratch<'_>,
) -> CodecResult<()> {
    let unpacked;
    let encoded = if shard.outer.is_empty() {
        encoded
    } else {
        unpacked = shard.unpack(encoded, scratch.chain)?;
        &unpacked
    };
    let index = Index::of(shard, encoded, scratch.chain)?;
    let cut = Cut::new(shard, &chunk.shape, wanted);
    for (entry, wanted) in cut.entries() {
        scratch.chain.codec.poll_after(shard.inner.bytes)?;
        let inner = index.slice(entry, encoded)?;
        place(&shard.inner, inner, &wanted, sink, scratch)?;
    }
    Ok(())
}

fn place_elements(
    chunk: &ChunkLayout,
    elements: &Elements,
    encoded: &[u8],
    wanted: &[Wanted<'_>],
    sink: Sink<'_>,
    scratch: &mut PlaceScratch<'_>,
) -> CodecResult<()> {
    if let Some(straight) = straight(chunk, elements, wanted, sink) {
        return elements.chain.decode_into(encoded, straight, scratch.chain);
    }
    if elements.chain.is_identity() {
        check_length(encoded.len(), chunk.bytes)?;
        place_plain(encoded, chunk, elements, wanted, sink);
        return Ok(());
    }
    let memory = Scratch::chunk_of(scratch.chunk, chunk.bytes)?;
    let Some(frame) = elements.chain.blocks(encoded)? else {
        elements.chain.decode_into(encoded, memory, scratch.chain)?;
        place_plain(memory, chunk, elements, wanted, sink);
        return Ok(());
    };
    place_frame(&frame, None, chunk, elements, wanted, sink, (memory, scratch.chain))
}

/// The part of the buffer that is the decoded chunk, element after element, if there is one.
pub(crate) fn straight<'a>(
    chunk: &ChunkLayout,
    elements: &Elements,
    wanted: &[Wanted<'_>],
    sink: Sink<'a>,
) -> Option<&'a mut [u8]> {
    let [only @ Wanted::Box { parts, base }] = wanted else { return None };
    if !only.covers(&chunk.shape) {
        return None;
    }
    let placed = Placed::new(parts, *base, &elements.strides);
    placed.is_contiguous().then(|| {
        let to = sink.to.wrapping_offset(placed.buffer_offset);
        // SAFETY: the box is the whole chunk, and its elements lie in the buffer one after the
        // other as in the decoded chunk: `chunk.bytes` contiguous bytes that no other task of
        // this call touches.
        unsafe { std::slice::from_raw_parts_mut(to, chunk.bytes) }
    })
}

/// Copies what is wanted out of a whole decoded chunk.
pub(crate) fn place_plain(
    decoded: &[u8],
    chunk: &ChunkLayout,
    elements: &Elements,
    wanted: &[Wanted<'_>],
    sink: Sink<'_>,
) {
    let item = sink.layout.item_bytes;
    for wanted in wanted {
        match wanted {
            Wanted::Box { parts, base } => {
                let placed = Placed::new(parts, *base, &elements.strides);
                let to = sink.to.wrapping_offset(placed.buffer_offset);
                let from = decoded[placed.chunk_offset..].as_ptr();
                // SAFETY: the plan reaches only elements inside a chunk, which `decoded` is, and of
                // the buffer, whose maker vouches for them.
                unsafe { copy::copy_grid(to, from, placed.grid, item) }
            }
            Wanted::Points { points, which } => {
                for point in *which {
                    let at = points.chunk_offset(*point, &chunk.shape, &elements.strides);
                    let element = &decoded[at..at + item];
                    put_point(points, *point, element, sink);
                }
            }
        }
    }
}

fn put_point(points: &Points<'_>, point: usize, element: &[u8], sink: Sink<'_>) {
    let to = sink.to.wrapping_offset(points.buffer_offset(point));
    // SAFETY: one element of the buffer, which has one for each point.
    unsafe { copy::copy(to, element.as_ptr(), Dims::new(), element.len()) }
}

/// Places a frame, decoding only the blocks that are wanted, each once.
///
/// With `extents`, only those of the wanted blocks need to be there, and nothing outside of them is
/// looked at. `memory` is as long as the decoded chunk.
pub(crate) fn place_frame(
    frame: &Frame<'_>,
    extents: Option<&[Range<usize>]>,
    chunk: &ChunkLayout,
    elements: &Elements,
    wanted: &[Wanted<'_>],
    sink: Sink<'_>,
    (memory, chain): (&mut [u8], &mut ChainScratch),
) -> CodecResult<()> {
    if let Some(stored) = frame.stored() {
        place_plain(stored, chunk, elements, wanted, sink);
        return Ok(());
    }
    let block = frame.block_bytes();
    let mut decoded = zeros::<bool>(frame.n_blocks())?;
    let item = sink.layout.item_bytes;
    for wanted in wanted {
        walk(chunk, elements, wanted, (block, item), &mut |bytes, dims, to| {
            for index in bytes.start / block..bytes.end.div_ceil(block) {
                if !std::mem::replace(&mut decoded[index], true) {
                    let until = ((index + 1) * block).min(frame.decoded_bytes());
                    let frame = extents.map_or(*frame, |all| frame.cut_at(all[index].end));
                    let part = &mut memory[index * block..until];
                    frame.decode_block(index, part, &mut chain.codec)?;
                }
            }
            let (from, to) = (memory[bytes].as_ptr(), sink.to.wrapping_offset(to));
            // SAFETY: the bytes cover every element of this part in the chunk; the maker of the
            // buffer vouches for the other side.
            unsafe { copy::copy(to, from, Dims::from_slice(dims), item) };
            Ok(())
        })?;
    }
    Ok(())
}
