//! A chunk out of all of its stored bytes.

use crate::array::ArrayIO;
use crate::encoding::ChunkLayout;
use crate::error::{EngineError, Result, corrupt};
use crate::place::place;
use crate::scratch::Scratch;
use crate::view::{PlaceScratch, Sink};
use crate::wanted::Wanted;

impl ArrayIO {
    /// Places what is wanted of one chunk whose stored bytes are in memory; `None` is one that is
    /// not stored: an error, where the layout says that chunks of the array are.
    pub(crate) fn place_whole(
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
