//! The scratch buffers of a thread, so that a chunk allocates nothing.

use std::cell::Cell;

use zarrix_codec::ChainScratch;
use zarrix_codec::memory::{Grow, Refused};

use crate::threads::cancel;

/// Larger buffers are freed at the end of a call: each thread has several, and a job of bounded
/// memory runs on all of them.
const KEEP_BYTES: usize = 16 << 20;

/// Buffers and codec contexts of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    pub key: String,
    pub encoded: Vec<u8>,
    pub chunk: Vec<u8>,
    /// A stored chunk, of which only some ranges were read.
    pub sparse: Vec<u8>,
    /// The new encoded bytes of a chunk that is written.
    pub update: Vec<u8>,
    /// Encoded parts of a chunk that several threads encode.
    pub parts: Vec<Vec<u8>>,
    pub chain: ChainScratch,
}

impl Scratch {
    /// The first `bytes` bytes of the chunk buffer, with any content.
    ///
    /// # Errors
    /// [`Refused`], as the metadata determines how long a chunk is.
    pub fn chunk_of(chunk: &mut Vec<u8>, bytes: usize) -> Result<&mut [u8], Refused> {
        if chunk.len() < bytes {
            chunk.set_length(bytes)?;
        }
        Ok(&mut chunk[..bytes])
    }
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Runs `work` with the scratch buffers of this thread.
///
/// They are taken out for that time: a store or codec that is called back and reads another array
/// on the same thread finds none and gets new ones.
pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SCRATCH.with(Cell::take).unwrap_or_else(|| {
        let mut scratch = Box::<Scratch>::default();
        scratch.chain.codec.poll_with(cancel::is_over);
        scratch
    });
    let result = work(&mut scratch);
    let Scratch { chunk, sparse, encoded, update, parts, .. } = &mut *scratch;
    if parts.iter().map(Vec::capacity).sum::<usize>() > KEEP_BYTES {
        *parts = Vec::new();
    }
    for buffer in [chunk, sparse, encoded, update] {
        if buffer.capacity() > KEEP_BYTES {
            *buffer = Vec::new();
        }
    }
    SCRATCH.with(|slot| slot.set(Some(scratch)));
    result
}
