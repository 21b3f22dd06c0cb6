//! What a call selects, divided by chunks, by inner chunks and by runs of memory.

pub(crate) mod blocks;
pub(crate) mod chunk_selection;
pub(crate) mod picks;
pub(crate) mod plan;
pub(crate) mod runs;
