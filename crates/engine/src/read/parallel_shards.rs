//! Parallel shard reads: all threads read a few shards.
//!
//! With many shards, each is read by one thread. With fewer shards than that, some threads would be
//! idle. Then every shard is opened, its index is read, and runs of its inner chunks are divided
//! among the threads. An open value stays one generation.

use std::sync::{Arc, OnceLock};

use zarrix_store::Reader;

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{ReadBuffer, Target};
use crate::chunk::chunk_read::ChunkRead;
use crate::chunk::shard_index::Index;
use crate::error::Result;
use crate::layout::chunk::Shard;
use crate::read::chunk_job::ChunkJob;
use crate::read::shard::Found;
use crate::read::strategy::SharedShards;
use crate::selection::chunk_selection::ShardSplit;
use crate::threads::cancel::Interrupt;
use crate::threads::{pool, scratch};
use zarrix_codec::memory::collected;

/// Units of inner chunks for each thread, and the minimum of a unit in decoded bytes.
const UNITS: usize = 4;
const UNIT_BYTES: usize = 32 << 10;

/// A stored shard with a selection.
struct Opened<'s, 'w> {
    key: String,
    reader: Box<dyn Reader + 's>,
    index: Arc<Index>,
    cut: ShardSplit<'w>,
}

impl ArrayIO {
    /// Reads `count` shards; `job` gives each shard and its selection.
    pub(in crate::read) fn read_shared<'a>(
        &self,
        count: usize,
        SharedShards { chunk, shard }: SharedShards<'_>,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> ChunkJob<'a> + Sync),
    ) -> Result<()> {
        let buffer = || ReadBuffer::new(target, &self.layout);
        let places: Vec<OnceLock<Opened<'_, 'a>>> = (0..count).map(|_| OnceLock::new()).collect();
        pool::run(count, interrupt, &|number| {
            let ChunkJob { coords, selected } = job(number);
            let key = self.key_of(&coords);
            scratch::with(|s| {
                s.key.clone_from(&key);
                let Some(reader) = self.store.reader(&key)? else {
                    let read = ChunkRead { chunk, selected: &selected, buffer: &buffer() };
                    return self.decode_whole(&read, None, s);
                };
                let index = self.read_index_at(shard, &(0..reader.size()), &*reader, s)?;
                let cut = ShardSplit::new(shard, &chunk.shape, &selected)?;
                // Each task sets only its own slot.
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
                self.find_ranges(shard, cut, index, &buffer(), s)
            })?);
        }
        let max = unit_length(found.iter().map(Vec::len).sum(), shard);
        let units: Vec<(&Opened<'_, 'a>, &[Found<'_>])> = collected(
            opened
                .iter()
                .zip(&found)
                .flat_map(|(opened, found)| found.chunks(max).map(move |unit| (opened, unit))),
        )?;
        pool::run(units.len(), interrupt, &|number| {
            let (opened, unit) = units[number];
            scratch::with(|s| {
                s.key.clone_from(&opened.key);
                self.read_found(shard, unit, &opened.index, &*opened.reader, &buffer(), s)
            })
        })
    }
}

/// How many of `total` inner chunks make up a unit of work.
fn unit_length(total: usize, shard: &Shard) -> usize {
    let least = UNIT_BYTES.div_ceil(shard.inner.bytes.max(1));
    (total / (UNITS * pool::threads())).max(least).max(1)
}
