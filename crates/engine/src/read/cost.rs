//! What a read would fetch, without reading it.
//!
//! It goes through the same chunks and selections as a read. It asks only for the length of each
//! value, and for the index of a shard that is read in part.

use std::sync::{Mutex, PoisonError};

use zarrix_store::coalesce_ranges;

use crate::array::io::ArrayIO;
use crate::chunk::shard_index::{GAP_BYTES, Index};
use crate::error::{CodecResult, Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Encoding, Shard};
use crate::layout::keys::write_key;
use crate::read::job::Job;
use crate::read::strategy::ChunkStrategy;
use crate::selection::chunk_selection::{ChunkSelection, ShardSplit};
use crate::selection::plan::AxisSelection;
use crate::threads::cancel::Interrupt;
use crate::threads::scratch::{self, Scratch};

/// What a read touches and fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Chunks touched, stored or not: of an array with shards, inner chunks.
    pub chunks: u64,
    /// Stored values touched: the chunks, or the shards that hold them, stored or not.
    pub values: u64,
    /// How many of these values are stored.
    pub stored: u64,
    /// Requests made to the store.
    pub requests: u64,
    /// Elements of the touched chunks.
    pub elements: u64,
    /// Bytes that these requests return.
    pub fetched_bytes: u64,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.chunks += other.chunks;
        self.values += other.values;
        self.stored += other.stored;
        self.requests += other.requests;
        self.elements += other.elements;
        self.fetched_bytes += other.fetched_bytes;
    }
}

impl ArrayIO {
    /// What [`Self::read`] of `selection` would fetch.
    pub fn cost(&self, selection: &[AxisSelection], interrupt: Interrupt<'_>) -> Result<Cost> {
        self.check_axes(selection)?;
        let plan = self.plan(selection, &[])?;
        self.cost_of_jobs(plan.tasks, interrupt, &|task| Job::of(&plan.task(task)))
    }

    pub(crate) fn cost_of_jobs<'a>(
        &self,
        count: usize,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> Job<'a> + Sync),
    ) -> Result<Cost> {
        let total = Mutex::new(Cost::default());
        self.run(count, interrupt, &|index| {
            let Job { coords, selected } = job(index);
            let chunk = &*self.layout.chunk(&coords)?;
            let mut cost = scratch::with(|s| self.cost_of_job(chunk, &coords, &selected, s))?;
            cost.elements = cost.chunks * chunk.units().1 as u64;
            total.lock().unwrap_or_else(PoisonError::into_inner).add(cost);
            Ok(())
        })?;
        Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn cost_of_job(
        &self,
        chunk: &ChunkLayout,
        coords: &[u64],
        selected: &[ChunkSelection<'_>],
        s: &mut Scratch,
    ) -> Result<Cost> {
        write_key(&mut s.key, &self.prefix, &self.layout, coords.iter().copied());
        let cut = |shard| ShardSplit::new(shard, &chunk.shape, selected);
        match self.uncached_strategy(chunk, coords, selected) {
            ChunkStrategy::ByteRanges(elements) if self.store.is_inline() => {
                let found = self.cost_of_parts(chunk, elements, selected, s)?;
                let (requests, bytes) = found.unwrap_or((1, 0));
                Ok(Cost {
                    chunks: 1,
                    values: 1,
                    stored: u64::from(found.is_some()),
                    requests: requests as u64,
                    fetched_bytes: bytes as u64,
                    ..Cost::default()
                })
            }
            ChunkStrategy::ShardRanges(shard)
                if self.indexes.get(&s.key).is_some() || !self.is_read_in_one(chunk) =>
            {
                self.cost_of_shard(shard, &cut(shard), s)
            }
            _ => {
                let chunks = match &chunk.encoding {
                    Encoding::Shard(shard) => cut(shard).entries().count() as u64,
                    Encoding::Elements(_) | Encoding::Variable(_) => 1,
                };
                self.cost_of_value(chunks, s)
            }
        }
    }

    fn cost_of_value(&self, chunks: u64, s: &Scratch) -> Result<Cost> {
        let size = self.store.size(&s.key)?;
        Ok(Cost {
            chunks,
            values: 1,
            stored: u64::from(size.is_some()),
            requests: 1,
            fetched_bytes: size.unwrap_or(0),
            ..Cost::default()
        })
    }

    /// The index of the shard that `s.key` names; `None` if it is not stored.
    fn read_index(&self, shard: &Shard, s: &mut Scratch) -> Result<Option<Index>> {
        let found = self.store.get_edge_into(&s.key, shard.index_edge(), &mut s.encoded)?;
        let Some((_, total)) = found else { return Ok(None) };
        let index = Index::from_edge(shard, &s.encoded, total, &mut s.chain)
            .map_err(|source| corrupt(&s.key, total as usize, source))?;
        Ok(Some(index))
    }

    fn cost_of_shard(&self, shard: &Shard, cut: &ShardSplit<'_>, s: &mut Scratch) -> Result<Cost> {
        let chunks = cut.entries().count() as u64;
        let mut cost = Cost { chunks, values: 1, requests: 1, ..Cost::default() };
        let Some(index) = self.read_index(shard, s)? else {
            return Ok(cost);
        };
        cost.stored = 1;
        cost.fetched_bytes = shard.index_bytes as u64;
        let ranges = cut.entries().filter_map(|(entry, _)| index.range(entry).transpose());
        let ranges = ranges.map(|range| range.map(|(begin, end)| begin..end));
        let ranges = ranges.collect::<CodecResult<Vec<_>>>();
        let ranges = ranges.map_err(|source| corrupt(&s.key, 0, source))?;
        for run in coalesce_ranges(ranges, self.store.gap().unwrap_or(GAP_BYTES)) {
            cost.requests += 1;
            cost.fetched_bytes += run.end - run.start;
        }
        Ok(cost)
    }
}
