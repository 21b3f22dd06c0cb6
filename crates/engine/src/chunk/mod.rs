//! The bytes of one chunk: decoded to a buffer, encoded from one, and the index of a shard.
//!
//! All bytes are in memory here; no file of this room knows stores.

pub(crate) mod buffer;
pub(crate) mod chunk_read;
pub(crate) mod codecs;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod lengths;
pub(crate) mod picture;
pub(crate) mod planes;
pub(crate) mod shard_codec;
pub(crate) mod shard_index;
pub(crate) mod transpose_codec;
pub(crate) mod variable;
