//! Interleaved reads: neighbouring chunks are decoded block by block, in turn.
//!
//! If a chunk has only a few bytes of every cache line of the buffer (chunks of one plane, in an
//! array whose last axis counts the planes), reading one chunk after the other would load each line
//! of the buffer once for every chunk. Instead, several neighbours are open at once, the same block
//! of each is decoded, and all of them are copied together: complete cache lines are written. A
//! task is one block of several chunks, so that threads also share a large chunk.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use zarrix_codec::ChainScratch;
use zarrix_codec::blosc::BlockTable;
use zarrix_store::Reader;
use zarrix_store::trace::{self, Doing};

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{ReadBuffer, Target};
use crate::chunk::chunk_read::ChunkRead;
use crate::chunk::lengths::check_length;
use crate::error::Result;
use crate::layout::chunk::Elements;
use crate::layout::keys::write_key;
use crate::memory::copy;
use crate::memory::strides::{Dim, Dims};
use crate::read::cached::{ALL, CachedVersion, is_cacheable};
use crate::read::parts::{Failed, read_table, touched};
use crate::read::strategy::{Interleaved, THIN_BUFFER_BYTES};
use crate::selection::chunk_selection::{ChunkSelection, CopyPlan};
use crate::selection::plan::{Part, Plan, Segment};
use crate::selection::runs::{clip, in_memory_order};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch::{self, Scratch};
use zarrix_codec::memory::copied;

const LINE_BYTES: usize = 64;
/// Maximum number of open chunks.
const MAX_OPEN: usize = 64;
/// Bytes of one read of a chunk without a codec.
const PLAIN_BLOCK_BYTES: usize = 256 << 10;

/// An open chunk.
struct Member<'s> {
    task: usize,
    key: String,
    reader: Box<dyn Reader + 's>,
    /// `None` for a chunk without a codec.
    table: Option<Arc<BlockTable>>,
    /// The cached generation, if blocks are cached.
    version: Option<CachedVersion>,
    buffer_offset: isize,
}

impl Member<'_> {
    fn block_bytes(&self) -> usize {
        self.table.as_ref().map_or(PLAIN_BLOCK_BYTES, |table| table.block_bytes())
    }

    /// Reads and decodes one block into `dst`, which has its length; `encoded` and `chain` are
    /// scratch buffers.
    fn decode_block(
        &self,
        index: usize,
        dst: &mut [u8],
        (encoded, chain): (&mut Vec<u8>, &mut ChainScratch),
    ) -> Result<()> {
        let cached = self.version.as_ref().and_then(|version| version.block(&ALL, index));
        if let Some(cached) = cached {
            dst.copy_from_slice(&cached);
            return Ok(());
        }
        let done = match &self.table {
            None => {
                self.reader.read_at((index * PLAIN_BLOCK_BYTES) as u64, dst).map_err(Failed::Store)
            }
            Some(table) => {
                let extent = table.extents()[index].clone();
                let encoded = Scratch::chunk_of(encoded, extent.len())?;
                let read = self.reader.read_at(extent.start as u64, encoded).map_err(Failed::Store);
                read.and_then(|()| {
                    let _span = trace::span(Doing::Decode, "", "");
                    let decoded = table.decode_block(index, encoded, dst, &mut chain.codec);
                    decoded.map_err(Failed::Codec)
                })
            }
        };
        done.map_err(|failed| failed.of(&self.key, self.reader.size() as usize))?;
        if let Some(version) = &self.version {
            version.cache_block(&ALL, index, Arc::new(copied(dst)?));
        }
        Ok(())
    }
}

impl ArrayIO {
    /// Reads all tasks of `plan`, those along one axis together.
    pub(in crate::read) fn read_interleaved(
        &self,
        plan: &Plan,
        shared: Interleaved<'_>,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let along = &plan.axes()[shared.axis];
        let inner: usize = plan.axes()[shared.axis + 1..].iter().map(|axis| axis.len()).product();
        // Chunks with selections of one shape, so that one traversal serves all of them.
        let same = |a: &Segment, b: &Segment| extent(&a.part) == extent(&b.part);
        for outer in 0..plan.tasks / along.len() {
            let first = outer / inner * along.len() * inner + outer % inner;
            let mut begin = 0;
            for run in along.chunk_by(same) {
                for members in run.chunks(MAX_OPEN) {
                    let end = begin + members.len();
                    let tasks: Vec<usize> = (begin..end).map(|k| first + k * inner).collect();
                    self.read_neighbours(plan, &tasks, shared, target, interrupt)?;
                    begin = end;
                }
            }
        }
        Ok(())
    }

    fn read_neighbours(
        &self,
        plan: &Plan,
        tasks: &[usize],
        shared: Interleaved<'_>,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let Interleaved { per_task, chunk, elements, .. } = shared;
        let members = self.open_members(plan, tasks, shared, target, interrupt)?;
        let Some(block) = members.first().map(Member::block_bytes) else { return Ok(()) };
        let item = self.layout.item_bytes;
        let fits =
            |member: &Member<'_>| member.block_bytes() == block && block.is_multiple_of(item);
        let (members, others): (Vec<_>, Vec<_>) = members.into_iter().partition(fits);
        pool::run(others.len(), interrupt, &|i| {
            let segments = plan.task(others[i].task);
            let coords: Vec<u64> = segments.iter().map(|segment| segment.chunk).collect();
            let selected = [ChunkSelection::of(&segments, 0, 0)];
            scratch::with(|s| self.read_job(&coords, &selected, target, s))
        })?;
        let Some(first) = members.first() else { return Ok(()) };
        let selected = ChunkSelection::of(&plan.task(first.task), 0, 0);
        let blocks = touched(chunk, elements, std::slice::from_ref(&selected), (block, item))
            .map_err(|source| Failed::Codec(source).of(&first.key, first.reader.size() as usize))?;
        let placed = placed(&selected, elements);
        let walked = Walked {
            dims: in_memory_order(placed.grid.dims),
            chunk_offset: placed.chunk_offset,
            chunk_bytes: chunk.bytes,
            block_bytes: block,
            item,
            non_temporal: target.bytes(item) >= THIN_BUFFER_BYTES,
        };
        let groups: Vec<&[Member<'_>]> = members.chunks(per_task).collect();
        // All groups of a block are neighbours in the buffer too, so they are consecutive tasks.
        pool::run(blocks.len() * groups.len(), interrupt, &|task| {
            let (index, group) = (blocks[task / groups.len()], groups[task % groups.len()]);
            scratch::with(|s| scatter_block(&walked, index, group, target, s))
        })
    }

    fn open_members(
        &self,
        plan: &Plan,
        tasks: &[usize],
        shared: Interleaved<'_>,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<Member<'_>>> {
        let opened: Vec<OnceLock<Member<'_>>> = tasks.iter().map(|_| OnceLock::new()).collect();
        pool::run(tasks.len(), interrupt, &|i| {
            if let Some(member) = self.open_member(plan, tasks[i], shared, target)? {
                // Each task sets only its own slot.
                let _ = opened[i].set(member);
            }
            Ok(())
        })?;
        Ok(opened.into_iter().filter_map(OnceLock::into_inner).collect())
    }

    /// Opens one chunk; `None` if it is not stored, and its elements are filled.
    fn open_member(
        &self,
        plan: &Plan,
        task: usize,
        Interleaved { chunk, elements, .. }: Interleaved<'_>,
        target: Target<'_>,
    ) -> Result<Option<Member<'_>>> {
        let segments = plan.task(task);
        let coords = segments.iter().map(|segment| segment.chunk);
        let mut key = String::new();
        write_key(&mut key, &self.prefix, &self.layout, coords);
        let selected = ChunkSelection::of(&segments, 0, 0);
        let Some(reader) = self.store.reader(&key)? else {
            let buffer = &ReadBuffer::new(target, &self.layout);
            let read = ChunkRead { chunk, selected: &[selected], buffer };
            scratch::with(|s| self.decode_whole(&read, None, s))?;
            return Ok(None);
        };
        let size = usize::try_from(reader.size()).unwrap_or(usize::MAX);
        let mut version = is_cacheable(chunk).and_then(|_| self.cached_version(&*reader, &key));
        let (table, is_new) = if elements.chain.is_identity() {
            (check_length(size, chunk.bytes).map(|()| None).map_err(Failed::Codec), false)
        } else if let Some(table) = version.as_ref().and_then(|version| version.table(&ALL)) {
            (Ok(Some(table)), false)
        } else {
            (read_table(&*reader, chunk).map(|table| Some(Arc::new(table))), true)
        };
        let table = table.map_err(|failed| failed.of(&key, size))?;
        if let (Some(one), Some(table)) = (&version, &table) {
            if is_new {
                one.cache_table(&ALL, table);
            }
            version = version.filter(|version| !version.waits(table, is_new));
        }
        let buffer_offset = placed(&selected, elements).buffer_offset;
        Ok(Some(Member { task, key, reader, table, version, buffer_offset }))
    }
}

/// What two parts must have in common to share a traversal.
fn extent(part: &Part) -> Option<(usize, usize, usize)> {
    match *part {
        Part::Strided { first, step, count, .. } => Some((first, step, count)),
        Part::Listed { .. } => None,
    }
}

fn placed(selected: &ChunkSelection<'_>, elements: &Elements) -> CopyPlan {
    match selected {
        ChunkSelection::Box { parts, base, .. } => CopyPlan::new(parts, *base, &elements.strides),
        ChunkSelection::Points { .. } => CopyPlan::new(&[], 0, &[]),
    }
}

/// The selection that neighbouring chunks share, in a decoded chunk.
struct Walked {
    dims: Dims,
    chunk_offset: usize,
    chunk_bytes: usize,
    block_bytes: usize,
    item: usize,
    /// Whether the buffer is larger than the CPU caches.
    non_temporal: bool,
}

/// Decodes block `index` of every open chunk, and copies their selections together.
fn scatter_block(
    walked: &Walked,
    index: usize,
    members: &[Member<'_>],
    target: Target<'_>,
    s: &mut Scratch,
) -> Result<()> {
    let begin = index * walked.block_bytes;
    let bytes = begin..(begin + walked.block_bytes).min(walked.chunk_bytes);
    let Scratch { chunk: memory, encoded, chain, .. } = s;
    if let ([only], Some(offset)) = (members, walked.straight(&bytes)) {
        let to = target.base().wrapping_offset(only.buffer_offset + offset);
        // SAFETY: all of the block is selected, and its elements lie in the buffer one after the
        // other, as many bytes as the block decodes to, which no other task of this call touches.
        let straight = unsafe { std::slice::from_raw_parts_mut(to, bytes.len()) };
        chain.codec.bypass_caches(walked.non_temporal);
        let decoded = only.decode_block(index, straight, (encoded, chain));
        chain.codec.bypass_caches(false);
        return decoded;
    }
    // One more cache line, or the same byte of all chunks would map to the same few sets of the
    // cache.
    let apart = bytes.len().next_multiple_of(LINE_BYTES) + LINE_BYTES;
    let memory = Scratch::chunk_of(memory, apart * members.len())?;
    for (member, room) in members.iter().zip(memory.chunks_mut(apart)) {
        member.decode_block(index, &mut room[..bytes.len()], (encoded, chain))?;
    }
    let _span = trace::span(Doing::Copy, "", "");
    let steps = members.windows(2).map(|pair| pair[1].buffer_offset - pair[0].buffer_offset);
    let step = members.get(1).map_or(0, |second| second.buffer_offset - members[0].buffer_offset);
    let evenly = steps.clone().all(|other| other == step);
    let runs = if evenly { members.len() } else { 1 };
    for (number, run) in members.chunks(runs).enumerate() {
        let (from, base) = (&memory[number * runs * apart..], run[0].buffer_offset);
        let across = Dim { count: run.len(), dst: step, src: apart as isize };
        clip(&walked.dims, walked.item, (walked.chunk_offset, 0), &bytes, &mut |dims, at| {
            let to = target.base().wrapping_offset(base + at.1);
            let dims = dims.iter().copied().chain([across]).collect();
            // SAFETY: the clipped box lies in the block, of which `memory` has one for each
            // member; the plan reaches only elements of the buffer, whose maker vouches for them.
            unsafe {
                let from = from[at.0 - bytes.start..].as_ptr();
                match walked.non_temporal {
                    true => copy::copy_nontemporal(to, from, dims, walked.item),
                    false => copy::copy(to, from, dims, walked.item),
                }
            };
        });
    }
    Ok(())
}

impl Walked {
    /// The offset of a block's elements in the buffer, relative to the chunk's own, if all of them
    /// are selected and contiguous there.
    fn straight(&self, bytes: &Range<usize>) -> Option<isize> {
        let [Dim { count, dst, src }] = *self.dims else { return None };
        let all = self.chunk_offset..self.chunk_offset + count * self.item;
        let in_order = dst == src && src == self.item as isize;
        (in_order && all.start <= bytes.start && bytes.end <= all.end)
            .then(|| (bytes.start - all.start) as isize)
    }
}
