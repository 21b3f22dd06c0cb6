//! Writes of thin chunks, several together.
//!
//! If a chunk has less than half a cache line of each row of the caller's memory, gathering it
//! reads a line for each of its rows, and its neighbours read the same lines again. Here the chunks
//! that share lines are gathered and encoded together, block by block, so that each line comes from
//! memory once. What is stored has the same bytes.

use std::sync::{Mutex, PoisonError};

use zarrix_codec::blosc::BlockEncoder;
use zarrix_store::Durability;
use zarrix_store::trace::{self, Doing};

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Edit, Source};
use crate::chunk::encode::fill_chunk;
use crate::error::{CodecResult, Result, failed};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Elements, Encoding};
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::plan::{Part, Plan};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch::{self, Scratch};
use crate::write::gathered::Gathered;

const LINE_BYTES: usize = 64;
/// Lines that all chunks are gathered from before the next ones: they stay in the L2 cache.
const TILE_LINES: usize = 1024;
/// The lines of chunks with fewer are still in a cache when the next chunk is gathered.
const MIN_LINES: usize = 16 << 10;
/// Single bytes are gathered faster chunk by chunk.
const MIN_ITEM_BYTES: usize = 2;
/// Decoded bytes of the chunks of a task: encoded, they may be as long.
const MOST_BYTES: usize = 64 << 20;

/// How the chunks of a call are written together.
#[derive(Clone, Copy)]
pub(crate) struct Neighbours<'a> {
    chunk: &'a ChunkLayout,
    elements: &'a Elements,
    encoder: BlockEncoder,
    /// Bytes of a row of the caller's memory that belong to one chunk.
    row_bytes: usize,
    /// Chunks along the last axis, and the groups of them.
    along: usize,
    groups: usize,
    tasks: usize,
}

/// The buffers of a task, reused by the next one of the call.
#[derive(Default)]
struct Memory {
    decoded: Vec<u8>,
    encoded: Vec<Vec<u8>>,
}

/// One chunk of a group.
struct Member<'a> {
    coords: PerAxis<u64>,
    selected: [ChunkSelection<'a>; 1],
    key: String,
    gathered: Gathered<'a>,
    covers_all: bool,
    /// Whether some element is not the fill value.
    keep: bool,
    /// Whether its frame is shorter than the chunk.
    shorter: bool,
}

impl ArrayIO {
    /// The groups of the chunks of `plan`; `None` if each is written alone.
    pub(crate) fn neighbours(&self, plan: &Plan, source: Source<'_>) -> Option<Neighbours<'_>> {
        let item = self.layout.item_bytes;
        let chunk = self.layout.only_chunk()?;
        let Encoding::Elements(elements) = &chunk.encoding else { return None };
        let last = plan.axes().last()?;
        let row_bytes = chunk.shape.last()? * item;
        let is_thin = 2 * row_bytes <= LINE_BYTES && chunk.bytes / row_bytes.max(1) >= MIN_LINES;
        let [first, second, ..] = last.as_slice() else { return None };
        let apart = second.part.begin().abs_diff(first.part.begin());
        let is_strided = |part: &Part| matches!(part, Part::Strided { .. });
        if !is_thin
            || item < MIN_ITEM_BYTES
            || apart == 0
            || 2 * apart > LINE_BYTES
            || !last.iter().all(|segment| is_strided(&segment.part))
            || source.source().is_some()
            || !self.store.is_inline()
        {
            return None;
        }
        let encoder = elements.chain.block_encoder()?;
        if encoder.n_blocks() == 0 || !encoder.range(0).len().is_multiple_of(item) {
            return None;
        }
        let together = (LINE_BYTES / row_bytes).min(MOST_BYTES / chunk.bytes).min(last.len());
        if together < 2 {
            return None;
        }
        let (along, rows) = (last.len(), plan.tasks / last.len());
        let mut groups = along.div_ceil(together);
        if rows * groups < 8 * pool::threads() {
            groups = groups.next_multiple_of(pool::threads()).min(along / 2);
        }
        let tasks = rows * groups;
        // With fewer tasks than threads, some would be idle.
        (tasks >= pool::threads()).then_some(Neighbours {
            chunk,
            elements,
            encoder,
            row_bytes,
            along,
            groups,
            tasks,
        })
    }

    /// Writes all chunks of `plan`.
    pub(crate) fn write_together(
        &self,
        together: &Neighbours<'_>,
        plan: &Plan,
        (source, durability): (Source<'_>, Durability),
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.check_kind(false)?;
        let unused = Mutex::new(Vec::<Memory>::new());
        let unused = || unused.lock().unwrap_or_else(PoisonError::into_inner);
        self.run(together.tasks, interrupt, &|task| {
            let mut memory = unused().pop().unwrap_or_default();
            let how = (source, durability);
            let done =
                scratch::with(|s| self.write_group(together, plan, task, how, s, &mut memory));
            unused().push(memory);
            done
        })
    }

    /// Writes the chunks of group number `task`.
    fn write_group(
        &self,
        together: &Neighbours<'_>,
        plan: &Plan,
        task: usize,
        (source, durability): (Source<'_>, Durability),
        s: &mut Scratch,
        memory: &mut Memory,
    ) -> Result<()> {
        let Neighbours { chunk, elements, along, groups, .. } = *together;
        let (row, group) = (task / groups * along, task % groups);
        let mut members = Vec::new();
        for task in row + group * along / groups..row + (group + 1) * along / groups {
            let segments = plan.task(task);
            let coords: PerAxis<u64> = segments.iter().map(|segment| segment.chunk).collect();
            let selected = [ChunkSelection::of(&segments, 0, 0)];
            let (limits, key) = (self.limits(&coords), self.key_of(&coords));
            let edit =
                Edit { selected: &selected, limits: &limits, buffer: self.write_buffer(source) };
            let covers_all = edit.covers_all(chunk);
            // Stored elements outside of the array remain.
            if !edit.covers_inside() || (!covers_all && self.store.size(&key)?.is_some()) {
                self.write_job(&coords, &selected, source, durability, s)?;
                continue;
            }
            let item = self.layout.item_bytes;
            let gathered = Gathered::new(chunk, elements, &selected[0], source, item);
            let (keep, shorter) = (false, true);
            members.push(Member { coords, selected, key, gathered, covers_all, keep, shorter });
        }
        self.encode_together(together, &mut members, source, s, memory)?;
        members.iter().zip(&mut memory.encoded).try_for_each(|(member, encoded)| {
            self.put_member(member, (source, durability), s, encoded)
        })
    }

    /// Encodes all members, block by block.
    fn encode_together(
        &self,
        Neighbours { encoder, row_bytes, .. }: &Neighbours<'_>,
        members: &mut [Member<'_>],
        source: Source<'_>,
        s: &mut Scratch,
        Memory { decoded, encoded }: &mut Memory,
    ) -> Result<()> {
        let _span = trace::span(Doing::Encode, "", "");
        encoded.resize_with(encoded.len().max(members.len()), Vec::new);
        let buffer = self.write_buffer(source);
        let of_member = |member: &Member<'_>, done| failed(&member.key, done);
        for (member, encoded) in members.iter().zip(encoded.iter_mut()) {
            encoder.begin(encoded).map_err(|error| of_member(member, error))?;
        }
        for index in 0..encoder.n_blocks() {
            let Some(first) = members.first() else { return Ok(()) };
            let range = encoder.range(index);
            let blocks = Scratch::chunk_of(decoded, members.len() * range.len());
            let blocks = blocks.map_err(|error| of_member(first, error.into()))?;
            for (member, block) in members.iter().zip(blocks.chunks_exact_mut(range.len())) {
                if !member.covers_all {
                    fill_chunk(block, &self.layout);
                }
            }
            let span = trace::span(Doing::Copy, "", "");
            let mut begin = range.start;
            while begin < range.end {
                let end = range.end.min(begin + TILE_LINES * row_bytes);
                let within = begin - range.start..end - range.start;
                for (member, block) in members.iter().zip(blocks.chunks_exact_mut(range.len())) {
                    member.gathered.copy(begin..end, &mut block[within.clone()]);
                }
                begin = end;
            }
            drop(span);
            let made = members.iter_mut().zip(blocks.chunks_exact(range.len())).zip(&mut *encoded);
            for ((member, block), encoded) in made {
                member.keep = member.keep || buffer.stores(block);
                if member.shorter {
                    let pushed = encoder.push(index, block, encoded, &mut s.chain.codec);
                    member.shorter = pushed.map_err(|error| of_member(member, error))?;
                }
            }
        }
        for (member, encoded) in members.iter().zip(encoded) {
            let done: CodecResult<()> = match member.shorter {
                true => {
                    encoder.finish(encoded);
                    Ok(())
                }
                false => {
                    let all = Scratch::chunk_of(decoded, encoder.decoded_bytes());
                    all.map_err(Into::into).and_then(|all| {
                        if !member.covers_all {
                            fill_chunk(all, &self.layout);
                        }
                        member.gathered.copy(0..all.len(), all);
                        encoder.store(all, encoded)
                    })
                }
            };
            done.map_err(|error| of_member(member, error))?;
        }
        Ok(())
    }

    fn put_member(
        &self,
        member: &Member<'_>,
        (source, durability): (Source<'_>, Durability),
        s: &mut Scratch,
        encoded: &mut Vec<u8>,
    ) -> Result<()> {
        let encoded = member.keep.then_some(encoded);
        if member.covers_all {
            let _lock = self.lock(&member.key)?;
            return self.replace(&member.key, encoded.as_deref().map(Vec::as_slice), durability);
        }
        self.write_or_put(&member.coords, &member.selected, source, durability, (s, Some(encoded)))
    }
}
