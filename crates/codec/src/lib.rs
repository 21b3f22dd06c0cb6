//! Codecs: bytes to bytes, one codec per file.
//!
//! A chunk is a run of bytes whose decoded length is known from metadata, and a codec turns such a
//! run into another. Nothing here does I/O and nothing here knows Python, arrays or stores: byte
//! order, element order and shape are settled by the engine before and after the chain, so that
//! every codec is a function of bytes and is tested, fuzzed and measured as one.
//!
//! The rule that shapes every decoder: it writes into a destination of the declared size, stops
//! there, and trusts no size it reads from the data. A header that promises more is an error, not
//! an allocation.

mod astype;
mod base64;
mod bitround;
pub mod blosc;
mod bounded;
mod byteswap;
mod bz2;
mod castvalue;
mod categorize;
mod chain;
mod checksum;
mod codec;
mod conditional;
mod deflate;
mod delta;
mod elements;
mod error;
mod fixedscaleoffset;
mod image;
mod libdeflate;
mod lz4;
mod lzma;
pub mod member;
pub mod memory;
mod n5;
pub mod nontemporal;
mod number;
mod packbits;
mod pcodec;
mod quantize;
mod registry;
mod scaleoffset;
mod scratch;
mod shuffle;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod stream;
mod transpose;
pub mod vlen;
mod zstd;

pub use chain::{Chain, ChainScratch};
pub use codec::{Codec, EncodedSize, Picture};
pub use error::{CodecError, Result};
pub use registry::{Input, from_config};
pub use scratch::Scratch;
pub use zstd::Dictionary as ZstdDictionary;
