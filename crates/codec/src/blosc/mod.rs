//! Blosc 1: blocks that are transposed, split into streams and compressed, each by itself.
//!
//! Decoding is ours, because blocks are the unit in which a reader can save work: one block decodes
//! by itself, directly to its destination, and c-blosc offers that only through a copy. Our decoder
//! also reuses contexts, transposes uncompressed streams in place, and checks every number of a
//! frame before the first allocation. Encoding is ours for the compressors that are libraries of
//! their own, so that threads share a chunk. c-blosc encodes the others, and tests compare its
//! frames with ours, which have the same bytes.

pub(crate) mod blocks;
pub(crate) mod blosclz;
pub(crate) mod config;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod extent;
pub(crate) mod header;

pub use blocks::BlockEncoder;
pub use config::{Blosc, Compressor, Shuffle};
pub use decode::{Frame, Planes};
pub use extent::BlockTable;
