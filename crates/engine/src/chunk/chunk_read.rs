//! What a read needs to know of one chunk.

use zarrix_codec::ChainScratch;

use crate::chunk::buffer::ReadBuffer;
use crate::layout::chunk::ChunkLayout;
use crate::selection::chunk_selection::ChunkSelection;
use crate::threads::scratch::Scratch;

/// A chunk, what is selected of it, and the buffer for that.
#[derive(Clone, Copy)]
pub(crate) struct ChunkRead<'a, 'w> {
    pub chunk: &'a ChunkLayout,
    pub selected: &'a [ChunkSelection<'w>],
    pub buffer: &'a ReadBuffer<'a>,
}

impl<'a> ChunkRead<'a, '_> {
    /// The read of an inner chunk of this shard, to the same buffer.
    pub fn inner<'b, 'c>(
        &self,
        chunk: &'b ChunkLayout,
        selected: &'b [ChunkSelection<'c>],
    ) -> ChunkRead<'b, 'c>
    where
        'a: 'b,
    {
        ChunkRead { chunk, selected, buffer: self.buffer }
    }

    /// Bytes of an element in the decoded chunk.
    pub fn item_bytes(&self) -> usize {
        self.buffer.layout.item_bytes
    }
}

/// The scratch buffers of a thread that decoding needs, without the one for encoded bytes.
pub(crate) struct DecodeScratch<'a> {
    pub chunk: &'a mut Vec<u8>,
    pub chain: &'a mut ChainScratch,
}

impl<'a> DecodeScratch<'a> {
    pub fn of(scratch: &'a mut Scratch) -> Self {
        Self { chunk: &mut scratch.chunk, chain: &mut scratch.chain }
    }
}
