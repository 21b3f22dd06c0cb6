//! The encoded bytes of one chunk, decoded to the buffer of the caller.
//!
//! A chunk that is contiguous in the buffer is decoded directly to it. If the format allows it
//! (Blosc), only the selected blocks are decoded, each once and right before its elements are
//! copied, while it is in cache. If a part of byte-shuffled blocks is selected, only that is
//! unshuffled. A shard in memory is divided into its inner chunks, each of which is
//! decoded in the same way. A missing chunk reads as the fill value.

use std::ops::Range;

use zarrix_codec::ChainScratch;
use zarrix_codec::blosc::Frame;

use crate::chunk::buffer::ReadBuffer;
use crate::chunk::chunk_read::{ChunkRead, DecodeScratch};
use crate::chunk::lengths::check_length;
use crate::chunk::picture::decode_touched;
use crate::chunk::planes::{decode_selected, is_partial};
use crate::chunk::shard_index::Index;
use crate::chunk::variable::decode_variable;
use crate::error::CodecResult;
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::memory::strides::Grid;
use crate::selection::chunk_selection::{ChunkSelection, CopyPlan, Run, ShardSplit};
use crate::selection::picks::Picks;
use crate::selection::runs::walk;
use crate::threads::scratch::Scratch;
use zarrix_codec::memory::zeros;
use zarrix_store::trace::{self, Doing};

/// Decodes the selection of one chunk to the buffer; `None` is a missing chunk.
pub(crate) fn decode_chunk(
    read: &ChunkRead<'_, '_>,
    encoded: Option<&[u8]>,
    scratch: &mut DecodeScratch<'_>,
) -> CodecResult<()> {
    let ChunkRead { chunk, selected, buffer } = *read;
    let Some(encoded) = encoded else {
        let _span = trace::span(Doing::Copy, "", "");
        if let Some(objects) = buffer.objects {
            return objects.place(None, &Picks::new(chunk, selected, &[]));
        }
        selected.iter().for_each(|selected| fill(chunk, selected, buffer));
        return Ok(());
    };
    let _span = trace::span(Doing::Decode, "", "");
    match &chunk.encoding {
        Encoding::Elements(elements) => decode_elements(read, elements, encoded, scratch),
        Encoding::Variable(variable) => decode_variable(read, variable, encoded, scratch),
        Encoding::Shard(shard) => decode_shard(read, shard, encoded, scratch),
    }
}

fn fill(chunk: &ChunkLayout, selected: &ChunkSelection<'_>, buffer: &ReadBuffer<'_>) {
    match selected {
        ChunkSelection::Box { parts, base, .. } => {
            // A fill ignores the source side, so any strides are correct.
            let strides: PerAxis<isize> = chunk.shape.iter().map(|_| 0).collect();
            let placed = CopyPlan::new(parts, *base, &strides);
            // SAFETY: the plan reaches only elements of the buffer, whose maker vouches for them.
            unsafe { buffer.fill(selected, placed.buffer_offset, placed.grid) }
        }
        ChunkSelection::Points { points, which } => {
            for point in *which {
                let offset = points.buffer_offset(*point);
                // SAFETY: one element of the buffer, which has one for each point.
                unsafe { buffer.fill(selected, offset, Grid::default()) }
            }
        }
    }
}

fn decode_shard(
    read: &ChunkRead<'_, '_>,
    shard: &Shard,
    encoded: &[u8],
    scratch: &mut DecodeScratch<'_>,
) -> CodecResult<()> {
    let unpacked;
    let encoded = if shard.outer.is_empty() {
        encoded
    } else {
        unpacked = shard.unpack(encoded, scratch.chain)?;
        &unpacked
    };
    let index = Index::of(shard, encoded, scratch.chain)?;
    let cut = ShardSplit::new(shard, &read.chunk.shape, read.selected)?;
    for (entry, selected) in cut.entries() {
        scratch.chain.codec.poll_after(shard.inner.bytes)?;
        let inner = index.slice(entry, encoded)?;
        decode_chunk(&read.inner(&shard.inner, &selected), inner, scratch)?;
    }
    Ok(())
}

fn decode_elements(
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    encoded: &[u8],
    scratch: &mut DecodeScratch<'_>,
) -> CodecResult<()> {
    if let Some(straight) = straight(read, elements) {
        // Codecs after the first one would read again what it has written.
        scratch.chain.codec.bypass_caches(read.buffer.is_large() && elements.chain.decodes_parts());
        let decoded = elements.chain.decode_into(encoded, straight, scratch.chain);
        scratch.chain.codec.bypass_caches(false);
        return decoded;
    }
    if elements.chain.is_identity() {
        check_length(encoded.len(), read.chunk.bytes)?;
        scatter(encoded, read, elements);
        return Ok(());
    }
    let memory = Scratch::chunk_of(scratch.chunk, read.chunk.bytes)?;
    if let Some((picture, stream)) = elements.chain.picture(encoded)? {
        decode_touched(picture, stream, read, elements, (memory, scratch.chain))?;
        scatter(memory, read, elements);
        return Ok(());
    }
    let Some(frame) = elements.chain.blocks(encoded)? else {
        let needed = needed_bytes(read, elements);
        elements.chain.decode_prefix(encoded, needed, memory, scratch.chain)?;
        scatter(memory, read, elements);
        return Ok(());
    };
    decode_frame(&frame, None, read, elements, (memory, scratch.chain))
}

/// The part of the buffer that is the decoded chunk, if the whole chunk is selected and contiguous
/// there.
pub(crate) fn straight<'a>(read: &ChunkRead<'a, '_>, elements: &Elements) -> Option<&'a mut [u8]> {
    let ChunkRead { chunk, selected, buffer } = *read;
    let [only @ ChunkSelection::Box { parts, base, .. }] = selected else { return None };
    if !only.covers(&chunk.shape) {
        return None;
    }
    let placed = CopyPlan::new(parts, *base, &elements.strides);
    let to = buffer.plain(only, placed.buffer_offset)?;
    placed.is_contiguous().then(|| {
        // SAFETY: the box is the whole chunk, and its elements lie in the buffer one after the
        // other as in the decoded chunk: `chunk.bytes` contiguous bytes that no other task of
        // this call touches.
        unsafe { std::slice::from_raw_parts_mut(to, chunk.bytes) }
    })
}

/// Bytes of the decoded chunk from its begin to the last selected element.
fn needed_bytes(read: &ChunkRead<'_, '_>, elements: &Elements) -> usize {
    let (shape, strides, item) = (&read.chunk.shape, &elements.strides, read.item_bytes());
    let last = read.selected.iter().filter_map(|selected| -> Option<usize> {
        match selected {
            ChunkSelection::Box { parts, .. } => {
                let axes = parts.iter().zip(strides);
                axes.map(|(part, stride)| Some(part.extent()?.1 * stride.unsigned_abs())).sum()
            }
            ChunkSelection::Points { points, which } => {
                which.iter().map(|point| points.chunk_offset(*point, shape, strides)).max()
            }
        }
    });
    last.max().map_or(0, |last| last + item).min(read.chunk.bytes)
}

/// Copies the selection of a decoded chunk to the buffer.
pub(crate) fn scatter(decoded: &[u8], read: &ChunkRead<'_, '_>, elements: &Elements) {
    let _span = trace::span(Doing::Copy, "", "");
    let ChunkRead { chunk, selected, buffer } = *read;
    let item = read.item_bytes();
    for selected in selected {
        match selected {
            ChunkSelection::Box { parts, base, .. } => {
                if let Some(run) = Run::of(parts, *base, &elements.strides, item)
                    && let Some(to) = buffer.plain(selected, run.buffer_offset)
                {
                    let from = &decoded[run.chunk_offset..run.chunk_offset + run.bytes];
                    // SAFETY: the run has only elements of the buffer, whose maker vouches for
                    // them, and the decoded bytes are not in it.
                    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
                    continue;
                }
                let placed = CopyPlan::new(parts, *base, &elements.strides);
                let from = decoded[placed.chunk_offset..].as_ptr();
                // SAFETY: the plan reaches only elements inside a chunk, which `decoded` is, and of
                // the buffer, whose maker vouches for them.
                unsafe { buffer.copy_grid(selected, placed.buffer_offset, from, placed.grid) }
            }
            ChunkSelection::Points { points, which } => {
                for point in *which {
                    let at = points.chunk_offset(*point, &chunk.shape, &elements.strides);
                    let element = decoded[at..at + item].as_ptr();
                    let offset = points.buffer_offset(*point);
                    // SAFETY: one element of the buffer, which has one for each point.
                    unsafe { buffer.copy_one(selected, offset, element) };
                }
            }
        }
    }
}

/// Decodes the selected blocks of a Blosc frame, each once, and copies the selection to the buffer.
///
/// With `extents`, only the extents of the selected blocks must be present, and nothing outside of
/// them is read. `memory` is as long as the decoded chunk.
pub(crate) fn decode_frame(
    frame: &Frame<'_>,
    extents: Option<&[Range<usize>]>,
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    (memory, chain): (&mut [u8], &mut ChainScratch),
) -> CodecResult<()> {
    if let Some(stored) = frame.stored() {
        scatter(stored, read, elements);
        return Ok(());
    }
    if is_partial(frame, read, elements) {
        return decode_selected(frame, extents, read, elements, (memory, chain));
    }
    let ChunkRead { chunk, selected, buffer } = *read;
    let (block, item) = (frame.block_bytes(), read.item_bytes());
    let mut decoded = zeros::<bool>(frame.n_blocks())?;
    let mut both = trace::alternation(Doing::Decode, Doing::Copy);
    for selected in selected {
        walk(chunk, elements, selected, (block, item), &mut |bytes, dims, to| {
            for index in bytes.start / block..bytes.end.div_ceil(block) {
                if !std::mem::replace(&mut decoded[index], true) {
                    let until = ((index + 1) * block).min(frame.decoded_bytes());
                    let frame = extents.map_or(*frame, |all| frame.cut_at(all[index].end));
                    let part = &mut memory[index * block..until];
                    both.first(|| frame.decode_block(index, part, &mut chain.codec))?;
                }
            }
            let from = memory[bytes].as_ptr();
            // SAFETY: the bytes cover every element of this part in the chunk; the maker of the
            // buffer vouches for the other side.
            unsafe { buffer.copy(selected, to, from, dims) };
            Ok(())
        })?;
    }
    Ok(())
}
