//! A chunk, from all of its stored bytes.

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{DecodeScratch, ReadBuffer};
use crate::chunk::decode::decode_chunk;
use crate::error::{EngineError, Result, corrupt};
use crate::layout::chunk::ChunkLayout;
use crate::selection::chunk_selection::ChunkSelection;
use crate::threads::scratch::Scratch;

impl ArrayIO {
    /// Decodes the selection of one chunk whose stored bytes are in memory; `None` is a missing
    /// chunk, which is an error if the layout says that all chunks are stored.
    pub(in crate::read) fn decode_whole(
        &self,
        chunk: &ChunkLayout,
        encoded: Option<&[u8]>,
        selected: &[ChunkSelection<'_>],
        buffer: ReadBuffer<'_>,
        s: &mut Scratch,
    ) -> Result<()> {
        if encoded.is_none() && chunk.has_key {
            buffer.count_absent();
            if !self.layout.read_missing_chunks {
                return Err(EngineError::MissingChunk { key: s.key.clone() });
            }
        }
        let scratch = &mut DecodeScratch { chunk: &mut s.chunk, chain: &mut s.chain };
        decode_chunk(chunk, encoded, selected, buffer, scratch)
            .map_err(|source| corrupt(&s.key, encoded.map_or(0, <[u8]>::len), source))
    }
}
