//! Reads through the decoded-chunk cache, and fills it.
//!
//! First the cache is searched for the chunk. If it does not have all of the selection, encoded
//! bytes are fetched: those of the missing blocks of a local file, else all of them. What is
//! decoded gets memory of its own, is cached, and is copied from there.
//!
//! Allocating memory for a block takes longer than decoding it with LZ4. The first read of such a
//! chunk caches only its block table, and is not slower than without a cache; the second one caches
//! blocks. Uncompressed frames are not cached.

use std::ops::Range;
use std::sync::Arc;

use zarrix_codec::CodecError;
use zarrix_codec::blosc::BlockTable;
use zarrix_store::trace::{self, Doing};
use zarrix_store::{Generation, Reader, coalesce_ranges};

use crate::array::io::ArrayIO;
use crate::cache::chunks::{self, CachedPart, PartKey, PartKind, Value};
use crate::chunk::chunk_read::{ChunkRead, DecodeScratch};
use crate::chunk::decode::{decode_chunk, scatter, straight};
use crate::chunk::lengths::check_max_length;
use crate::chunk::shard_index::Index;
use crate::error::{CodecResult, Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::read::parts::{Failed, WHOLE_BYTES, read_table, sparse_of, touched};
use crate::selection::chunk_selection::{ChunkSelection, CopyPlan, ShardSplit};
use crate::selection::runs::{clip, in_memory_order, walk};
use crate::threads::scratch::Scratch;
use zarrix_codec::memory::{Grow, zeros};

/// All of a value, of any length.
pub(in crate::read) const ALL: Range<u64> = 0..u64::MAX;

/// One generation of a stored value, parts of which are cached.
#[derive(Clone, Debug)]
pub(in crate::read) struct CachedVersion {
    array: Arc<str>,
    key: String,
    generation: Generation,
    /// Whether a block that is not cached has to be fetched from a remote store.
    is_remote: bool,
}

/// What the cache has of one chunk.
pub(in crate::read) enum Lookup {
    Nothing,
    Whole(Arc<Vec<u8>>),
    Blocks(Blocks),
}

/// The selected blocks of a chunk, and which of them are cached.
pub(in crate::read) struct Blocks {
    table: Arc<BlockTable>,
    selected: Vec<usize>,
    cached: Vec<Option<Arc<Vec<u8>>>>,
}

impl Blocks {
    fn new(
        table: Arc<BlockTable>,
        read: &ChunkRead<'_, '_>,
        elements: &Elements,
    ) -> CodecResult<Self> {
        let bytes = (table.block_bytes(), read.item_bytes());
        let selected = touched(read.chunk, elements, read.selected, bytes)?;
        let cached = table.extents().iter().map(|_| None).collect();
        Ok(Self { table, selected, cached })
    }

    /// Counts hits and misses.
    fn count(&self) {
        let cached = self.selected.iter().filter_map(|index| self.cached[*index].as_ref());
        let (hits, bytes) = cached.fold((0, 0), |(hits, bytes), one| (hits + 1, bytes + one.len()));
        chunks::count(hits, bytes, self.selected.len() - hits);
    }

    fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        self.selected.iter().copied().filter(|index| self.cached[*index].is_none())
    }
}

impl Lookup {
    /// Whether all of the selection is cached.
    pub fn is_all(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Whole(_) => true,
            Self::Blocks(blocks) => blocks.missing().next().is_none(),
        }
    }

    /// Copies the selection of a chunk, all of which is cached.
    pub fn scatter(
        &self,
        read: &ChunkRead<'_, '_>,
        elements: &Elements,
        s: &mut Scratch,
    ) -> CodecResult<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Whole(bytes) => {
                chunks::count(1, bytes.len(), 0);
                scatter(bytes, read, elements);
                Ok(())
            }
            Self::Blocks(blocks) => {
                blocks.count();
                scatter_blocks(blocks, read, elements, s)
            }
        }
    }
}

/// The elements of a chunk that is worth caching: one with codecs.
pub(in crate::read) fn is_cacheable(chunk: &ChunkLayout) -> Option<&Elements> {
    match &chunk.encoding {
        Encoding::Elements(elements) if !elements.chain.is_identity() => Some(elements),
        _ => None,
    }
}

fn by_blocks(chunk: &ChunkLayout, elements: &Elements) -> bool {
    chunk.bytes > WHOLE_BYTES && elements.chain.has_blocks()
}

impl ArrayIO {
    /// Whether reads of this store use the decoded-chunk cache. A store that checks complete values
    /// does not.
    pub(in crate::read) fn caches(&self) -> bool {
        chunks::is_on() && self.store.reads_parts() && !self.store.checks_whole_values()
    }

    /// The generation that `reader` reads, if it can be cached.
    pub(in crate::read) fn cached_version(
        &self,
        reader: &dyn Reader,
        key: &str,
    ) -> Option<CachedVersion> {
        if !self.caches() {
            return None;
        }
        self.cached_generation(reader.version()?, key)
    }

    /// The generation of a value, if it can be cached.
    pub(in crate::read) fn cached_generation(
        &self,
        generation: Generation,
        key: &str,
    ) -> Option<CachedVersion> {
        (chunks::is_on() && generation.is_exact()).then(|| CachedVersion {
            array: Arc::clone(self.cache_name()),
            key: key.to_owned(),
            generation,
            is_remote: self.store.is_remote(),
        })
    }

    /// The generation of the cached part of a chunk that is a complete value.
    pub(in crate::read) fn known_version(
        &self,
        chunk: &ChunkLayout,
        key: &str,
    ) -> Option<CachedVersion> {
        let elements = is_cacheable(chunk).filter(|_| chunks::is_on())?;
        let kind = if by_blocks(chunk, elements) { PartKind::Table } else { PartKind::Chunk };
        let value = Value { array: self.cache_name(), key };
        self.cached_generation(
            value.generation_of(PartKey { begin: ALL.start, end: ALL.end, kind })?,
            key,
        )
    }

    /// Reads the selection of the chunk at `s.key` through the cache; false if it cannot be cached.
    pub(in crate::read) fn read_cached(
        &self,
        read: &ChunkRead<'_, '_>,
        elements: &Elements,
        s: &mut Scratch,
    ) -> Result<bool> {
        let Some(reader) = self.store.reader(&s.key)? else {
            return self.decode_whole(read, None, s).map(|()| true);
        };
        let Some(version) = self.cached_version(&*reader, &s.key) else { return Ok(false) };
        let size = reader.size() as usize;
        let cached = version.look(read, elements, ALL);
        let cached = cached.map_err(|source| corrupt(&s.key, size, source))?;
        if cached.is_all() {
            let done = cached.scatter(read, elements, s);
            return done.map(|()| true).map_err(|source| corrupt(&s.key, size, source));
        }
        if by_blocks(read.chunk, elements) && elements.chain.decodes_parts() {
            let done = version.read_blocks(cached, &*reader, read, elements, s);
            return done.map_err(|failed| failed.of(&s.key, size));
        }
        let mut encoded = std::mem::take(&mut s.encoded);
        let fetched = fetch_all(&*reader, &s.key, read.chunk.max_stored_bytes, &mut encoded);
        let done = fetched.and_then(|()| {
            version
                .decode(cached, read, elements, ALL, &encoded, s)
                .map_err(|source| corrupt(&s.key, encoded.len(), source))
        });
        s.encoded = encoded;
        done.map(|()| true)
    }
}

/// Reads all of a value to `encoded`, which may have at most `max_bytes`.
fn fetch_all(
    reader: &dyn Reader,
    key: &str,
    max_bytes: usize,
    encoded: &mut Vec<u8>,
) -> Result<()> {
    let bytes = (reader.size() as usize).min(max_bytes.saturating_add(1));
    encoded.set_length(bytes).map_err(|error| corrupt(key, bytes, error.into()))?;
    reader.read_at(0, encoded)?;
    check_max_length(key, encoded, max_bytes)?;
    Ok(())
}

impl CachedVersion {
    pub fn generation(&self) -> Generation {
        self.generation
    }

    fn get(&self, range: &Range<u64>, kind: PartKind) -> Option<CachedPart> {
        let value = Value { array: &self.array, key: &self.key };
        value.get(self.generation, PartKey { begin: range.start, end: range.end, kind })
    }

    fn insert(&self, range: &Range<u64>, kind: PartKind, content: CachedPart) {
        let value = Value { array: &self.array, key: &self.key };
        value.insert(
            self.generation,
            PartKey { begin: range.start, end: range.end, kind },
            content,
        );
    }

    /// The index of the shard whose bytes lie at `range`.
    pub fn index(&self, range: &Range<u64>) -> Option<Arc<Index>> {
        match self.get(range, PartKind::Index) {
            Some(CachedPart::Index(index)) => Some(index),
            _ => None,
        }
    }

    pub fn cache_index(&self, range: &Range<u64>, index: &Arc<Index>) {
        self.insert(range, PartKind::Index, CachedPart::Index(Arc::clone(index)));
    }

    /// The table of the frame that lies at `range`.
    pub fn table(&self, range: &Range<u64>) -> Option<Arc<BlockTable>> {
        match self.get(range, PartKind::Table) {
            Some(CachedPart::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// Whether blocks of a frame are not cached yet, or never, because reading them again is as
    /// fast. `is_new` says that the frame was not met before.
    pub fn waits(&self, table: &BlockTable, is_new: bool) -> bool {
        !self.is_remote && (table.is_stored() || is_new && table.is_fast())
    }

    pub fn cache_table(&self, range: &Range<u64>, table: &Arc<BlockTable>) {
        self.insert(range, PartKind::Table, CachedPart::Table(Arc::clone(table)));
    }

    fn decoded(&self, range: &Range<u64>, kind: PartKind) -> Option<Arc<Vec<u8>>> {
        match self.get(range, kind) {
            Some(CachedPart::Decoded(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// A decoded block of the frame that lies at `range`; counted as a hit or a miss.
    pub fn block(&self, range: &Range<u64>, index: usize) -> Option<Arc<Vec<u8>>> {
        let found = self.decoded(range, PartKind::Block(index));
        match &found {
            Some(bytes) => chunks::count(1, bytes.len(), 0),
            None => chunks::count(0, 0, 1),
        }
        found
    }

    pub fn cache_block(&self, range: &Range<u64>, index: usize, bytes: Arc<Vec<u8>>) {
        self.insert(range, PartKind::Block(index), CachedPart::Decoded(bytes));
    }

    /// What the cache has of the selection of the chunk at `range`.
    pub fn look(
        &self,
        read: &ChunkRead<'_, '_>,
        elements: &Elements,
        range: Range<u64>,
    ) -> CodecResult<Lookup> {
        if by_blocks(read.chunk, elements)
            && let Some(table) = self.table(&range)
        {
            let mut blocks = Blocks::new(table, read, elements)?;
            for index in &blocks.selected {
                blocks.cached[*index] = self.decoded(&range, PartKind::Block(*index));
            }
            return Ok(Lookup::Blocks(blocks));
        }
        Ok(match self.decoded(&range, PartKind::Chunk) {
            Some(bytes) => Lookup::Whole(bytes),
            None => Lookup::Nothing,
        })
    }

    /// What the cache has of a frame whose table `read_table` returns; `None` if its blocks are not
    /// cached.
    fn blocks<E: From<CodecError>>(
        &self,
        cached: Lookup,
        range: &Range<u64>,
        read: &ChunkRead<'_, '_>,
        elements: &Elements,
        read_table: impl FnOnce() -> std::result::Result<BlockTable, E>,
    ) -> std::result::Result<Option<Blocks>, E> {
        if let Lookup::Blocks(blocks) = cached {
            return Ok((!self.waits(&blocks.table, false)).then_some(blocks));
        }
        let table = Arc::new(read_table()?);
        self.cache_table(range, &table);
        if self.waits(&table, true) {
            chunks::count(0, 0, 1);
            return Ok(None);
        }
        Ok(Some(Blocks::new(table, read, elements)?))
    }

    /// Reads, decodes and caches the missing blocks of a frame, and copies the selection; false if
    /// its blocks are not cached yet.
    fn read_blocks(
        &self,
        cached: Lookup,
        reader: &dyn Reader,
        read: &ChunkRead<'_, '_>,
        elements: &Elements,
        s: &mut Scratch,
    ) -> std::result::Result<bool, Failed> {
        let range = ALL;
        let table = || read_table(reader, read.chunk);
        let Some(mut blocks) = self.blocks(cached, &range, read, elements, table)? else {
            return Ok(false);
        };
        blocks.count();
        let table = Arc::clone(&blocks.table);
        let missing: Vec<usize> = blocks.missing().collect();
        let sparse = sparse_of(&mut s.sparse, reader, usize::MAX)?;
        let extents = missing.iter().map(|index| table.extents()[*index].clone()).collect();
        for run in coalesce_ranges(extents, 0) {
            reader.read_at(run.start as u64, &mut sparse[run])?;
        }
        let span = trace::span(Doing::Decode, "", "");
        for index in missing {
            let mut block = zeros(block_length(&table, index, read.chunk))?;
            let extent = &sparse[table.extents()[index].clone()];
            table.decode_block(index, extent, &mut block, &mut s.chain.codec)?;
            let block = Arc::new(block);
            self.cache_block(&range, index, Arc::clone(&block));
            blocks.cached[index] = Some(block);
        }
        drop(span);
        scatter_blocks(&blocks, read, elements, s)?;
        Ok(true)
    }

    /// Decodes and caches the missing part of a chunk from all of its encoded bytes, and copies the
    /// selection.
    pub fn decode(
        &self,
        cached: Lookup,
        read: &ChunkRead<'_, '_>,
        elements: &Elements,
        range: Range<u64>,
        encoded: &[u8],
        s: &mut Scratch,
    ) -> CodecResult<()> {
        let _span = trace::span(Doing::Decode, "", "");
        let frame = match by_blocks(read.chunk, elements) {
            true => elements.chain.blocks(encoded)?,
            false => None,
        };
        let Some(frame) = frame else {
            chunks::count(0, 0, 1);
            let mut decoded = zeros(read.chunk.bytes)?;
            elements.chain.decode_into(encoded, &mut decoded, &mut s.chain)?;
            scatter(&decoded, read, elements);
            self.insert(&range, PartKind::Chunk, CachedPart::Decoded(Arc::new(decoded)));
            return Ok(());
        };
        let table = || frame.table();
        let Some(mut blocks) = self.blocks(cached, &range, read, elements, table)? else {
            return decode_chunk(read, Some(encoded), &mut DecodeScratch::of(s));
        };
        blocks.count();
        for index in blocks.missing().collect::<Vec<_>>() {
            let mut block = zeros(block_length(&blocks.table, index, read.chunk))?;
            frame.decode_block(index, &mut block, &mut s.chain.codec)?;
            let block = Arc::new(block);
            self.cache_block(&range, index, Arc::clone(&block));
            blocks.cached[index] = Some(block);
        }
        scatter_blocks(&blocks, read, elements, s)
    }

    /// Decodes a chunk whose encoded bytes, at `range` of the value, are in memory.
    pub fn decode_encoded(
        &self,
        read: &ChunkRead<'_, '_>,
        range: Range<u64>,
        encoded: &[u8],
        s: &mut Scratch,
    ) -> CodecResult<()> {
        match (is_cacheable(read.chunk), &read.chunk.encoding) {
            (Some(elements), _) => {
                let cached = self.look(read, elements, range.clone())?;
                if cached.is_all() {
                    return cached.scatter(read, elements, s);
                }
                self.decode(cached, read, elements, range, encoded, s)
            }
            (None, Encoding::Shard(shard)) if shard.outer.is_empty() => {
                self.decode_shard(read, shard, range, encoded, s)
            }
            _ => decode_chunk(read, Some(encoded), &mut DecodeScratch::of(s)),
        }
    }

    fn decode_shard(
        &self,
        read: &ChunkRead<'_, '_>,
        shard: &Shard,
        range: Range<u64>,
        encoded: &[u8],
        s: &mut Scratch,
    ) -> CodecResult<()> {
        let index = Index::of(shard, encoded, &mut s.chain)?;
        let split = ShardSplit::new(shard, &read.chunk.shape, read.selected)?;
        for (entry, selected) in split.entries() {
            let read = read.inner(&shard.inner, &selected);
            s.chain.codec.poll_after(shard.inner.bytes)?;
            match index.range(entry)? {
                Some((begin, end)) => {
                    let inner = &encoded[begin as usize..end as usize];
                    let at = range.start + begin..range.start + end;
                    self.decode_encoded(&read, at, inner, s)?;
                }
                None => decode_chunk(&read, None, &mut DecodeScratch::of(s))?,
            }
        }
        Ok(())
    }
}

fn block_length(table: &BlockTable, index: usize, chunk: &ChunkLayout) -> usize {
    table.block_bytes().min(chunk.bytes - index * table.block_bytes())
}

/// Copies the selection out of blocks, all of which are present.
fn scatter_blocks(
    blocks: &Blocks,
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    s: &mut Scratch,
) -> CodecResult<()> {
    let ChunkRead { chunk, selected, buffer } = *read;
    let (block, item) = (blocks.table.block_bytes(), read.item_bytes());
    let cached = |index: usize| blocks.cached[index].as_ref().map_or(&[][..], |bytes| &bytes[..]);
    if let Some(straight) = straight(read, elements) {
        for (index, to) in straight.chunks_mut(block).enumerate() {
            to.copy_from_slice(cached(index));
        }
        return Ok(());
    }
    let memory = Scratch::chunk_of(&mut s.chunk, chunk.bytes)?;
    for selected in selected {
        if scatter_box(blocks, read, elements, selected) {
            continue;
        }
        walk(chunk, elements, selected, (block, item), &mut |bytes, dims, to| {
            let (first, last) = (bytes.start / block, (bytes.end - 1) / block);
            let part = |index: usize| {
                let begin = index * block;
                let (start, end) = (bytes.start.max(begin), bytes.end.min(begin + block));
                &cached(index)[start - begin..end - begin]
            };
            let from = if first == last {
                part(first).as_ptr()
            } else {
                let mut joined = &mut memory[..bytes.len()];
                for index in first..=last {
                    let (here, rest) = joined.split_at_mut(part(index).len());
                    here.copy_from_slice(part(index));
                    joined = rest;
                }
                memory.as_ptr()
            };
            // SAFETY: `from` is followed by the bytes that cover every element of this part; the
            // maker of the buffer vouches for the other side.
            unsafe { buffer.copy(selected, to, from, dims) };
            Ok(())
        })?;
    }
    Ok(())
}

/// Copies a box out of blocks, block by block; false if it has to be copied run by run.
fn scatter_box(
    blocks: &Blocks,
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    selected: &ChunkSelection<'_>,
) -> bool {
    let ChunkRead { chunk, buffer, .. } = *read;
    let (block, item) = (blocks.table.block_bytes(), read.item_bytes());
    let ChunkSelection::Box { parts, base, .. } = selected else { return false };
    let CopyPlan { grid, chunk_offset, buffer_offset } =
        CopyPlan::new(parts, *base, &elements.strides);
    if !grid.lists.is_empty() || !block.is_multiple_of(item) {
        return false;
    }
    let dims = in_memory_order(grid.dims);
    for index in &blocks.selected {
        let Some(cached) = &blocks.cached[*index] else { continue };
        let bytes = index * block..((index + 1) * block).min(chunk.bytes);
        clip(&dims, item, (chunk_offset, buffer_offset), &bytes, &mut |dims, at| {
            let from = cached[at.0 - bytes.start..].as_ptr();
            // SAFETY: the clipped box lies in the block; the maker of the buffer vouches for the
            // other side.
            unsafe { buffer.copy(selected, at.1, from, dims) };
        });
    }
    true
}
