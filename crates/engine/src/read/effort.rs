//! How much work a read is, estimated before it begins.
//!
//! The length of the result does not tell: one element of every chunk of a time series costs whole
//! chunks. The number of threads is chosen from the values that have to be opened, and the bytes
//! that have to be decoded. Work is counted in bytes that are copied meanwhile, a tenth of a
//! nanosecond each. `python -m benchmarks.choices` measures what is chosen beside all other ways.

use crate::array::io::ArrayIO;
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::memory::strides::Dim;
use crate::read::chunk_job::ChunkJob;
use crate::read::parts::PAGE_BYTES;
use crate::read::strategy::ChunkStrategy;
use crate::selection::chunk_selection::{ChunkSelection, CopyPlan};
use crate::selection::plan::Part;

/// Up to a result of this length and this many bytes of work, handing a read to the pool costs more
/// than it gains.
const ALONE_RESULT_BYTES: usize = 64 << 10;
const ALONE_WORK: usize = 640 << 10;
/// The work of opening a file, reading from it and closing it.
const OPEN_WORK: usize = 32 << 10;
/// What a run of selected bytes is taken to decode or read around itself: about a block of a Blosc
/// frame, whose length is only known once the chunk is open.
const BLOCK_BYTES: usize = 64 << 10;
/// Stands for the length of a variable-length element.
const VARIABLE_BYTES: usize = 16;
/// Decoding it takes so many times as long as copying it.
const VARIABLE_WEIGHT: usize = 10;

/// Whether a read is too little for the pool; `work` is asked for only if the result is short.
pub(crate) fn is_little(result: usize, work: impl FnOnce() -> usize) -> bool {
    result <= ALONE_RESULT_BYTES && work() <= ALONE_WORK
}

impl ArrayIO {
    /// Estimated work of reading `count` chunks, in bytes that are copied meanwhile.
    ///
    /// It is `count` times those of the chunk in the middle: a selection often has little of its
    /// first and last chunks. A chunk outside of the grid counts as none: reading it is the error.
    pub(crate) fn effort<'a>(&self, count: usize, job: impl Fn(usize) -> ChunkJob<'a>) -> usize {
        if count == 0 {
            return 0;
        }
        let ChunkJob { coords, selected } = job(count / 2);
        let Ok(chunk) = self.layout.chunk(&coords) else { return 0 };
        let unit = if self.layout.objects().is_some() { VARIABLE_BYTES } else { 1 };
        let decoded = match self.chunk_strategy(&chunk, &coords, &selected) {
            ChunkStrategy::ByteRanges(elements) => {
                let spans = selected.iter().map(|one| span_of(one, elements));
                spans.fold(0, usize::saturating_add).min(chunk.bytes)
            }
            ChunkStrategy::ShardRanges(shard) => {
                let inner = selected.iter().map(|one| inner_chunks(one, shard));
                let inner = inner.fold(0, usize::saturating_add).min(shard.count);
                inner.saturating_mul(shard.inner.bytes)
            }
            ChunkStrategy::Whole | ChunkStrategy::Cached(_) => chunk.bytes,
        };
        count.saturating_mul(self.work_of(&chunk, decoded.saturating_mul(unit)))
    }

    /// The work of `count` chunks that are decoded completely.
    pub(in crate::read) fn effort_of_whole(&self, count: usize, chunk: &ChunkLayout) -> usize {
        count.saturating_mul(self.work_of(chunk, chunk.bytes))
    }

    /// The work of decoding so many bytes of a chunk, and of opening it.
    fn work_of(&self, chunk: &ChunkLayout, decoded: usize) -> usize {
        let opening = if self.store.is_memory() { 0 } else { OPEN_WORK };
        decoded.saturating_mul(weight_of(chunk)).saturating_add(opening)
    }
}

/// About how many times as long as copying them decoding the elements of a chunk takes.
fn weight_of(chunk: &ChunkLayout) -> usize {
    match &chunk.encoding {
        Encoding::Elements(elements) => elements.chain.decode_weight(),
        Encoding::Variable(_) => VARIABLE_WEIGHT,
        Encoding::Shard(shard) => weight_of(&shard.inner),
    }
}

/// Bytes of the blocks that a selection touches, at most.
fn span_of(selected: &ChunkSelection<'_>, elements: &Elements) -> usize {
    let block = if elements.chain.is_identity() { PAGE_BYTES } else { BLOCK_BYTES };
    let (parts, base) = match selected {
        ChunkSelection::Points { which, .. } => return which.len().saturating_mul(block),
        ChunkSelection::Box { parts, base, .. } => (parts, *base),
    };
    let CopyPlan { mut grid, .. } = CopyPlan::new(parts, base, &elements.strides);
    grid.dims.sort_by_key(|dim| std::cmp::Reverse(dim.src));
    let bytes = |dims: &[Dim]| {
        dims.iter().map(|dim| dim.count.saturating_sub(1) * dim.src.unsigned_abs()).sum::<usize>()
    };
    let lists = grid.lists.iter().map(|list| list.src.len());
    let mut runs: usize = lists.fold(1, usize::saturating_mul);
    let mut dims = grid.dims.as_slice();
    while let [outer, inner @ ..] = dims
        && bytes(dims) > block
    {
        runs = runs.saturating_mul(outer.count);
        dims = inner;
    }
    runs.saturating_mul(bytes(dims) + block)
}

/// How many inner chunks a selection touches, at most.
fn inner_chunks(selected: &ChunkSelection<'_>, shard: &Shard) -> usize {
    let parts = match selected {
        ChunkSelection::Points { which, .. } => return which.len(),
        ChunkSelection::Box { parts, .. } => parts,
    };
    let along = parts.iter().zip(&shard.inner.shape).map(|(part, length)| match part {
        Part::Strided { count: 0, .. } => 0,
        Part::Strided { first, step, count, .. } => {
            let last = first + (count - 1) * step;
            (last / length - first / length + 1).min(*count)
        }
        Part::Listed { positions, .. } => positions.len(),
    });
    along.fold(1, usize::saturating_mul)
}
