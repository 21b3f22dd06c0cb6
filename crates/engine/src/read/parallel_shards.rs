//! Few shards, read by all threads.
//!
//! Where there are many shards, each is read by one thread. Of a few, most threads would have none:
//! then every one is opened, its index is read, and runs of its inner chunks are fetched and decoded
//! by whoever is free. What is open stays one version.

use std::sync::{Arc, OnceLock};

use zarrix_store::Reader;

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Sink, Target};
use crate::chunk::shard_index::Index;
use crate::error::Result;
use crate::layout::chunk::{ChunkLayout, Encoding, Shard};
use crate::read::job::Job;
use crate::read::shard::Found;
use crate::selection::chunk_selection::Cut;
use crate::threads::cancel::Interrupt;
use crate::threads::{pool, scratch};

/// For less than this, handing work over costs more than it gives.
const LEAST_BYTES: usize = 128 << 10;
/// So many shards for each thread are enough for all of them.
const ENOUGH: usize = 4;
/// Into how many units for each thread the inner chunks are divided, and how much of them, decoded,
/// is the least that a unit is about.
const UNITS: usize = 4;
const UNIT_BYTES: usize = 32 << 10;

/// What all shards of an array have in common.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    chunk: &'a ChunkLayout,
    shard: &'a Shard,
}

/// A stored shard of which something is wanted.
struct Opened<'s, 'w> {
    key: String,
    reader: Box<dyn Reader + 's>,
    index: Arc<Index>,
    cut: Cut<'w>,
}

impl ArrayIO {
    /// Whether the inner chunks of `count` shards are better shared out.
    pub(crate) fn shared(&self, count: usize, target: Target<'_>) -> Option<Shared<'_>> {
        let chunk = self.layout.only_chunk()?;
        let Encoding::Shard(shard) = &chunk.encoding else { return None };
        let item = self.layout.item_bytes;
        let wanted_bytes = target.shape().iter().copied().fold(item, usize::saturating_mul);
        let share = pool::threads() > 1
            && count < ENOUGH * pool::threads()
            && wanted_bytes >= LEAST_BYTES
            && shard.outer.is_empty()
            && shard.count > 1
            && target.sink().is_none()
            && self.store.reads_parts()
            && !self.store.checks_whole_values();
        share.then_some(Shared { chunk, shard })
    }

    /// Reads `count` shards; `job` tells which, and what is wanted of each.
    pub(crate) fn read_shared<'a>(
        &self,
        count: usize,
        Shared { chunk, shard }: Shared<'_>,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> Job<'a> + Sync),
    ) -> Result<()> {
        let sink = || Sink::new(target, &self.layout);
        let places: Vec<OnceLock<Opened<'_, 'a>>> = (0..count).map(|_| OnceLock::new()).collect();
        pool::run(count, interrupt, &|number| {
            let (coords, wanted) = job(number);
            let key = self.key_of(&coords);
            scratch::with(|s| {
                s.key.clone_from(&key);
                let Some(reader) = self.store.reader(&key)? else {
                    return self.place_whole(chunk, None, &wanted, sink(), s);
                };
                let index = self.read_index_at(shard, &(0..reader.size()), &*reader, s)?;
                let cut = Cut::new(shard, &chunk.shape, &wanted);
                // Each task sets only its own place.
                let _ = places[number].set(Opened { key, reader, index, cut });
                Ok(())
            })
        })?;
        let opened: Vec<Opened<'_, 'a>> =
            places.into_iter().filter_map(OnceLock::into_inner).collect();
        let mut found: Vec<Vec<Found<'_>>> = Vec::with_capacity(opened.len());
        for Opened { key, index, cut, .. } in &opened {
            found.push(scratch::with(|s| {
                s.key.clone_from(key);
                self.find_ranges(shard, cut, index, sink(), s)
            })?);
        }
        let total: usize = found.iter().map(Vec::len).sum();
        let least = UNIT_BYTES.div_ceil(shard.inner.bytes.max(1));
        let most = (total / (UNITS * pool::threads())).max(least).max(1);
        let units: Vec<(&Opened<'_, 'a>, &[Found<'_>])> = opened
            .iter()
            .zip(&found)
            .flat_map(|(opened, found)| found.chunks(most).map(move |unit| (opened, unit)))
            .collect();
        pool::run(units.len(), interrupt, &|number| {
            let (opened, unit) = units[number];
            scratch::with(|s| {
                s.key.clone_from(&opened.key);
                self.read_found(shard, unit, &opened.index, &*opened.reader, sink(), s)
            })
        })
    }
}
