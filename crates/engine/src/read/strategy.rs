//! How a read is done: for a call, and for each chunk of it.
//!
//! This is the only place that chooses, from the layout, the capabilities of the store and the
//! selection. Each other file of this room does what one of the answers says.

use crate::array::io::ArrayIO;
use crate::cache::chunks;
use crate::error::Result;
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard, strides};
use crate::read::chunk_job::ChunkJob;
use crate::read::parts::is_worth_it;
use crate::selection::chunk_selection::{ChunkSelection, covered};
use crate::selection::plan::{AxisSelection, Part, Plan, Segment, buffer_shape};
use crate::threads::pool;

const LINE_BYTES: usize = 64;
/// Bytes of the buffer that the chunks of one task should have next to each other.
const RUN_BYTES: usize = 2 * LINE_BYTES;
/// Smaller chunks are not read faster by blocks.
const MIN_BLOCK_CHUNK_BYTES: usize = 64 << 10;
/// A smaller buffer stays in the CPU caches, in any order of visits.
pub(in crate::read) const THIN_BUFFER_BYTES: usize = 16 << 20;
/// With fewer chunks than threads, this much work is divided by blocks.
const BLOCKS_WORK: usize = 4 << 20;
/// For less work, dividing shards costs more than it gains.
const SHARDS_WORK: usize = 3 << 19;
/// With this many shards for each thread, all threads have work without dividing shards.
const ENOUGH_SHARDS: usize = 4;

/// How a call reads its chunks.
#[derive(Clone, Copy)]
pub(crate) enum Strategy<'a> {
    /// Neighbouring chunks are open at once, and the same block of each is decoded.
    Interleaved(Interleaved<'a>),
    /// The inner chunks of a few shards are divided among the threads.
    ParallelShards(SharedShards<'a>),
    /// Values are requested in batches, and decoded as the answers arrive.
    Batched,
    /// Each chunk is read by one thread, as [`ChunkStrategy`] says.
    ByChunk,
}

/// The axis along which chunks are neighbours in the buffer, and how many of them make up a task.
#[derive(Clone, Copy)]
pub(crate) struct Interleaved<'a> {
    pub axis: usize,
    pub per_task: usize,
    pub chunk: &'a ChunkLayout,
    pub elements: &'a Elements,
}

/// What all shards of an array have in common.
#[derive(Clone, Copy)]
pub(crate) struct SharedShards<'a> {
    pub chunk: &'a ChunkLayout,
    pub shard: &'a Shard,
}

impl Strategy<'_> {
    /// The words for it; `None` if those of a chunk say more.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Interleaved(_) => Some("interleaved"),
            Self::ParallelShards(_) => Some("parallel shards"),
            Self::Batched => Some("batched"),
            Self::ByChunk => None,
        }
    }
}

/// How one chunk is read.
#[derive(Clone, Copy)]
pub(in crate::read) enum ChunkStrategy<'a> {
    /// The index of a shard, then the selected inner chunks as coalesced ranges.
    ShardRanges(&'a Shard),
    /// From the decoded-chunk cache, which keeps what had to be decoded.
    Cached(&'a Elements),
    /// Only the bytes that the selection needs.
    ByteRanges(&'a Elements),
    /// All stored bytes.
    Whole,
}

impl ChunkStrategy<'_> {
    fn word(self) -> &'static str {
        match self {
            Self::ShardRanges(_) => "shard ranges",
            Self::Cached(_) => "cached chunks",
            Self::ByteRanges(_) => "byte ranges",
            Self::Whole => "whole chunks",
        }
    }
}

impl ArrayIO {
    /// How a call reads `count` chunks to a buffer of `bytes`; `job` gives each chunk and its
    /// selection, and `plan` is that of a single selection.
    pub(crate) fn strategy<'a>(
        &self,
        plan: Option<&Plan>,
        count: usize,
        bytes: usize,
        job: &dyn Fn(usize) -> ChunkJob<'a>,
    ) -> Strategy<'_> {
        if !self.store.is_inline() {
            return Strategy::Batched;
        }
        let Some(chunk) = self.layout.only_chunk() else { return Strategy::ByChunk };
        match &chunk.encoding {
            Encoding::Elements(elements) => plan
                .and_then(|plan| self.interleaved(plan, bytes, chunk, elements, job))
                .map_or(Strategy::ByChunk, Strategy::Interleaved),
            Encoding::Shard(shard) if self.divides_shards(shard, count, bytes, job) => {
                Strategy::ParallelShards(SharedShards { chunk, shard })
            }
            Encoding::Shard(_) | Encoding::Variable(_) => Strategy::ByChunk,
        }
    }

    /// How the selection of the chunk at `coords` is read.
    pub(in crate::read) fn chunk_strategy<'a>(
        &self,
        chunk: &'a ChunkLayout,
        coords: &[u64],
        selected: &[ChunkSelection<'_>],
    ) -> ChunkStrategy<'a> {
        let caches = chunks::is_on() && (self.caches() || self.store.is_remote());
        match &chunk.encoding {
            Encoding::Elements(elements) if caches && !elements.chain.is_identity() => {
                ChunkStrategy::Cached(elements)
            }
            Encoding::Shard(shard) if shard.outer.is_empty() && self.caches() => {
                ChunkStrategy::ShardRanges(shard)
            }
            _ => self.uncached_strategy(chunk, coords, selected),
        }
    }

    /// [`Self::chunk_strategy`] without the decoded-chunk cache.
    pub(in crate::read) fn uncached_strategy<'a>(
        &self,
        chunk: &'a ChunkLayout,
        coords: &[u64],
        selected: &[ChunkSelection<'_>],
    ) -> ChunkStrategy<'a> {
        let (is_inline, is_remote) = (self.store.is_inline(), self.store.is_remote());
        let covers = || covered(selected, &self.limits(coords));
        match &chunk.encoding {
            Encoding::Shard(shard)
                if shard.outer.is_empty()
                    && (is_inline || is_remote)
                    && self.choices.parts.unwrap_or_else(|| !covers()) =>
            {
                ChunkStrategy::ShardRanges(shard)
            }
            Encoding::Elements(elements) => {
                let gains = if is_inline {
                    let is_worth_it = || is_worth_it(chunk, elements, selected);
                    self.store.reads_parts()
                        && decodes_parts(elements)
                        && self.choices.parts.unwrap_or_else(is_worth_it)
                        && !(self.store.checks_whole_values() && covers())
                } else {
                    is_remote
                        && elements.chain.is_identity()
                        && is_worth_it(chunk, elements, selected)
                        && !covers()
                };
                if gains { ChunkStrategy::ByteRanges(elements) } else { ChunkStrategy::Whole }
            }
            _ => ChunkStrategy::Whole,
        }
    }

    /// How a read of `selection` to a new array is done, in words; a read by chunk is described by
    /// its first chunk, and one of very many chunks by the first of them.
    ///
    /// # Errors
    /// [`EngineError::Selection`](crate::error::EngineError::Selection) if the selection does not
    /// fit the array.
    pub fn strategy_of(&self, selection: &[AxisSelection]) -> Result<&'static str> {
        self.check_axes(selection)?;
        let shape = buffer_shape(selection);
        let order: PerAxis<usize> = (0..shape.len()).collect();
        let strides = strides(&shape, &order, self.layout.item_bytes);
        let mut blocks = self.blocks(selection, &strides)?;
        let Some(plan) = blocks.next()? else { return Ok("nothing") };
        let bytes = shape.iter().copied().fold(self.layout.item_bytes, usize::saturating_mul);
        self.word_of(Some(plan), plan.tasks, bytes, |task| ChunkJob::of(&plan.task(task)))
    }

    /// The estimated work of a read of `selection`, from which its threads are chosen: in bytes that
    /// are copied meanwhile.
    ///
    /// # Errors
    /// As for [`Self::strategy_of`].
    pub fn effort_of(&self, selection: &[AxisSelection]) -> Result<usize> {
        self.check_axes(selection)?;
        let strides: PerAxis<isize> = buffer_shape(selection).iter().map(|_| 0).collect();
        let mut blocks = self.blocks(selection, &strides)?;
        let tasks = blocks.tasks();
        let Some(plan) = blocks.next()? else { return Ok(0) };
        let effort = self.effort(plan.tasks, |task| ChunkJob::of(&plan.task(task)));
        let times = tasks / plan.tasks.max(1) as u64;
        Ok(effort.saturating_mul(usize::try_from(times).unwrap_or(usize::MAX)))
    }

    /// The words for a read of `count` chunks, the first of which is `job(0)`.
    pub(crate) fn word_of<'a>(
        &self,
        plan: Option<&Plan>,
        count: usize,
        bytes: usize,
        job: impl Fn(usize) -> ChunkJob<'a>,
    ) -> Result<&'static str> {
        if count == 0 {
            return Ok("nothing");
        }
        if let Some(word) = self.strategy(plan, count, bytes, &job).word() {
            return Ok(word);
        }
        let ChunkJob { coords, selected } = job(0);
        let chunk = self.layout.chunk(&coords)?;
        Ok(self.chunk_strategy(&chunk, &coords, &selected).word())
    }

    fn divides_shards<'a>(
        &self,
        shard: &Shard,
        count: usize,
        bytes: usize,
        job: &dyn Fn(usize) -> ChunkJob<'a>,
    ) -> bool {
        let pays = || {
            count < ENOUGH_SHARDS * pool::threads()
                && (bytes >= SHARDS_WORK || self.effort(count, job) >= SHARDS_WORK)
        };
        pool::threads() > 1
            && shard.outer.is_empty()
            && shard.count > 1
            && self.layout.objects().is_none()
            && self.store.reads_parts()
            && !self.store.checks_whole_values()
            && self.choices.shared.unwrap_or_else(pays)
    }

    /// How the chunks of `plan` are read block by block, if that is faster.
    fn interleaved<'a, 'j>(
        &self,
        plan: &Plan,
        bytes: usize,
        chunk: &'a ChunkLayout,
        elements: &'a Elements,
        job: &dyn Fn(usize) -> ChunkJob<'j>,
    ) -> Option<Interleaved<'a>> {
        let item = self.layout.item_bytes;
        if !self.store.reads_parts() || !decodes_parts(elements) {
            return None;
        }
        let is_large = chunk.bytes > MIN_BLOCK_CHUNK_BYTES;
        // The upper bound comes first: it is cheaper to find than the work of the selected part.
        let most = self.effort_of_whole(plan.tasks, chunk);
        let few = is_large
            && plan.tasks < pool::threads()
            && most >= BLOCKS_WORK
            && self.effort(plan.tasks, job) >= BLOCKS_WORK;
        let pays = few || is_large && bytes >= THIN_BUFFER_BYTES;
        if !self.choices.shared.unwrap_or(pays)
            || plan.axes().iter().flatten().any(|s| matches!(s.part, Part::Listed { .. }))
            || (self.store.checks_whole_values() && self.selects_whole_chunks(plan))
        {
            return None;
        }
        let thin = |segment: &Segment| {
            matches!(segment.part, Part::Strided { stride, count, .. }
                if stride == item as isize && count * item <= LINE_BYTES / 2)
        };
        let thin_axis = plan.axes().iter().position(|axis| axis.len() > 2 && axis.iter().all(thin));
        if let Some(axis) = thin_axis {
            let Part::Strided { count, .. } = plan.axes()[axis][0].part else { return None };
            let per_task = RUN_BYTES.div_ceil(count * item);
            return Some(Interleaved { axis, per_task, chunk, elements });
        }
        let few = self.choices.shared.unwrap_or(few);
        (few && !plan.axes().is_empty()).then_some(Interleaved {
            axis: 0,
            per_task: 1,
            chunk,
            elements,
        })
    }

    /// Whether any chunk is selected completely.
    fn selects_whole_chunks(&self, plan: &Plan) -> bool {
        let mut coords = vec![0; plan.axes().len()];
        plan.axes().iter().enumerate().all(|(axis, segments)| {
            segments.iter().any(|segment| {
                coords[axis] = segment.chunk;
                segment.part.covers(self.limits(&coords)[axis])
            })
        })
    }
}

/// Whether some of the elements of a chunk can be decoded without all others.
fn decodes_parts(elements: &Elements) -> bool {
    elements.chain.is_identity() || elements.chain.decodes_parts()
}
