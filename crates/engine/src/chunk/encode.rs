//! The elements of the caller, encoded to the bytes of one chunk.
//!
//! A chunk is decoded, or filled with the fill value, changed and encoded. A shard is assembled
//! from its inner chunks: touched ones are changed in the same way, and the encoded bytes of all
//! others are copied. A write of a complete chunk never reads the old one.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use zarrix_codec::{ChainScratch, CodecError};

use crate::chunk::buffer::{Edit, WriteBuffer};
use crate::chunk::lengths::check_length;
use crate::chunk::shard_index::{ABSENT, Index, damaged};
use crate::chunk::variable::encode_variable;
use crate::error::CodecResult;
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::layout::document::Layout;
use crate::memory::copy;
use crate::memory::strides::{Dim, Dims, Grid};
use crate::selection::chunk_selection::{ChunkSelection, CopyPlan, ShardSplit};
use crate::threads::scratch::Scratch;
use zarrix_codec::memory::{Grow, with_room};
use zarrix_store::trace::{self, Doing};

/// Whether a part of a lossy chunk may be replaced, which changes the rest of it.
static REENCODES: AtomicBool = AtomicBool::new(false);

/// Allows or refuses writes of parts of lossy chunks; they are refused at first.
pub fn set_reencodes_lossy(allowed: bool) {
    REENCODES.store(allowed, Ordering::Relaxed);
}

/// Replaces `out` by the new encoded bytes of the chunk; false if it is not to be stored.
///
/// `old` is the stored value, if it matters. Elements outside of the array are preserved: another
/// handle may have grown it meanwhile. An old value that does not decode is an error only if some
/// of it would be lost.
pub(crate) fn encode_chunk(
    chunk: &ChunkLayout,
    old: Option<&[u8]>,
    edit: Edit<'_, '_>,
    s: &mut Scratch,
    out: &mut Vec<u8>,
) -> CodecResult<bool> {
    let _span = trace::span(Doing::Encode, "", "");
    let old = if edit.covers_all(chunk) { None } else { old };
    match &chunk.encoding {
        Encoding::Elements(elements) => encode_elements(chunk, elements, old, edit, s, out),
        Encoding::Variable(variable) => encode_variable(chunk, variable, old, edit, s, out),
        Encoding::Shard(shard) => encode_shard(chunk, shard, old, edit, s, out),
    }
}

fn encode_elements(
    chunk: &ChunkLayout,
    elements: &Elements,
    old: Option<&[u8]>,
    edit: Edit<'_, '_>,
    s: &mut Scratch,
    out: &mut Vec<u8>,
) -> CodecResult<bool> {
    let layout = edit.buffer.layout;
    let Scratch { chunk: memory, chain, .. } = s;
    if let Some(straight) = contiguous(chunk, elements, edit) {
        return encode_straight(elements, straight, edit.buffer, (memory, chain), out);
    }
    if let Some(codec) = elements.chain.lossy()
        && !edit.covers_inside()
        && !REENCODES.load(Ordering::Relaxed)
    {
        return Err(CodecError::Lossy { codec: codec.to_owned() });
    }
    let memory = Scratch::chunk_of(memory, chunk.bytes)?;
    let decoded = old.map(|old| {
        if elements.chain.is_identity() {
            check_length(old.len(), chunk.bytes).map(|()| memory.copy_from_slice(old))
        } else {
            let _span = trace::span(Doing::Decode, "", "");
            elements.chain.decode_into(old, memory, chain)
        }
    });
    match decoded {
        Some(Ok(())) => {}
        Some(Err(error)) if error.is_of_the_call() || !edit.covers_inside() => return Err(error),
        None if edit.covers_all(chunk) => {}
        _ => fill_chunk(memory, layout),
    }
    for selected in edit.selected {
        insert(memory, chunk, elements, selected, edit.buffer);
    }
    encode(elements, memory, edit.buffer, chain, out)
}

/// The bytes of a whole chunk, if they lie in the buffer as they do in the decoded chunk.
fn contiguous<'a>(
    chunk: &ChunkLayout,
    elements: &Elements,
    edit: Edit<'a, '_>,
) -> Option<&'a [u8]> {
    let [only @ ChunkSelection::Box { parts, base, .. }] = edit.selected else { return None };
    if !only.covers(&chunk.shape) {
        return None;
    }
    let placed = CopyPlan::new(parts, *base, &elements.strides);
    let from = edit.buffer.from.wrapping_offset(placed.buffer_offset);
    // SAFETY: the box is the whole chunk and its elements lie in the buffer one after the other:
    // `chunk.bytes` contiguous readable bytes, for as long as the call lasts. Other threads may
    // change them meanwhile, which the rules of references do not allow. The code that uses this
    // one reads each byte once, and takes no decision by it that a change could invalidate (see
    // `encode_straight`).
    placed.is_contiguous().then(|| unsafe { std::slice::from_raw_parts(from, chunk.bytes) })
}

/// The bytes of a complete chunk without codecs, if the memory of the caller holds them as they are
/// stored.
pub(crate) fn unencoded<'a>(chunk: &ChunkLayout, edit: Edit<'a, '_>) -> Option<&'a [u8]> {
    match &chunk.encoding {
        Encoding::Elements(elements) if elements.chain.is_identity() => {
            contiguous(chunk, elements, edit)
        }
        _ => None,
    }
}

/// Encodes a chunk that lies in the buffer of the caller, where other threads may change it
/// meanwhile.
///
/// If the comparison finds only the fill value, each element was that when it was compared; if it
/// finds more, the chunk is stored in any case. So the comparison needs no copy, and only an
/// encoder that reads its source twice gets one.
fn encode_straight(
    elements: &Elements,
    straight: &[u8],
    buffer: WriteBuffer<'_>,
    (memory, chain): (&mut Vec<u8>, &mut ChainScratch),
    out: &mut Vec<u8>,
) -> CodecResult<bool> {
    if !buffer.stores(straight) {
        return Ok(false);
    }
    let decoded = if elements.chain.reads_source_once() {
        straight
    } else {
        let memory = Scratch::chunk_of(memory, straight.len())?;
        let _span = trace::span(Doing::Copy, "", "");
        memory.copy_from_slice(straight);
        memory
    };
    elements.chain.encode_into(decoded, out, chain)?;
    Ok(true)
}

fn encode(
    elements: &Elements,
    decoded: &[u8],
    buffer: WriteBuffer<'_>,
    chain: &mut ChainScratch,
    out: &mut Vec<u8>,
) -> CodecResult<bool> {
    let keep = buffer.stores(decoded);
    if keep {
        elements.chain.encode_into(decoded, out, chain)?;
    }
    Ok(keep)
}

fn insert(
    memory: &mut [u8],
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &ChunkSelection<'_>,
    buffer: WriteBuffer<'_>,
) {
    let _span = trace::span(Doing::Copy, "", "");
    let item = buffer.layout.item_bytes;
    match selected {
        ChunkSelection::Box { parts, base, .. } => {
            let placed = CopyPlan::new(parts, *base, &elements.strides);
            let from = buffer.from.wrapping_offset(placed.buffer_offset);
            let to = memory[placed.chunk_offset..].as_mut_ptr();
            // SAFETY: the plan reaches only elements inside the chunk, and of the buffer, whose
            // maker vouches for them.
            unsafe { copy::copy_grid(to, from, placed.grid.reversed(), item) }
        }
        ChunkSelection::Points { points, which } => {
            for point in *which {
                let at = points.chunk_offset(*point, &chunk.shape, &elements.strides);
                let from = buffer.from.wrapping_offset(points.buffer_offset(*point));
                // SAFETY: one element of the buffer, which has one for each point.
                unsafe {
                    std::ptr::copy_nonoverlapping(from, memory[at..at + item].as_mut_ptr(), item);
                }
            }
        }
    }
}

pub(crate) fn fill_chunk(memory: &mut [u8], layout: &Layout) {
    let item = layout.item_bytes as isize;
    let all = Dim { count: memory.len() / layout.item_bytes, dst: item, src: 0 };
    let grid = Grid { dims: Dims::from_slice(&[all]), ..Grid::default() };
    // SAFETY: the box is the whole slice.
    unsafe { layout.fill.put(memory.as_mut_ptr(), grid) };
}

fn encode_shard(
    chunk: &ChunkLayout,
    shard: &Shard,
    old: Option<&[u8]>,
    edit: Edit<'_, '_>,
    s: &mut Scratch,
    out: &mut Vec<u8>,
) -> CodecResult<bool> {
    let old = match old.map(|old| Opened::new(shard, old, &mut s.chain)).transpose() {
        Err(error) if !error.is_of_the_call() && edit.covers_inside() => None,
        opened => opened?,
    };
    let stored = |entry: usize| old.as_ref().map_or(Ok(None), |old| old.inner(entry));
    let cut = ShardSplit::new(shard, &chunk.shape, edit.selected)?;
    let mut touched = cut.entries().peekable();
    let mut body = Assembly::new(shard, std::mem::take(out))?;
    let mut inner = Vec::new();
    let buffer = WriteBuffer { keep_empty: edit.buffer.layout.write_empty_chunks, ..edit.buffer };
    for entry in 0..shard.count {
        match touched.next_if(|(next, _)| *next == entry) {
            None => body.push(stored(entry)?)?,
            Some((_, selected)) => {
                s.chain.codec.poll_after(shard.inner.bytes)?;
                let limits = inner_limits(chunk, shard, entry, edit.limits);
                let within = Edit { selected: &selected, limits: &limits, buffer };
                let keep = encode_chunk(&shard.inner, stored(entry)?, within, s, &mut inner)?;
                body.push(keep.then_some(inner.as_slice()))?;
            }
        }
    }
    body.finish(shard, edit.buffer.keep_empty, s, out)
}

/// A stored shard, decoded by its outer codecs, with its index.
struct Opened<'a> {
    bytes: Cow<'a, [u8]>,
    index: Index,
}

impl<'a> Opened<'a> {
    fn new(shard: &Shard, stored: &'a [u8], chain: &mut ChainScratch) -> CodecResult<Self> {
        let bytes = match shard.outer.is_empty() {
            true => Cow::Borrowed(stored),
            false => Cow::Owned(shard.unpack(stored, chain)?),
        };
        let index = Index::of(shard, &bytes, chain)?;
        Ok(Self { bytes, index })
    }

    fn inner(&self, entry: usize) -> CodecResult<Option<&[u8]>> {
        self.index.slice(entry, &self.bytes)
    }
}

/// How much of the inner chunk of `entry` lies inside the array.
pub(crate) fn inner_limits(
    chunk: &ChunkLayout,
    shard: &Shard,
    entry: usize,
    limits: &[usize],
) -> PerAxis<usize> {
    let axes = 0..chunk.shape.len();
    axes.map(|axis| {
        let length = shard.inner.shape[axis];
        let coord = entry / shard.index_strides[axis] % (chunk.shape[axis] / length);
        limits[axis].saturating_sub(coord * length).min(length)
    })
    .collect()
}

/// A shard that is assembled, inner chunk by inner chunk in the order of the index.
pub(crate) struct Assembly {
    bytes: Vec<u8>,
    index: NewIndex,
}

impl Assembly {
    /// Reuses `memory`, with any content.
    pub fn new(shard: &Shard, memory: Vec<u8>) -> CodecResult<Self> {
        let index = NewIndex::new(shard)?;
        let mut bytes = memory;
        bytes.clear();
        bytes.set_length(index.at)?;
        Ok(Self { bytes, index })
    }

    /// The next inner chunk; `None` for one that is not stored.
    pub fn push(&mut self, inner: Option<&[u8]>) -> CodecResult<()> {
        self.index.push(inner.map(<[u8]>::len));
        inner.map_or(Ok(()), |inner| Ok(self.bytes.append_slice(inner)?))
    }

    /// Replaces `out` by the shard; false if it is not to be stored.
    pub fn finish(
        mut self,
        shard: &Shard,
        keep_empty: bool,
        s: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> CodecResult<bool> {
        let Some(index) = self.index.finish(shard, keep_empty, s)? else {
            *out = self.bytes;
            return Ok(false);
        };
        if shard.index_at_end {
            self.bytes.append_slice(&index)?;
        } else {
            self.bytes[..index.len()].copy_from_slice(&index);
        }
        let mut encoded = Vec::new();
        for codec in &shard.outer {
            codec.encode(&self.bytes, &mut encoded, &mut s.chain.codec)?;
            std::mem::swap(&mut self.bytes, &mut encoded);
        }
        *out = self.bytes;
        Ok(true)
    }
}

/// The index of a shard whose inner chunks follow each other.
pub(crate) struct NewIndex {
    entries: Vec<u8>,
    /// Where the next inner chunk begins.
    at: usize,
    empty: bool,
}

impl NewIndex {
    pub fn new(shard: &Shard) -> CodecResult<Self> {
        let at = if shard.index_at_end { 0 } else { shard.index_bytes };
        Ok(Self { entries: with_room(shard.count * 16)?, at, empty: true })
    }

    /// The length of the next inner chunk; `None` for one that is not stored.
    pub fn push(&mut self, inner: Option<usize>) {
        let (offset, length) =
            inner.map_or((ABSENT, ABSENT), |length| (self.at as u64, length as u64));
        self.entries.extend_from_slice(&offset.to_le_bytes());
        self.entries.extend_from_slice(&length.to_le_bytes());
        if let Some(length) = inner {
            self.at += length;
            self.empty = false;
        }
    }

    /// The encoded index; `None` if the shard is not to be stored.
    pub fn finish(
        self,
        shard: &Shard,
        keep_empty: bool,
        s: &mut Scratch,
    ) -> CodecResult<Option<Vec<u8>>> {
        if self.empty && !keep_empty {
            return Ok(None);
        }
        let mut index = with_room(shard.index_bytes)?;
        shard.index.encode_into(&self.entries, &mut index, &mut s.chain)?;
        if index.len() != shard.index_bytes {
            return Err(damaged(format!(
                "the index became {} bytes long instead of {}",
                index.len(),
                shard.index_bytes
            )));
        }
        Ok(Some(index))
    }
}
