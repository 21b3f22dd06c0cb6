//! Placing chunks from what the cache has of them, and keeping what is decoded for that.
//!
//! First it is looked at what of a chunk is kept. Only where that is not all that is wanted, encoded
//! bytes are asked for: of a local file with blocks those of the missing ones, else all of them. What
//! is decoded goes into memory of its own, is kept, and is placed from there.
//!
//! Making memory for a block takes longer than LZ4 does to decode it. Of chunks with such blocks the
//! first read keeps only where they lie, and is no slower for it; the second keeps blocks. What a frame
//! holds as it is is not kept at all.

use std::ops::Range;
use std::sync::Arc;

use zarrix_codec::CodecError;
use zarrix_codec::blosc::BlockTable;
use zarrix_store::{Generation, Reader, coalesce_ranges};

use crate::array::io::ArrayIO;
use crate::cache::chunks::{self, Kind, Piece, Place, Value};
use crate::chunk::buffer::{PlaceScratch, Sink};
use crate::chunk::decode::{place, place_plain, straight};
use crate::chunk::lengths::check_most;
use crate::chunk::shard_index::Index;
use crate::error::{CodecResult, Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::memory::copy;
use crate::memory::strides::Dims;
use crate::read::parts::{Failed, WHOLE_BYTES, read_table, sparse_of, touched};
use crate::selection::chunk_selection::{Cut, Placed, Wanted};
use crate::selection::runs::{clip, in_memory_order, walk};
use crate::threads::scratch::Scratch;
use zarrix_codec::memory::{Grow, zeros};

/// All of a value, however long it is.
pub(in crate::read) const ALL: Range<u64> = 0..u64::MAX;

/// One version of a stored value, whose pieces are kept.
#[derive(Clone, Debug)]
pub(in crate::read) struct Held {
    array: Arc<str>,
    key: String,
    generation: Generation,
    /// Whether a block that is not kept has to be fetched again from far away.
    is_far: bool,
}

/// What is kept of one chunk.
pub(in crate::read) enum Found {
    Nothing,
    Whole(Arc<Vec<u8>>),
    Blocks(Blocks),
}

/// The blocks of a chunk, those that are wanted and kept.
pub(in crate::read) struct Blocks {
    table: Arc<BlockTable>,
    wanted: Vec<usize>,
    kept: Vec<Option<Arc<Vec<u8>>>>,
}

impl Blocks {
    fn new(
        table: Arc<BlockTable>,
        chunk: &ChunkLayout,
        elements: &Elements,
        wanted: &[Wanted<'_>],
        item: usize,
    ) -> CodecResult<Self> {
        let wanted = touched(chunk, elements, wanted, (table.block_bytes(), item))?;
        let kept = table.extents().iter().map(|_| None).collect();
        Ok(Self { table, wanted, kept })
    }

    /// Tells the cache what was here and what was not.
    fn count(&self) {
        let kept = self.wanted.iter().filter_map(|index| self.kept[*index].as_ref());
        let (hits, bytes) = kept.fold((0, 0), |(hits, bytes), one| (hits + 1, bytes + one.len()));
        chunks::count(hits, bytes, self.wanted.len() - hits);
    }

    fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        self.wanted.iter().copied().filter(|index| self.kept[*index].is_none())
    }
}

impl Found {
    /// Whether all that is wanted is here.
    pub fn is_all(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Whole(_) => true,
            Self::Blocks(blocks) => blocks.missing().next().is_none(),
        }
    }

    /// Places a chunk of which all that is wanted was found.
    pub fn place(
        &self,
        chunk: &ChunkLayout,
        elements: &Elements,
        wanted: &[Wanted<'_>],
        sink: Sink<'_>,
        s: &mut Scratch,
    ) -> CodecResult<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Whole(bytes) => {
                chunks::count(1, bytes.len(), 0);
                place_plain(bytes, chunk, elements, wanted, sink);
                Ok(())
            }
            Self::Blocks(blocks) => {
                blocks.count();
                let memory = Scratch::chunk_of(&mut s.chunk, chunk.bytes)?;
                place_blocks(blocks, memory, chunk, elements, wanted, sink)
            }
        }
    }
}

/// Whether decoded pieces of such chunks are kept: elements that were encoded.
pub(in crate::read) fn is_kept(chunk: &ChunkLayout) -> Option<&Elements> {
    match &chunk.encoding {
        Encoding::Elements(elements) if !elements.chain.is_identity() => Some(elements),
        _ => None,
    }
}

fn by_blocks(chunk: &ChunkLayout, elements: &Elements) -> bool {
    chunk.bytes > WHOLE_BYTES && elements.chain.has_blocks()
}

impl ArrayIO {
    /// Whether there is a cache, and a store next door for which it is. A value that is checked when it
    /// is read whole goes on being read so.
    pub(in crate::read) fn keeps(&self) -> bool {
        chunks::is_on() && self.store.reads_parts() && !self.store.checks_whole_values()
    }

    /// The version that `reader` reads, if there is a cache that can tell it from others.
    pub(in crate::read) fn held(&self, reader: &dyn Reader, key: &str) -> Option<Held> {
        if !self.keeps() {
            return None;
        }
        self.held_as(reader.version()?, key)
    }

    /// The version `generation` of a value, if there is a cache that can tell it from others.
    pub(in crate::read) fn held_as(&self, generation: Generation, key: &str) -> Option<Held> {
        (chunks::is_on() && generation.is_exact()).then(|| Held {
            array: Arc::clone(self.kept_as()),
            key: key.to_owned(),
            generation,
            is_far: self.store.is_remote(),
        })
    }

    /// The version of which anything is kept of a chunk that is all of its value.
    pub(in crate::read) fn held_before(&self, chunk: &ChunkLayout, key: &str) -> Option<Held> {
        let elements = is_kept(chunk).filter(|_| chunks::is_on())?;
        let kind = if by_blocks(chunk, elements) { Kind::Table } else { Kind::Chunk };
        let value = Value { array: self.kept_as(), key };
        self.held_as(value.generation_of(Place { begin: ALL.start, end: ALL.end, kind })?, key)
    }

    /// Reads what is wanted of the chunk `s.key` with what is kept; false where nothing of it can be.
    pub(in crate::read) fn read_kept(
        &self,
        chunk: &ChunkLayout,
        elements: &Elements,
        wanted: &[Wanted<'_>],
        sink: Sink<'_>,
        s: &mut Scratch,
    ) -> Result<bool> {
        let Some(reader) = self.store.reader(&s.key)? else {
            return self.place_whole(chunk, None, wanted, sink, s).map(|()| true);
        };
        let Some(held) = self.held(&*reader, &s.key) else { return Ok(false) };
        let size = reader.size();
        let found = held.look(chunk, elements, ALL, wanted, sink);
        let found = found.map_err(|source| corrupt(&s.key, size as usize, source))?;
        let done = if found.is_all() {
            found.place(chunk, elements, wanted, sink, s)
        } else if by_blocks(chunk, elements) && elements.chain.decodes_parts() {
            return held
                .read_blocks(found, &*reader, (chunk, elements, wanted), sink, s)
                .map_err(|failed| failed.of(&s.key, size as usize));
        } else {
            let most = chunk.most_stored_bytes;
            let bytes = (size as usize).min(most.saturating_add(1));
            let mut encoded = std::mem::take(&mut s.encoded);
            let room =
                encoded.set_length(bytes).map_err(|error| corrupt(&s.key, bytes, error.into()));
            let read = room.and_then(|()| Ok(reader.read_at(0, &mut encoded)?));
            let done = read.and_then(|()| {
                check_most(&s.key, &encoded, most)?;
                held.decode(found, (chunk, elements, wanted), ALL, &encoded, sink, s)
                    .map_err(|source| corrupt(&s.key, bytes, source))
            });
            s.encoded = encoded;
            return done.map(|()| true);
        };
        done.map(|()| true).map_err(|source| corrupt(&s.key, size as usize, source))
    }
}

impl Held {
    pub fn generation(&self) -> Generation {
        self.generation
    }

    fn get(&self, range: &Range<u64>, kind: Kind) -> Option<Piece> {
        let value = Value { array: &self.array, key: &self.key };
        value.get(self.generation, Place { begin: range.start, end: range.end, kind })
    }

    fn keep(&self, range: &Range<u64>, kind: Kind, piece: Piece) {
        let value = Value { array: &self.array, key: &self.key };
        value.keep(self.generation, Place { begin: range.start, end: range.end, kind }, piece);
    }

    /// The index of the shard whose bytes lie at `range`.
    pub fn index(&self, range: &Range<u64>) -> Option<Arc<Index>> {
        match self.get(range, Kind::Index) {
            Some(Piece::Index(index)) => Some(index),
            _ => None,
        }
    }

    pub fn keep_index(&self, range: &Range<u64>, index: &Arc<Index>) {
        self.keep(range, Kind::Index, Piece::Index(Arc::clone(index)));
    }

    /// The table of the frame that lies at `range`.
    pub fn table(&self, range: &Range<u64>) -> Option<Arc<BlockTable>> {
        match self.get(range, Kind::Table) {
            Some(Piece::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// Whether blocks of a frame are not to be kept now, or ever: what a read of the bytes where they
    /// are gives as soon. `is_new` is one that is met for the first time.
    pub fn waits(&self, table: &BlockTable, is_new: bool) -> bool {
        !self.is_far && (table.is_stored() || is_new && table.is_fast())
    }

    pub fn keep_table(&self, range: &Range<u64>, table: &Arc<BlockTable>) {
        self.keep(range, Kind::Table, Piece::Table(Arc::clone(table)));
    }

    fn decoded(&self, range: &Range<u64>, kind: Kind) -> Option<Arc<Vec<u8>>> {
        match self.get(range, kind) {
            Some(Piece::Decoded(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// A decoded block of the frame that lies at `range`; counted as a hit or a miss.
    pub fn block(&self, range: &Range<u64>, index: usize) -> Option<Arc<Vec<u8>>> {
        let found = self.decoded(range, Kind::Block(index));
        match &found {
            Some(bytes) => chunks::count(1, bytes.len(), 0),
            None => chunks::count(0, 0, 1),
        }
        found
    }

    pub fn keep_block(&self, range: &Range<u64>, index: usize, bytes: Arc<Vec<u8>>) {
        self.keep(range, Kind::Block(index), Piece::Decoded(bytes));
    }

    /// What is kept of the chunk that lies at `range`, of what is wanted of it.
    pub fn look(
        &self,
        chunk: &ChunkLayout,
        elements: &Elements,
        range: Range<u64>,
        wanted: &[Wanted<'_>],
        sink: Sink<'_>,
    ) -> CodecResult<Found> {
        if by_blocks(chunk, elements)
            && let Some(table) = self.table(&range)
        {
            let mut blocks = Blocks::new(table, chunk, elements, wanted, sink.layout.item_bytes)?;
            for index in &blocks.wanted {
                blocks.kept[*index] = self.decoded(&range, Kind::Block(*index));
            }
            return Ok(Found::Blocks(blocks));
        }
        Ok(match self.decoded(&range, Kind::Chunk) {
            Some(bytes) => Found::Whole(bytes),
            None => Found::Nothing,
        })
    }

    /// What is kept of a frame whose table `read` gives; `None` where its blocks are not to be kept.
    fn blocks<E: From<CodecError>>(
        &self,
        found: Found,
        range: &Range<u64>,
        (chunk, elements, wanted): (&ChunkLayout, &Elements, &[Wanted<'_>]),
        sink: Sink<'_>,
        read: impl FnOnce() -> std::result::Result<BlockTable, E>,
    ) -> std::result::Result<Option<Blocks>, E> {
        if let Found::Blocks(blocks) = found {
            return Ok((!self.waits(&blocks.table, false)).then_some(blocks));
        }
        let table = Arc::new(read()?);
        self.keep_table(range, &table);
        if self.waits(&table, true) {
            chunks::count(0, 0, 1);
            return Ok(None);
        }
        Ok(Some(Blocks::new(table, chunk, elements, wanted, sink.layout.item_bytes)?))
    }

    /// Reads and decodes the missing blocks of a frame, keeps them, and places what is wanted;
    /// false where they are not to be kept yet.
    fn read_blocks(
        &self,
        found: Found,
        reader: &dyn Reader,
        (chunk, elements, wanted): (&ChunkLayout, &Elements, &[Wanted<'_>]),
        sink: Sink<'_>,
        s: &mut Scratch,
    ) -> std::result::Result<bool, Failed> {
        let range = ALL;
        let read = || read_table(reader, chunk);
        let Some(mut blocks) = self.blocks(found, &range, (chunk, elements, wanted), sink, read)?
        else {
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
        for index in missing {
            let mut block = zeros(block_length(&table, index, chunk))?;
            let extent = &sparse[table.extents()[index].clone()];
            table.decode_block(index, extent, &mut block, &mut s.chain.codec)?;
            let block = Arc::new(block);
            self.keep_block(&range, index, Arc::clone(&block));
            blocks.kept[index] = Some(block);
        }
        let memory = Scratch::chunk_of(&mut s.chunk, chunk.bytes)?;
        place_blocks(&blocks, memory, chunk, elements, wanted, sink)?;
        Ok(true)
    }

    /// Decodes what is missing of a chunk from all of its encoded bytes, keeps it, and places what
    /// is wanted.
    pub fn decode(
        &self,
        found: Found,
        (chunk, elements, wanted): (&ChunkLayout, &Elements, &[Wanted<'_>]),
        range: Range<u64>,
        encoded: &[u8],
        sink: Sink<'_>,
        s: &mut Scratch,
    ) -> CodecResult<()> {
        let frame = match by_blocks(chunk, elements) {
            true => elements.chain.blocks(encoded)?,
            false => None,
        };
        let Some(frame) = frame else {
            chunks::count(0, 0, 1);
            let mut decoded = zeros(chunk.bytes)?;
            elements.chain.decode_into(encoded, &mut decoded, &mut s.chain)?;
            place_plain(&decoded, chunk, elements, wanted, sink);
            self.keep(&range, Kind::Chunk, Piece::Decoded(Arc::new(decoded)));
            return Ok(());
        };
        let read = || frame.table();
        let Some(mut blocks) = self.blocks(found, &range, (chunk, elements, wanted), sink, read)?
        else {
            let scratch = &mut PlaceScratch { chunk: &mut s.chunk, chain: &mut s.chain };
            return place(chunk, Some(encoded), wanted, sink, scratch);
        };
        blocks.count();
        for index in blocks.missing().collect::<Vec<_>>() {
            let mut block = zeros(block_length(&blocks.table, index, chunk))?;
            frame.decode_block(index, &mut block, &mut s.chain.codec)?;
            let block = Arc::new(block);
            self.keep_block(&range, index, Arc::clone(&block));
            blocks.kept[index] = Some(block);
        }
        let memory = Scratch::chunk_of(&mut s.chunk, chunk.bytes)?;
        place_blocks(&blocks, memory, chunk, elements, wanted, sink)
    }

    /// Places a chunk whose encoded bytes, at `range` of the value, are in memory.
    pub fn place_encoded(
        &self,
        chunk: &ChunkLayout,
        range: Range<u64>,
        encoded: &[u8],
        wanted: &[Wanted<'_>],
        sink: Sink<'_>,
        s: &mut Scratch,
    ) -> CodecResult<()> {
        match (is_kept(chunk), &chunk.encoding) {
            (Some(elements), _) => {
                let found = self.look(chunk, elements, range.clone(), wanted, sink)?;
                if found.is_all() {
                    return found.place(chunk, elements, wanted, sink, s);
                }
                self.decode(found, (chunk, elements, wanted), range, encoded, sink, s)
            }
            (None, Encoding::Shard(shard)) if shard.outer.is_empty() => {
                self.place_shard(chunk, shard, range, encoded, wanted, sink, s)
            }
            _ => {
                let scratch = &mut PlaceScratch { chunk: &mut s.chunk, chain: &mut s.chain };
                place(chunk, Some(encoded), wanted, sink, scratch)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a shard, its bytes, and what is wanted of it")]
    fn place_shard(
        &self,
        chunk: &ChunkLayout,
        shard: &Shard,
        range: Range<u64>,
        encoded: &[u8],
        wanted: &[Wanted<'_>],
        sink: Sink<'_>,
        s: &mut Scratch,
    ) -> CodecResult<()> {
        let index = Index::of(shard, encoded, &mut s.chain)?;
        for (entry, wanted) in Cut::new(shard, &chunk.shape, wanted).entries() {
            s.chain.codec.poll_after(shard.inner.bytes)?;
            match index.range(entry)? {
                Some((begin, end)) => {
                    let inner = &encoded[begin as usize..end as usize];
                    let at = range.start + begin..range.start + end;
                    self.place_encoded(&shard.inner, at, inner, &wanted, sink, s)?;
                }
                None => {
                    let scratch = &mut PlaceScratch { chunk: &mut s.chunk, chain: &mut s.chain };
                    place(&shard.inner, None, &wanted, sink, scratch)?;
                }
            }
        }
        Ok(())
    }
}

fn block_length(table: &BlockTable, index: usize, chunk: &ChunkLayout) -> usize {
    table.block_bytes().min(chunk.bytes - index * table.block_bytes())
}

/// Copies what is wanted out of blocks, which are all here; `memory` is as long as the chunk.
fn place_blocks(
    blocks: &Blocks,
    memory: &mut [u8],
    chunk: &ChunkLayout,
    elements: &Elements,
    wanted: &[Wanted<'_>],
    sink: Sink<'_>,
) -> CodecResult<()> {
    let (block, item) = (blocks.table.block_bytes(), sink.layout.item_bytes);
    let kept = |index: usize| blocks.kept[index].as_ref().map_or(&[][..], |bytes| &bytes[..]);
    if let Some(straight) = straight(chunk, elements, wanted, sink) {
        for (index, to) in straight.chunks_mut(block).enumerate() {
            to.copy_from_slice(kept(index));
        }
        return Ok(());
    }
    for wanted in wanted {
        if place_box(blocks, chunk, elements, wanted, sink) {
            continue;
        }
        walk(chunk, elements, wanted, (block, item), &mut |bytes, dims, to| {
            let (first, last) = (bytes.start / block, (bytes.end - 1) / block);
            let part = |index: usize| {
                let begin = index * block;
                let (start, end) = (bytes.start.max(begin), bytes.end.min(begin + block));
                &kept(index)[start - begin..end - begin]
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
            let to = sink.to.wrapping_offset(to);
            // SAFETY: `from` is followed by the bytes that cover every element of this part; the
            // maker of the buffer vouches for the other side.
            unsafe { copy::copy(to, from, Dims::from_slice(dims), item) };
            Ok(())
        })?;
    }
    Ok(())
}

/// Copies a box out of blocks, block by block; false where it has to be done part by part.
fn place_box(
    blocks: &Blocks,
    chunk: &ChunkLayout,
    elements: &Elements,
    wanted: &Wanted<'_>,
    sink: Sink<'_>,
) -> bool {
    let (block, item) = (blocks.table.block_bytes(), sink.layout.item_bytes);
    let Wanted::Box { parts, base } = wanted else { return false };
    let Placed { grid, chunk_offset, buffer_offset } = Placed::new(parts, *base, &elements.strides);
    if !grid.lists.is_empty() || !block.is_multiple_of(item) {
        return false;
    }
    let dims = in_memory_order(grid.dims);
    for index in &blocks.wanted {
        let Some(kept) = &blocks.kept[*index] else { continue };
        let bytes = index * block..((index + 1) * block).min(chunk.bytes);
        clip(&dims, item, (chunk_offset, buffer_offset), &bytes, &mut |dims, at| {
            let from = kept[at.0 - bytes.start..].as_ptr();
            let to = sink.to.wrapping_offset(at.1);
            // SAFETY: the clipped box lies in the block; the maker of the buffer vouches for the
            // other side.
            unsafe { copy::copy(to, from, Dims::from_slice(dims), item) };
        });
    }
    true
}
