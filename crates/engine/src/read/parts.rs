//! Partial reads: only the selected bytes of a stored chunk are read.
//!
//! Chunks without a codec, and Blosc frames, can be decoded in parts. If the store reads ranges
//! cheaply, only the bytes of these parts are fetched: the selection is turned into blocks, the
//! coalesced ranges of the blocks are read from one open value, each to its position in a buffer as
//! long as the stored chunk, and the chunk is decoded as if all of it were there. Chunks with a
//! checksum are read and verified completely.

use std::ops::Range;

use zarrix_codec::CodecError;
use zarrix_codec::blosc::{BlockTable, Frame};
use zarrix_store::{Reader, coalesce_ranges};

use crate::array::io::ArrayIO;
use crate::chunk::chunk_read::ChunkRead;
use crate::chunk::decode::{decode_frame, scatter, straight};
use crate::chunk::lengths::check_length;
use crate::error::{CodecResult, EngineError, Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Elements};
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::runs::walk;
use crate::threads::scratch::Scratch;
use zarrix_codec::memory::{Grow, Refused, zeros};

/// Chunks up to this length are read completely: the cost is in opening them.
pub(in crate::read) const WHOLE_BYTES: usize = 64 << 10;
/// Bytes of one read of a chunk without a codec: they cost about as much as the call itself.
pub(in crate::read) const PAGE_BYTES: usize = 16 << 10;

/// Whether a partial read of a chunk pays: it reads less than all or, for elements without a codec,
/// reads directly to the buffer.
pub(in crate::read) fn is_worth_it(
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &[ChunkSelection<'_>],
) -> bool {
    let chain = &elements.chain;
    chunk.bytes > WHOLE_BYTES
        && (chain.is_identity()
            || chain.decodes_parts() && !matches!(selected, [only] if only.covers(&chunk.shape)))
}

impl ArrayIO {
    /// Reads the selection of the chunk at `s.key` from as few of its bytes as the format allows.
    pub(in crate::read) fn read_parts(
        &self,
        read: &ChunkRead<'_, '_>,
        elements: &Elements,
        s: &mut Scratch,
    ) -> Result<()> {
        let Some(reader) = self.store.reader(&s.key)? else {
            return self.decode_whole(read, None, s);
        };
        let size = reader.size() as usize;
        let done = if elements.chain.is_identity() {
            read_pages(read, elements, &*reader, s)
        } else {
            read_frame(read, elements, &*reader, s)
        };
        done.map_err(|failed| failed.of(&s.key, size))
    }

    /// How many reads [`Self::read_parts`] makes, and of how many bytes; `None` if the chunk is not
    /// stored.
    pub(in crate::read) fn cost_of_parts(
        &self,
        chunk: &ChunkLayout,
        elements: &Elements,
        selected: &[ChunkSelection<'_>],
        s: &mut Scratch,
    ) -> Result<Option<(usize, usize)>> {
        let Some(reader) = self.store.reader(&s.key)? else { return Ok(None) };
        let item = self.layout.item_bytes;
        let found = if elements.chain.is_identity() {
            selected_pages(chunk, elements, selected, item)
                .map(|runs| (0, 0, runs))
                .map_err(Failed::Codec)
        } else {
            blocks(chunk, elements, selected, &*reader, item, s).map(|found| {
                found.map_or((0, 0, Vec::new()), |found| (2, found.prefix, found.runs))
            })
        };
        let (reads, bytes, runs) =
            found.map_err(|failed| failed.of(&s.key, reader.size() as usize))?;
        Ok(Some((reads + runs.len(), bytes + runs.iter().map(Range::len).sum::<usize>())))
    }
}

/// An error of a stored value, before the chunk is named.
pub(in crate::read) enum Failed {
    Store(zarrix_store::StoreError),
    Codec(CodecError),
}

impl Failed {
    pub fn of(self, key: &str, stored_bytes: usize) -> EngineError {
        match self {
            Self::Store(error) => EngineError::Store(error),
            Self::Codec(source) => corrupt(key, stored_bytes, source),
        }
    }
}

impl From<zarrix_store::StoreError> for Failed {
    fn from(error: zarrix_store::StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Refused> for Failed {
    fn from(error: Refused) -> Self {
        Self::Codec(error.into())
    }
}

impl From<CodecError> for Failed {
    fn from(error: CodecError) -> Self {
        Self::Codec(error)
    }
}

/// Reads a chunk without a codec.
fn read_pages(
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    reader: &dyn Reader,
    s: &mut Scratch,
) -> std::result::Result<(), Failed> {
    let ChunkRead { chunk, selected, .. } = *read;
    check_length(usize::try_from(reader.size()).unwrap_or(usize::MAX), chunk.bytes)?;
    if let Some(straight) = straight(read, elements) {
        return Ok(reader.read_at(0, straight)?);
    }
    let sparse = sparse_of(&mut s.sparse, reader, chunk.bytes)?;
    for run in selected_pages(chunk, elements, selected, read.item_bytes())? {
        reader.read_at(run.start as u64, &mut sparse[run])?;
    }
    scatter(sparse, read, elements);
    Ok(())
}

/// Runs of selected pages of a chunk without a codec.
pub(in crate::read) fn selected_pages(
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &[ChunkSelection<'_>],
    item: usize,
) -> CodecResult<Vec<Range<usize>>> {
    let touched = touched(chunk, elements, selected, (PAGE_BYTES, item))?;
    let page = |index: usize| index * PAGE_BYTES..((index + 1) * PAGE_BYTES).min(chunk.bytes);
    Ok(coalesce_ranges(touched.into_iter().map(page).collect(), 0))
}

/// Reads a Blosc frame.
fn read_frame(
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    reader: &dyn Reader,
    s: &mut Scratch,
) -> std::result::Result<(), Failed> {
    let ChunkRead { chunk, selected, .. } = *read;
    let Some(blocks) = blocks(chunk, elements, selected, reader, read.item_bytes(), s)? else {
        return Ok(());
    };
    let sparse = s.sparse.as_mut_slice();
    for run in blocks.runs {
        reader.read_at(run.start as u64, &mut sparse[run])?;
    }
    let frame = Frame::parse(&s.sparse[..blocks.stored], chunk.bytes)?;
    let memory = Scratch::chunk_of(&mut s.chunk, chunk.bytes)?;
    let extents = Some(blocks.extents.as_slice());
    decode_frame(&frame, extents, read, elements, (memory, &mut s.chain))?;
    Ok(())
}

/// The blocks of a frame whose header is in the sparse buffer.
struct Blocks {
    /// Length of the stored value, and of the header with the block table.
    stored: usize,
    prefix: usize,
    extents: Vec<Range<usize>>,
    /// Runs of selected blocks.
    runs: Vec<Range<usize>>,
}

/// Reads the header of a frame and finds the selected blocks; `None` if there are none.
fn blocks(
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &[ChunkSelection<'_>],
    reader: &dyn Reader,
    item: usize,
    s: &mut Scratch,
) -> std::result::Result<Option<Blocks>, Failed> {
    let sparse = sparse_of(&mut s.sparse, reader, chunk.max_stored_bytes)?;
    let stored = sparse.len();
    let Some((header, _)) = sparse.split_first_chunk_mut() else {
        Frame::parse(sparse, chunk.bytes)?;
        return Ok(None);
    };
    reader.read_at(0, header)?;
    let prefix = Frame::prefix_bytes(header, stored, chunk.bytes)?;
    reader.read_at(Frame::HEADER_BYTES as u64, &mut sparse[Frame::HEADER_BYTES..prefix])?;
    let parsed = Frame::parse(sparse, chunk.bytes)?;
    let (block, extents) = (parsed.block_bytes(), parsed.extents()?);
    let touched = touched(chunk, elements, selected, (block, item))?;
    let runs = coalesce_ranges(touched.iter().map(|index| extents[*index].clone()).collect(), 0);
    Ok(Some(Blocks { stored, prefix, extents, runs }))
}

/// The header and block table at the beginning of a value.
pub(in crate::read) fn read_table(
    reader: &dyn Reader,
    chunk: &ChunkLayout,
) -> std::result::Result<BlockTable, Failed> {
    let stored_bytes = size_of_at_most(reader, chunk.max_stored_bytes)?;
    let mut prefix = zeros(Frame::HEADER_BYTES.min(stored_bytes))?;
    reader.read_at(0, &mut prefix)?;
    if let Some(header) = prefix.first_chunk() {
        let bytes = Frame::prefix_bytes(header, stored_bytes, chunk.bytes)?;
        prefix.set_length(bytes)?;
        reader.read_at(Frame::HEADER_BYTES as u64, &mut prefix[Frame::HEADER_BYTES..])?;
    }
    Ok(BlockTable::parse(&prefix, stored_bytes, chunk.bytes)?)
}

/// The sparse buffer, as long as the stored value, which must not exceed `limit`.
pub(in crate::read) fn sparse_of<'a>(
    sparse: &'a mut Vec<u8>,
    reader: &dyn Reader,
    limit: usize,
) -> CodecResult<&'a mut [u8]> {
    Ok(Scratch::chunk_of(sparse, size_of_at_most(reader, limit)?)?)
}

/// The length of the stored value; refuses more than `limit`, so that a false length is not
/// allocated.
fn size_of_at_most(reader: &dyn Reader, limit: usize) -> CodecResult<usize> {
    let size = usize::try_from(reader.size()).unwrap_or(usize::MAX);
    if size > limit {
        let reason = format!("{size} bytes stored, at most {limit} expected");
        return Err(CodecError::corrupt("chunk", reason));
    }
    Ok(size)
}

/// The selected blocks of the decoded chunk, ascending.
pub(in crate::read) fn touched(
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &[ChunkSelection<'_>],
    (block, item): (usize, usize),
) -> CodecResult<Vec<usize>> {
    let mut needed = zeros::<bool>(chunk.bytes.div_ceil(block))?;
    for selected in selected {
        walk(chunk, elements, selected, (block, item), &mut |bytes, _, _| {
            needed[bytes.start / block..bytes.end.div_ceil(block)].fill(true);
            Ok(())
        })?;
    }
    Ok((0..needed.len()).filter(|index| needed[*index]).collect())
}
