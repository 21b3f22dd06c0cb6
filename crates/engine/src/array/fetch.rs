//! Stored chunks as they are: one to decode, or the bytes of all.

use zarrix_codec::CodecError;
use zarrix_store::StoreError;

use crate::array::io::ArrayIO;
use crate::array::values::fetch_all;
use crate::chunk::lengths::check_max_length;
use crate::error::{EngineError, Result, corrupt};
use crate::layout::bounds::max_stored_bytes;
use crate::layout::chunk::ChunkLayout;
use crate::threads::scratch::{self, Scratch};
use zarrix_codec::memory::Grow;

/// Stored bytes are handed to the caller in pieces of about this length, not chunk by chunk.
const PIECE_BYTES: usize = 1 << 20;

/// The error of a store, for the chunk at `key`.
pub(crate) fn from_store(key: &str, error: StoreError) -> EngineError {
    match error {
        StoreError::Corrupt { reason, .. } => corrupt(key, 0, CodecError::corrupt("store", reason)),
        error => error.into(),
    }
}

impl ArrayIO {
    /// Fetches the chunk that `s.key` names into `s.encoded`; false if it is not stored.
    pub(crate) fn fetch_stored(&self, chunk: &ChunkLayout, s: &mut Scratch) -> Result<bool> {
        let max = chunk.max_stored_bytes;
        let found = self.store.get_at_most_into(&s.key, max as u64, &mut s.encoded);
        let found = found.map_err(|error| from_store(&s.key, error))?;
        check_max_length(&s.key, &s.encoded, max)?;
        Ok(found.is_some())
    }

    /// Hands the bytes of all stored chunks to `sink`, in C order of their coordinates and in
    /// pieces of any length, until `sink` returns true.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`] if it does.
    pub fn each_stored(&self, sink: &mut dyn FnMut(&[u8]) -> bool) -> Result<()> {
        let mut chunks = self.stored_chunks()?;
        chunks.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        let mut piece = Vec::new();
        let mut give = |piece: &mut Vec<u8>, least: usize| {
            if piece.len() < least {
                return Ok(());
            }
            let stop = sink(piece);
            piece.clear();
            if stop { Err(EngineError::Interrupted) } else { Ok(()) }
        };
        if self.store.is_inline() {
            for (key, coords) in chunks {
                scratch::with(|s| {
                    s.key = key;
                    if self.fetch_stored(&*self.layout.chunk(&coords)?, s)? {
                        piece.append_slice(&s.encoded)?;
                    }
                    Ok::<(), EngineError>(())
                })?;
                give(&mut piece, PIECE_BYTES)?;
            }
        } else {
            let max = self.layout.max_encoded_bytes.max(1);
            let batch = (8 * PIECE_BYTES / max).clamp(1, 256);
            let max = max_stored_bytes(max) as u64;
            for some in chunks.chunks(batch) {
                let keys: Vec<String> = some.iter().map(|(key, _)| key.clone()).collect();
                for value in fetch_all(self.store.as_ref(), &keys, max)?.into_iter().flatten() {
                    piece.append_slice(&value)?;
                }
                give(&mut piece, PIECE_BYTES)?;
            }
        }
        give(&mut piece, 1)
    }
}
