//! Inner chunks, read as ranges of an open shard.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use zarrix_store::{Reader, coalesce};

use crate::array::io::ArrayIO;
use crate::chunk::buffer::ReadBuffer;
use crate::chunk::chunk_read::{ChunkRead, DecodeScratch};
use crate::chunk::decode::decode_chunk;
use crate::chunk::shard_index::{GAP_BYTES, Index, too_short};
use crate::error::{CodecResult, Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Encoding, Shard};
use crate::read::cached::{CachedVersion, is_cacheable};
use crate::selection::chunk_selection::{ChunkSelection, ShardSplit, covered};
use crate::threads::scratch::Scratch;
use zarrix_codec::memory::{Grow, collected, push};

/// Nested shards longer than this are read by their own index.
const MIN_NESTED_BYTES: u64 = 64 << 10;

impl ArrayIO {
    /// Reads the selection of one stored shard: its index, then the inner chunks as ranges.
    ///
    /// Index and ranges are of one generation: an open value does not change.
    pub(in crate::read) fn read_shard(
        &self,
        read: &ChunkRead<'_, '_>,
        shard: &Shard,
        s: &mut Scratch,
    ) -> Result<()> {
        let Some(reader) = self.store.reader(&s.key)? else {
            return self.decode_whole(read, None, s);
        };
        let index = self.read_index_at(shard, &(0..reader.size()), &*reader, s)?;
        let split = ShardSplit::new(shard, &read.chunk.shape, read.selected)?;
        self.read_ranges(shard, &split, &index, &*reader, read.buffer, s)
    }

    /// Reads the selected inner chunks.
    fn read_ranges(
        &self,
        shard: &Shard,
        cut: &ShardSplit<'_>,
        index: &Index,
        reader: &dyn Reader,
        buffer: &ReadBuffer<'_>,
        s: &mut Scratch,
    ) -> Result<()> {
        let found = self.find_ranges(shard, cut, index, buffer, s)?;
        self.read_found(shard, &found, index, reader, buffer, s)
    }

    /// The positions of the selected inner chunks, ascending; missing ones are filled.
    pub(in crate::read) fn find_ranges<'c>(
        &self,
        shard: &Shard,
        cut: &'c ShardSplit<'_>,
        index: &Index,
        buffer: &ReadBuffer<'_>,
        s: &mut Scratch,
    ) -> Result<Vec<Found<'c>>> {
        let mut found = Vec::new();
        for (entry, selected) in cut.entries() {
            let range = index.bounded_range(shard, entry);
            match range.map_err(|source| corrupt(&s.key, index.stored_bytes(), source))? {
                Some((begin, end)) => push(&mut found, Found { begin, end, selected })?,
                None => {
                    let read = ChunkRead { chunk: &shard.inner, selected: &selected, buffer };
                    self.decode_whole(&read, None, s)?;
                }
            }
        }
        found.sort_by_key(|found| (found.begin, found.end));
        Ok(found)
    }

    /// Reads inner chunks whose positions are known.
    pub(in crate::read) fn read_found(
        &self,
        shard: &Shard,
        found: &[Found<'_>],
        index: &Index,
        reader: &dyn Reader,
        buffer: &ReadBuffer<'_>,
        s: &mut Scratch,
    ) -> Result<()> {
        let version = self.cached_version(reader, &s.key);
        let left;
        let mut found = found;
        if let Some(version) = &version {
            left = self.decode_cached(version, shard, found, index, buffer, s)?;
            found = &left;
        }
        let inner_shard =
            |found: &Found<'_>| nested(&shard.inner, found.end - found.begin, &found.selected);
        for run in found.chunk_by(|a, b| inner_shard(a).is_none() && inner_shard(b).is_none()) {
            if let Some(inner) = inner_shard(&run[0]) {
                let Found { begin, end, selected } = &run[0];
                let index = self.read_index_at(inner, &(*begin..*end), reader, s)?;
                let cut = ShardSplit::new(inner, &shard.inner.shape, selected)?;
                self.read_ranges(inner, &cut, &index, reader, buffer, s)?;
                continue;
            }
            for (range, run) in coalesce(run, GAP_BYTES, |found| found.begin..found.end) {
                fetch_range(reader, &range, s)?;
                let encoded = std::mem::take(&mut s.encoded);
                let bytes = (range.start, encoded.as_slice());
                let decoded = decode_run(shard, bytes, run, version.as_ref(), buffer, s);
                s.encoded = encoded;
                decoded.map_err(|source| corrupt(&s.key, index.stored_bytes(), source))?;
            }
        }
        Ok(())
    }

    /// Copies the cached inner chunks; returns the others.
    fn decode_cached<'f>(
        &self,
        version: &CachedVersion,
        shard: &Shard,
        found: &[Found<'f>],
        index: &Index,
        buffer: &ReadBuffer<'_>,
        s: &mut Scratch,
    ) -> Result<Vec<Found<'f>>> {
        let Some(elements) = is_cacheable(&shard.inner) else {
            return Ok(collected(found.iter().cloned())?);
        };
        let mut left = Vec::new();
        for found in found {
            let read = found.read(shard, buffer);
            let is_done =
                version.look(&read, elements, found.begin..found.end).and_then(|cached| {
                    if !cached.is_all() {
                        return Ok(false);
                    }
                    cached.scatter(&read, elements, s).map(|()| true)
                });
            if !is_done.map_err(|source| corrupt(&s.key, index.stored_bytes(), source))? {
                push(&mut left, found.clone())?;
            }
        }
        Ok(left)
    }

    /// The index of the shard at `range` of the stored value.
    pub(in crate::read) fn read_index_at(
        &self,
        shard: &Shard,
        range: &Range<u64>,
        reader: &dyn Reader,
        s: &mut Scratch,
    ) -> Result<Arc<Index>> {
        let version = self.cached_version(reader, &s.key);
        if let Some(cached) = version.as_ref().and_then(|version| version.index(range)) {
            return Ok(cached);
        }
        // Without the decoded-chunk cache, the array's handle has its indexes.
        let is_whole = version.is_none() && *range == (0..reader.size());
        let generation = reader.version().filter(|one| is_whole && one.is_exact());
        if let Some(generation) = generation
            && let Some((index, of)) = self.indexes.get(&s.key)
            && of == generation
        {
            return Ok(index);
        }
        let stored_bytes = range.end - range.start;
        let Range { start, end } = shard.index_edge().range(stored_bytes);
        let at = range.start + start..range.start + end;
        if stored_bytes < shard.index_bytes as u64 {
            let source = too_short(shard, stored_bytes);
            return Err(corrupt(&s.key, stored_bytes as usize, source));
        }
        fetch_range(reader, &at, s)?;
        let index = Index::decode(shard, &s.encoded, stored_bytes, &mut s.chain)
            .map_err(|source| corrupt(&s.key, stored_bytes as usize, source))?;
        let index = Arc::new(index.inside(range.start));
        match (version, generation) {
            (Some(version), _) => version.cache_index(range, &index),
            (None, Some(generation)) => self.indexes.insert(&s.key, &index, generation),
            (None, None) => {}
        }
        Ok(index)
    }
}

/// Decodes inner chunks from bytes of the shard that begin at an offset.
fn decode_run(
    shard: &Shard,
    (begin, bytes): (u64, &[u8]),
    run: &[Found<'_>],
    version: Option<&CachedVersion>,
    buffer: &ReadBuffer<'_>,
    s: &mut Scratch,
) -> CodecResult<()> {
    for found in run {
        let range = found.begin..found.end;
        let inner = &bytes[(range.start - begin) as usize..(range.end - begin) as usize];
        let read = found.read(shard, buffer);
        s.chain.codec.poll_after(shard.inner.bytes)?;
        match version {
            Some(version) => version.decode_encoded(&read, range, inner, s)?,
            None => decode_chunk(&read, Some(inner), &mut DecodeScratch::of(s))?,
        }
    }
    Ok(())
}

/// Reads a range of an open value to `s.encoded`.
fn fetch_range(reader: &dyn Reader, range: &Range<u64>, s: &mut Scratch) -> Result<()> {
    s.encoded.set_length((range.end - range.start) as usize)?;
    Ok(reader.read_at(range.start, &mut s.encoded)?)
}

/// A stored inner chunk: where its bytes lie, and its selection.
#[derive(Clone)]
pub(in crate::read) struct Found<'c> {
    begin: u64,
    end: u64,
    selected: SmallVec<[ChunkSelection<'c>; 1]>,
}

impl<'c> Found<'c> {
    fn read<'a>(&'a self, shard: &'a Shard, buffer: &'a ReadBuffer<'a>) -> ChunkRead<'a, 'c> {
        ChunkRead { chunk: &shard.inner, selected: &self.selected, buffer }
    }
}

/// The nested shard that an inner chunk is, if little of it is selected.
fn nested<'a>(
    chunk: &'a ChunkLayout,
    stored_bytes: u64,
    selected: &[ChunkSelection<'_>],
) -> Option<&'a Shard> {
    match &chunk.encoding {
        Encoding::Shard(shard)
            if shard.outer.is_empty()
                && stored_bytes > MIN_NESTED_BYTES
                && !covered(selected, &chunk.shape) =>
        {
            Some(shard)
        }
        _ => None,
    }
}
