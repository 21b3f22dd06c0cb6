//! A chunk, from all of its stored bytes.

use crate::array::io::ArrayIO;
use crate::chunk::chunk_read::{ChunkRead, DecodeScratch};
use crate::chunk::decode::decode_chunk;
use crate::error::{EngineError, Result, corrupt};
use crate::threads::scratch::Scratch;

impl ArrayIO {
    /// Decodes the selection of one chunk whose stored bytes are in memory; `None` is a missing
    /// chunk, which is an error if the layout says that all chunks are stored.
    pub(in crate::read) fn decode_whole(
        &self,
        read: &ChunkRead<'_, '_>,
        encoded: Option<&[u8]>,
        s: &mut Scratch,
    ) -> Result<()> {
        if encoded.is_none() && read.chunk.has_key {
            read.buffer.count_absent();
            if !self.layout.read_missing_chunks {
                return Err(EngineError::MissingChunk { key: s.key.clone() });
            }
        }
        decode_chunk(read, encoded, &mut DecodeScratch::of(s))
            .map_err(|source| corrupt(&s.key, encoded.map_or(0, <[u8]>::len), source))
    }
}
