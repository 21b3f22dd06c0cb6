//! What a read would fetch, without reading it.
//!
//! It goes through the same chunks and selections as a read. It asks only for the length of each
//! value, and for the index of a shard that is read in part.

use std::sync::{Mutex, PoisonError};

use zarrix_codec::memory::push;
use zarrix_store::coalesce_ranges;

use crate::array::io::ArrayIO;
use crate::chunk::shard_index::{GAP_BYTES, Index};
use crate::error::{Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Encoding, Shard};
use crate::layout::keys::write_key;
use crate::read::chunk_job::ChunkJob;
use crate::read::strategy::ChunkStrategy;
use crate::selection::chunk_selection::{ChunkSelection, ShardSplit};
use crate::selection::plan::AxisSelection;
use crate::threads::cancel::Interrupt;
use crate::threads::scratch::{self, Scratch};

/// What a read touches and fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Touched chunks (inner chunks of an array with shards), including those that are not stored.
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
    pub(in crate::read) fn add(&mut self, other: Self) {
        self.chunks = self.chunks.saturating_add(other.chunks);
        self.values = self.values.saturating_add(other.values);
        self.stored = self.stored.saturating_add(other.stored);
        self.requests = self.requests.saturating_add(other.requests);
        self.elements = self.elements.saturating_add(other.elements);
        self.fetched_bytes = self.fetched_bytes.saturating_add(other.fetched_bytes);
    }
}

impl ArrayIO {
    /// What [`Self::read`] of `selection` would fetch.
    pub fn cost(&self, selection: &[AxisSelection], interrupt: Interrupt<'_>) -> Result<Cost> {
        self.check_axes(selection)?;
        let mut blocks = self.blocks(selection, &[])?;
        if let Some(chunk) = self.layout.only_chunk()
            && let Some(stored) = self.listed(&blocks)
        {
            return self.cost_of_listed(&blocks, chunk, &stored, interrupt);
        }
        let mut cost = Cost::default();
        while let Some(plan) = blocks.next()? {
            cost.add(
                self.cost_of_jobs(plan.tasks, interrupt, &|task| ChunkJob::of(&plan.task(task)))?,
            );
        }
        Ok(cost)
    }

    pub(crate) fn cost_of_jobs<'a>(
        &self,
        count: usize,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> ChunkJob<'a> + Sync),
    ) -> Result<Cost> {
        let total = Mutex::new(Cost::default());
        self.run(count, interrupt, &|index| {
            let ChunkJob { coords, selected } = job(index);
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
                self.cost_of_shard(shard, &chunk.shape, selected, s)
            }
            _ => {
                let chunks = match &chunk.encoding {
                    Encoding::Shard(shard) => count_inner(shard, &chunk.shape, selected)?,
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

    fn cost_of_shard(
        &self,
        shard: &Shard,
        shape: &[usize],
        selected: &[ChunkSelection<'_>],
        s: &mut Scratch,
    ) -> Result<Cost> {
        let chunks = count_inner(shard, shape, selected)?;
        let mut cost = Cost { chunks, values: 1, requests: 1, ..Cost::default() };
        let Some(index) = self.read_index(shard, s)? else {
            return Ok(cost);
        };
        cost.stored = 1;
        let cut = ShardSplit::new(shard, shape, selected)?;
        cost.fetched_bytes = shard.index_bytes as u64;
        let mut ranges = Vec::new();
        for (entry, _) in cut.entries() {
            let range = index.range(entry).map_err(|source| corrupt(&s.key, 0, source))?;
            if let Some((begin, end)) = range {
                push(&mut ranges, begin..end)?;
            }
        }
        for run in coalesce_ranges(ranges, self.store.gap().unwrap_or(GAP_BYTES)) {
            cost.requests += 1;
            cost.fetched_bytes += run.end - run.start;
        }
        Ok(cost)
    }
}

/// How many inner chunks of a shard are touched; those of a single box are not listed for it.
fn count_inner(shard: &Shard, shape: &[usize], selected: &[ChunkSelection<'_>]) -> Result<u64> {
    if let [ChunkSelection::Box { parts, .. }] = selected {
        let along = parts.iter().zip(&shard.inner.shape).map(|(part, length)| part.cuts(*length));
        return Ok(along.fold(1, u64::saturating_mul));
    }
    Ok(ShardSplit::new(shard, shape, selected)?.entries().count() as u64)
}
