//! What metadata says of the Blosc codec.

use std::ffi::CStr;

use crate::error::CodecError;

pub(super) const NAME: &str = "blosc";

pub(super) fn corrupt(reason: impl Into<String>) -> CodecError {
    CodecError::corrupt(NAME, reason)
}

/// What compresses the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressor(pub(super) &'static CStr);

impl Compressor {
    /// The compressor that metadata calls `cname`.
    pub fn named(cname: &str) -> Option<Self> {
        [c"blosclz", c"lz4", c"lz4hc", c"zlib", c"zstd", c"snappy"]
            .into_iter()
            .find(|name| name.to_bytes() == cname.as_bytes())
            .map(Self)
    }
}

/// Which transposition is applied to each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// None.
    None = 0,
    /// Transpose the bytes of elements.
    Bytes = 1,
    /// Transpose the bits of elements.
    Bits = 2,
}

/// The Blosc codec.
#[derive(Clone, Debug)]
pub struct Blosc {
    /// What compresses the streams.
    pub compressor: Compressor,
    /// 0 (store) to 9.
    pub level: u8,
    /// Which transposition is applied first.
    pub shuffle: Shuffle,
    /// Item size, at least 1; c-blosc treats more than 255 as 1.
    pub element_bytes: usize,
    /// Bytes of a block, 0 for c-blosc's choice.
    pub block_bytes: usize,
}
