//! The engine: given an array's layout and a selection, move bytes between a store and a buffer.
//!
//! One kind of array, one read path, one write path. Elements are opaque runs of bytes: dtypes,
//! byte order, fill values and format versions were settled by whoever made the [`Layout`]. A call
//! is planned into one task per touched chunk; the tasks run on the calling thread and on the
//! pool of this process, and each thread keeps scratch so that a chunk allocates nothing.
//!
//! The calls are synchronous. They hold no lock while they wait for the pool, and the pool is
//! rebuilt in a forked child.

mod array;
mod axes;
mod batches;
mod blobs;
mod bounds;
mod boxes;
mod chunk_cache;
mod chunks;
mod clear;
mod codecs;
mod copy;
#[cfg(target_arch = "x86_64")]
mod copy_stream;
mod cost;
mod document;
mod encoding;
mod error;
mod fill;
mod grid;
mod kept;
mod layout;
mod lengths;
mod listing;
mod nodes;
mod partial;
mod patience;
mod picks;
mod place;
mod points;
mod pool;
mod read;
mod read_chunk;
mod read_job;
mod read_whole;
mod scratch;
mod selection;
mod shapes;
mod shard;
mod shard_index;
mod shard_indexes;
mod share;
mod stale;
mod stored;
mod strides;
mod together;
mod turn;
mod update;
mod values;
mod variable;
mod verify;
mod view;
mod walk;
mod wanted;
mod whole;
mod write;
mod write_shared;

pub use array::ArrayIO;
pub use boxes::{Along, Outside};
pub use chunk_cache::{
    ChunkCacheCounts, chunk_cache_bytes, chunk_cache_counts, set_chunk_cache_bytes,
};
pub use cost::Cost;
pub use document::{Document, Judge, Refused};
pub use encoding::ForeignCodecs;
pub use error::{EngineError, Result};
pub use layout::Layout;
pub use nodes::{delete_node, move_node};
pub use patience::Interrupt;
pub use picks::Picks;
pub use pool::{on_worker_start, set_threads, threads};
pub use selection::{AxisSelection, Selection};
pub use shapes::{Chain, ChainOf};
pub use values::get_many;
pub use verify::Verified;
pub use view::{ObjectSink, ObjectSource, Source, Target};
