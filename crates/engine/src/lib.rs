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
mod cache;
mod calls;
mod chunk;
mod error;
mod layout;
mod memory;
mod read;
mod selection;
mod threads;
mod write;

pub use array::io::ArrayIO;
pub use array::metadata::{Document, Judge, Refused};
pub use array::nodes::{delete_node, move_node};
pub use array::values::get_many;
pub use array::verify::Verified;
pub use cache::chunks::{
    ChunkCacheCounts, chunk_cache_bytes, chunk_cache_counts, set_chunk_cache_bytes,
};
pub use calls::windows::{Along, Outside};
pub use chunk::buffer::{ObjectSink, ObjectSource, Source, Target};
pub use error::{EngineError, Result};
pub use layout::chunk::ForeignCodecs;
pub use layout::chunk_shapes::{Chain, ChainOf};
pub use layout::document::Layout;
pub use read::cost::Cost;
pub use selection::picks::Picks;
pub use selection::plan::{AxisSelection, Selection};
pub use threads::cancel::Interrupt;
pub use threads::pool::{on_worker_start, set_threads, threads};
