//! What a thread keeps between chunks so that a chunk allocates nothing.

use std::cell::Cell;

use zarrix_codec::ChainScratch;
use zarrix_codec::memory::{Grow, Refused};

use crate::threads::cancel;

/// Buffers larger than this are given back once a call is done with them.
const KEEP_BYTES: usize = 64 << 20;

/// Buffers and codec contexts of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    pub key: String,
    pub encoded: Vec<u8>,
    pub chunk: Vec<u8>,
    /// A stored chunk of which only some ranges were read.
    pub sparse: Vec<u8>,
    /// The new encoded bytes of a chunk that is written.
    pub update: Vec<u8>,
    /// Encoded parts of a chunk that other threads helped with.
    pub parts: Vec<Vec<u8>>,
    pub chain: ChainScratch,
}

impl Scratch {
    /// The chunk buffer as `bytes` bytes of whatever was there before.
    ///
    /// # Errors
    /// [`Refused`], as a chunk is as long as its metadata says.
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

/// Runs `work` with this thread's scratch.
///
/// The scratch is taken out for the time: a store or codec that is called back and reads another
/// array on the same thread finds none and gets a fresh one.
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
