//! A chunk out of all of its stored bytes.

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{PlaceScratch, Sink};
use crate::chunk::decode::place;
use crate::error::{EngineError, Result, corrupt};
use crate::layout::chunk::ChunkLayout;
use crate::selection::chunk_selection::Wanted;
use crate::threads::scratch::Scratch;

impl ArrayIO {
    /// Places what is wanted of one chunk whose stored bytes are in memory; `None` is one that is
    /// not stored: an error, where the layout says that chunks of the array are.
    pub(in crate::read) fn place_whole(
        &self,
        chunk: &ChunkLayout,
        encoded: Option<&[u8]>,
        wanted: &[Wanted<'_>],
        sink: Sink<'_>,
        s: &mut Scratch,
    ) -> Result<()> {
        if encoded.is_none() && chunk.has_key {
            sink.count_absent();
            if !self.layout.read_missing_chunks {
                return Err(EngineError::MissingChunk { key: s.key.clone() });
            }
        }
        let scratch = &mut PlaceScratch { chunk: &mut s.chunk, chain: &mut s.chain };
        place(chunk, encoded, wanted, sink, scratch)
            .map_err(|source| corrupt(&s.key, encoded.map_or(0, <[u8]>::len), source))
    }
}
