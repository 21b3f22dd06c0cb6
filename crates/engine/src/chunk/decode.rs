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

use crate::chunk::buffer::{DecodeScratch, ReadBuffer};
use crate::chunk::lengths::check_length;
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

/// Decodes the selection of one chunk to the buffer; `None` is a missing chunk.
pub(crate) fn decode_chunk(
    chunk: &ChunkLayout,
    encoded: Option<&[u8]>,
    selected: &[ChunkSelection<'_>],
    buffer: ReadBuffer<'_>,
    scratch: &mut DecodeScratch<'_>,
) -> CodecResult<()> {
    let Some(encoded) = encoded else {
        if let Some(objects) = buffer.objects {
            return objects.place(None, &Picks::new(chunk, selected, &[]));
        }
        selected.iter().for_each(|selected| fill(chunk, selected, buffer));
        return Ok(());
    };
    match &chunk.encoding {
        Encoding::Elements(elements) => {
            decode_elements(chunk, elements, encoded, selected, buffer, scratch)
        }
        Encoding::Variable(variable) => {
            decode_variable(chunk, variable, encoded, selected, buffer, scratch)
        }
        Encoding::Shard(shard) => decode_shard(chunk, shard, encoded, selected, buffer, scratch),
    }
}

fn fill(chunk: &ChunkLayout, selected: &ChunkSelection<'_>, buffer: ReadBuffer<'_>) {
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
    chunk: &ChunkLayout,
    shard: &Shard,
    encoded: &[u8],
    selected: &[ChunkSelection<'_>],
    buffer: ReadBuffer<'_>,
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
    let cut = ShardSplit::new(shard, &chunk.shape, selected)?;
    for (entry, selected) in cut.entries() {
        scratch.chain.codec.poll_after(shard.inner.bytes)?;
        let inner = index.slice(entry, encoded)?;
        decode_chunk(&shard.inner, inner, &selected, buffer, scratch)?;
    }
    Ok(())
}

fn decode_elements(
    chunk: &ChunkLayout,
    elements: &Elements,
    encoded: &[u8],
    selected: &[ChunkSelection<'_>],
    buffer: ReadBuffer<'_>,
    scratch: &mut DecodeScratch<'_>,
) -> CodecResult<()> {
    if let Some(straight) = straight(chunk, elements, selected, buffer) {
        // Codecs after the first one would read again what it has written.
        scratch.chain.codec.bypass_caches(buffer.is_large() && elements.chain.decodes_parts());
        let decoded = elements.chain.decode_into(encoded, straight, scratch.chain);
        scratch.chain.codec.bypass_caches(false);
        return decoded;
    }
    if elements.chain.is_identity() {
        check_length(encoded.len(), chunk.bytes)?;
        scatter(encoded, chunk, elements, selected, buffer);
        return Ok(());
    }
    let memory = Scratch::chunk_of(scratch.chunk, chunk.bytes)?;
    let Some(frame) = elements.chain.blocks(encoded)? else {
        elements.chain.decode_into(encoded, memory, scratch.chain)?;
        scatter(memory, chunk, elements, selected, buffer);
        return Ok(());
    };
    decode_frame(&frame, None, chunk, elements, selected, buffer, (memory, scratch.chain))
}

/// The part of the buffer that is the decoded chunk, if the whole chunk is selected and contiguous
/// there.
pub(crate) fn straight<'a>(
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &[ChunkSelection<'_>],
    buffer: ReadBuffer<'a>,
) -> Option<&'a mut [u8]> {
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

/// Copies the selection of a decoded chunk to the buffer.
pub(crate) fn scatter(
    decoded: &[u8],
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &[ChunkSelection<'_>],
    buffer: ReadBuffer<'_>,
) {
    let item = buffer.layout.item_bytes;
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
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &[ChunkSelection<'_>],
    buffer: ReadBuffer<'_>,
    (memory, chain): (&mut [u8], &mut ChainScratch),
) -> CodecResult<()> {
    if let Some(stored) = frame.stored() {
        scatter(stored, chunk, elements, selected, buffer);
        return Ok(());
    }
    let item = buffer.layout.item_bytes;
    if is_partial(frame, chunk, elements, selected, item) {
        return decode_selected(frame, extents, chunk, elements, selected, buffer, (memory, chain));
    }
    let block = frame.block_bytes();
    let mut decoded = zeros::<bool>(frame.n_blocks())?;
    for selected in selected {
        walk(chunk, elements, selected, (block, item), &mut |bytes, dims, to| {
            for index in bytes.start / block..bytes.end.div_ceil(block) {
                if !std::mem::replace(&mut decoded[index], true) {
                    let until = ((index + 1) * block).min(frame.decoded_bytes());
                    let frame = extents.map_or(*frame, |all| frame.cut_at(all[index].end));
                    let part = &mut memory[index * block..until];
                    frame.decode_block(index, part, &mut chain.codec)?;
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
