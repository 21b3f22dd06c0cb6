//! Reads of very many chunks, few of which are stored.
//!
//! Asking for each of a billion missing chunks takes an hour. If some chunks that are asked for
//! here and there are missing, the stored ones are listed instead: the work is in what is stored,
//! and the rest of the buffer is the fill value.

use smallvec::smallvec;
use zarrix_codec::memory::with_room;
use zarrix_store::{Fetched, Part as Requested, Request};

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{ReadBuffer, Target};
use crate::chunk::chunk_read::{ChunkRead, DecodeScratch};
use crate::chunk::decode::decode_chunk;
use crate::error::{EngineError, Result};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Encoding};
use crate::layout::grid::AxisGrid;
use crate::read::chunk_job::ChunkJob;
use crate::read::cost::Cost;
use crate::selection::blocks::Blocks;
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::plan::{AxisSelection, Part, Segment};
use crate::threads::cancel::Interrupt;
use crate::threads::scratch;

/// Fewer chunks are asked for one by one: half a minute of local files, or of requests.
const MANY: u64 = 1 << 24;
const MANY_REMOTE: u64 = 1 << 19;
/// Chunks that are asked for first, and how many of them may be stored.
const PROBES: u64 = 64;
const FEW: usize = 4;
/// Listed chunks that are read together.
const BATCH: usize = 1 << 16;

/// Coordinates of stored chunks.
pub(in crate::read) type Stored = Vec<(String, Vec<u64>)>;

impl ArrayIO {
    /// The stored chunks of the array, if so many are selected, and so few stored, that listing
    /// them is less work. Stores that cannot list are asked for each chunk.
    pub(in crate::read) fn listed(&self, blocks: &Blocks<'_>) -> Option<Stored> {
        let many = if self.store.is_remote() { MANY_REMOTE } else { MANY };
        let can = self.layout.read_missing_chunks && self.layout.objects().is_none();
        if blocks.tasks() < many || !can || self.stores_many(blocks)? {
            return None;
        }
        self.stored_chunks().ok()
    }

    /// Whether more than a few chunks here and there are stored; `None` if the store fails, which
    /// the read reports.
    fn stores_many(&self, blocks: &Blocks<'_>) -> Option<bool> {
        let axes = blocks.lengths()?.len() as u64;
        // Odd factors, so that each axis is visited in another order.
        let coords = (0..PROBES).map(|number| {
            let parts = (0..axes).map(|axis| number * (2 * axis + 1) % PROBES).collect();
            blocks.chunk_at(parts, PROBES)
        });
        let keys: Vec<String> = coords.map(|coords| self.key_of(&coords)).collect();
        let part = Requested::AtMost(0);
        let requests: Vec<Request<'_>> = keys.iter().map(|key| Request { key, part }).collect();
        let (mut stored, mut failed) = (0, false);
        self.store.fetch(&requests, &mut |_, answer| match answer {
            Ok(Fetched::Absent) => {}
            Ok(Fetched::Bytes(..)) | Err(zarrix_store::StoreError::TooLong { .. }) => stored += 1,
            Err(_) => failed = true,
        });
        (!failed).then_some(stored > FEW)
    }

    /// Fills `target`, and reads those of the `stored` chunks that are selected.
    pub(in crate::read) fn read_listed(
        &self,
        blocks: &Blocks<'_>,
        stored: &Stored,
        selection: &[AxisSelection],
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.fill_all(selection, target)?;
        self.each_selected(blocks, stored, |found| {
            let job = |index: usize| ChunkJob::of(&found[index].iter().collect());
            let bytes = found.len().saturating_mul(self.layout.item_bytes);
            let strategy = self.strategy(None, found.len(), bytes, &job);
            self.read_by(strategy, found.len(), target, interrupt, &job)
        })?;
        self.explained(Ok(()), true)
    }

    /// What [`ArrayIO::cost`] is, for chunks of one layout.
    pub(in crate::read) fn cost_of_listed(
        &self,
        blocks: &Blocks<'_>,
        chunk: &ChunkLayout,
        stored: &Stored,
        interrupt: Interrupt<'_>,
    ) -> Result<Cost> {
        let all = blocks.tasks();
        let inner = match &chunk.encoding {
            Encoding::Elements(_) | Encoding::Variable(_) => &chunk.shape,
            Encoding::Shard(shard) => &shard.inner.shape,
        };
        let grid: PerAxis<AxisGrid> =
            inner.iter().map(|length| AxisGrid::Even(*length as u64)).collect();
        let lengths = blocks.lengths_by(&grid);
        let chunks = lengths.iter().copied().fold(1, u64::saturating_mul);
        let mut found_cost = Cost::default();
        self.each_selected(blocks, stored, |found| {
            let job = |index: usize| ChunkJob::of(&found[index].iter().collect());
            found_cost.add(self.cost_of_jobs(found.len(), interrupt, &job)?);
            Ok(())
        })?;
        // A missing value is one request.
        let missing = all.saturating_sub(found_cost.values);
        Ok(Cost {
            chunks,
            values: all,
            requests: found_cost.requests.saturating_add(missing),
            elements: chunks.saturating_mul(chunk.units().1 as u64),
            ..found_cost
        })
    }

    /// Hands the segments of the stored chunks that are selected to `visit`, some at a time.
    fn each_selected(
        &self,
        blocks: &Blocks<'_>,
        stored: &Stored,
        mut visit: impl FnMut(&[PerAxis<Segment>]) -> Result<()>,
    ) -> Result<()> {
        for some in stored.chunks(BATCH) {
            let mut found = with_room(some.len())?;
            found.extend(some.iter().filter_map(|(_, coords)| blocks.within(coords)));
            visit(&found)?;
        }
        Ok(())
    }

    /// Fills all of `target`, which `selection` is for, as missing chunks are.
    fn fill_all(&self, selection: &[AxisSelection], target: Target<'_>) -> Result<()> {
        let mut axes = target.shape().iter().zip(target.strides());
        let along = |selected: &AxisSelection| {
            let (count, stride) = match selected {
                AxisSelection::Index(_) => (1, 0),
                AxisSelection::Range { .. } | AxisSelection::List(_) => {
                    axes.next().map_or((1, 0), |(count, stride)| (*count, *stride))
                }
            };
            Part::Strided { first: 0, step: 1, count, offset: 0, stride }
        };
        let parts: PerAxis<Part> = selection.iter().map(along).collect();
        let first: PerAxis<u64> = smallvec![0; selection.len()];
        let chunk = self.layout.chunk(&first)?;
        let all = ChunkSelection::Box { parts: parts.iter().collect(), base: 0, out: 0 };
        let buffer = &ReadBuffer::new(target, &self.layout);
        let read = ChunkRead { chunk: &chunk, selected: &[all], buffer };
        scratch::with(|s| decode_chunk(&read, None, &mut DecodeScratch::of(s)))
            .map_err(EngineError::Configuration)
    }
}
