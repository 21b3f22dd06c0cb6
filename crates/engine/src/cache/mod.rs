//! What is cached between calls: decoded chunks, and the indexes of shards.

pub(crate) mod chunks;
pub(crate) mod shard_indexes;
