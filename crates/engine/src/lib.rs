//! The engine moves bytes between a store and a buffer, for a layout and a selection.
//!
//! There is one kind of array, one read path and one write path. Elements are opaque runs of bytes:
//! the caller has settled data types, byte order, fill values and format versions in the
//! [`Layout`]. A call is planned as one task per touched chunk. The tasks run on the calling thread
//! and on the thread pool of the process, and each thread has scratch buffers, so that a chunk
//! allocates nothing.
//!
//! Calls are synchronous. They hold no lock while they wait for the pool, and the pool is rebuilt
//! in a forked child.

mod array;
mod cache;
mod calls;
mod chunk;
mod elements;
mod error;
mod layout;
mod memory;
mod read;
mod selection;
mod threads;
mod write;

pub use array::files::{heads_of, versions_of};
pub use array::io::{ArrayIO, Choices};
pub use array::metadata::{Document, Judge, Refused};
pub use array::nodes::{delete_node, move_node};
pub use array::values::{
    CopiedValue, carry_late, carry_many, carry_space, carry_tree, copy_many, copy_new, get_many,
};
pub use array::verify::Verified;
pub use cache::chunks::{
    ChunkCacheCounts, chunk_cache_bytes, chunk_cache_counts, set_chunk_cache_bytes,
};
pub use calls::entry::{Convert, Entry};
pub use calls::many::{Failure, read_many};
pub use calls::parts::{ArrayPart, read_parts};
pub use calls::progress::Progress;
pub use calls::resized::{Resized, resize_windows};
pub use calls::windows::{Along, Outside};
pub use chunk::buffer::{ObjectSink, ObjectSource, Source, Target};
pub use chunk::encode::set_reencodes_lossy;
pub use elements::bit_counts::LeadingBits;
pub use elements::block_means::block_means;
pub use elements::moments::Moments;
pub use elements::scalar::Extreme;
pub use elements::summary::{Summary, SummaryRequest, summarize};
pub use error::{EngineError, Result};
pub use layout::chunk::ForeignCodecs;
pub use layout::chunk_shapes::{Chain, ChainOf};
pub use layout::document::Layout;
pub use memory::convert::{Conversion, Float, Formula, Number};
pub use memory::resampling::{Method, Resampling};
pub use memory::results::{
    KEEPS_RESULTS, LARGE_RESULT_BYTES, allocate_result, allocate_zeros, release_result,
    resize_result, result_cache_bytes, set_result_cache_bytes,
};
pub use memory::turns::Turns;
pub use read::cost::Cost;
pub use selection::picks::Picks;
pub use selection::plan::{AxisSelection, Selection};
pub use threads::cancel::Interrupt;
pub use threads::pool::{on_threads, on_worker_start, set_threads, threads, work_alone};
