//! Whether stored chunks decode.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use zarrix_codec::{ChainScratch, CodecError};

use crate::array::io::ArrayIO;
use crate::chunk::lengths::check_length;
use crate::chunk::shard_index::Index;
use crate::error::{CodecResult, EngineError, Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Encoding, Shard};
use crate::threads::cancel::Interrupt;
use crate::threads::scratch::{self, Scratch};

/// The result of [`ArrayIO::verify`].
#[derive(Debug, Default)]
pub struct Verified {
    /// Number of checked chunks.
    pub chunks: usize,
    /// Sum of their lengths.
    pub stored_bytes: u64,
    /// Key and error of each damaged chunk, sorted by key.
    pub broken: Vec<(String, EngineError)>,
    /// Key of each chunk that decodes although extra bytes follow its encoded form, and how many;
    /// sorted by key.
    pub ignored: Vec<(String, usize)>,
}

impl ArrayIO {
    /// Decodes every stored chunk to its declared size, with all checksums, and discards the
    /// result.
    ///
    /// With `among`, only the chunks with these keys, and nothing is listed. `done` counts the
    /// checked chunks. Damaged chunks, and chunks that the store fails to return, are part of the
    /// result; only a cancellation, refused memory, or a failed listing is an error.
    pub fn verify(
        &self,
        among: Option<Vec<String>>,
        done: &AtomicUsize,
        interrupt: Interrupt<'_>,
    ) -> Result<Verified> {
        let keys = match among {
            Some(keys) => self.chunks_among(keys),
            None => self.stored_chunks()?,
        };
        let bytes = AtomicU64::new(0);
        let (broken, ignored) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        self.run(keys.len(), interrupt, &|index| {
            let (key, coords) = &keys[index];
            let outcome = scratch::with(|s| {
                s.key.clone_from(key);
                self.verify_stored(&*self.layout.chunk(coords)?, &bytes, s)
            });
            match outcome {
                Ok(0) => {}
                Ok(more) => locked(&ignored).push((key.clone(), more)),
                Err(error) if error.is_out_of_memory() => return Err(error),
                Err(error) => locked(&broken).push((key.clone(), error)),
            }
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(Verified {
            chunks: keys.len(),
            stored_bytes: bytes.into_inner(),
            broken: sorted(broken),
            ignored: sorted(ignored),
        })
    }

    /// Decodes the chunk at `s.key`; returns the number of ignored bytes after its encoded form.
    fn verify_stored(
        &self,
        layout: &ChunkLayout,
        bytes: &AtomicU64,
        s: &mut Scratch,
    ) -> Result<usize> {
        // Deleted since it was listed: nothing to check.
        if !self.fetch_stored(layout, s)? {
            return Ok(0);
        }
        bytes.fetch_add(s.encoded.len() as u64, Ordering::Relaxed);
        let Scratch { key, encoded, chunk, chain, .. } = s;
        chain.codec.take_ignored();
        check(layout, encoded, chunk, chain)
            .map_err(|source| corrupt(key, encoded.len(), source))?;
        Ok(chain.codec.take_ignored())
    }
}

fn locked<T>(found: &Mutex<T>) -> MutexGuard<'_, T> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The results, sorted by key.
fn sorted<T>(found: Mutex<Vec<(String, T)>>) -> Vec<(String, T)> {
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Whether the encoded bytes are a whole chunk.
fn check(
    chunk: &ChunkLayout,
    encoded: &[u8],
    memory: &mut Vec<u8>,
    chain: &mut ChainScratch,
) -> CodecResult<()> {
    match &chunk.encoding {
        Encoding::Elements(elements) if elements.chain.is_identity() => {
            check_length(encoded.len(), chunk.bytes)
        }
        Encoding::Elements(elements) => {
            elements.chain.decode_into(encoded, Scratch::chunk_of(memory, chunk.bytes)?, chain)
        }
        // Only the caller can check the elements in the bytes.
        Encoding::Variable(variable) => variable.decode(encoded, memory, chain).map(drop),
        Encoding::Shard(shard) if shard.outer.is_empty() => {
            check_shard(shard, encoded, memory, chain)
        }
        Encoding::Shard(shard) => check_shard(shard, &shard.unpack(encoded, chain)?, memory, chain),
    }
}

fn check_shard(
    shard: &Shard,
    encoded: &[u8],
    memory: &mut Vec<u8>,
    chain: &mut ChainScratch,
) -> CodecResult<()> {
    let index = Index::of(shard, encoded, chain)?;
    for entry in 0..shard.count {
        chain.codec.poll_after(shard.inner.bytes)?;
        if let Some(inner) = index.slice(entry, encoded)? {
            check(&shard.inner, inner, memory, chain).map_err(|error| match error {
                CodecError::Corrupt { codec, reason } => CodecError::Corrupt {
                    codec,
                    reason: format!("{reason}, in inner chunk {entry} of the shard"),
                },
                other => other,
            })?;
        }
    }
    Ok(())
}
