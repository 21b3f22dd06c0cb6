//! The read path: one file for each way to read, and one that chooses among them.

pub(crate) mod batched;
pub(crate) mod cached;
pub(crate) mod chunk;
pub(crate) mod chunk_job;
pub(crate) mod cost;
pub(crate) mod dispatch;
pub(crate) mod effort;
pub(crate) mod interleaved;
pub(crate) mod listed;
pub(crate) mod parallel_shards;
pub(crate) mod parts;
pub(crate) mod shard;
pub(crate) mod strategy;
pub(crate) mod whole;
