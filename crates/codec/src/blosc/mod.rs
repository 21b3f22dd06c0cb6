//! Blosc 1: blocks that are transposed, split in streams and compressed, each on its own.
//!
//! Decoding is ours, because blocks
//! are the unit in which a reader can save work: one block decodes alone, straight to where its
//! bytes are wanted, and c-blosc offers that only through a copy. It also lets contexts live as
//! long as their thread, lets streams that were stored be transposed from where they lie, and
//! checks every number of a frame before the first allocation. Encoding is ours for the compressors
//! that are libraries of their own, so that threads share a chunk; c-blosc encodes the others, and
//! the tests hold its frames beside ours, which are the same bytes.

mod blocks;
mod blosclz;
mod decode;
mod encode;
mod extent;
mod header;

pub use blocks::BlockEncoder;
pub use decode::Frame;
pub use encode::{Blosc, Compressor, Shuffle};
pub use extent::BlockTable;

use crate::CodecError;

const NAME: &str = "blosc";

fn corrupt(reason: impl Into<String>) -> CodecError {
    CodecError::corrupt(NAME, reason)
}
