//! Blosc 1: blocks that are transposed, split in streams and compressed, each on its own.
//!
//! Encoding is c-blosc's, which every other reader agrees with, but for snappy, which it writes
//! only with a C++ library. Decoding is ours, because blocks
//! are the unit in which a reader can save work: one block decodes alone, straight to where its
//! bytes are wanted, and c-blosc offers that only through a copy. It also lets contexts live as
//! long as their thread, lets streams that were stored be transposed from where they lie, and
//! checks every number of a frame before the first allocation.

mod blosclz;
mod decode;
mod encode;
mod extent;
mod header;
mod snappy;

pub use decode::Frame;
pub use encode::{Blosc, Compressor, Shuffle};
pub use extent::BlockTable;

use crate::CodecError;

const NAME: &str = "blosc";

fn corrupt(reason: impl Into<String>) -> CodecError {
    CodecError::corrupt(NAME, reason)
}
