//! What is read of one chunk.

use smallvec::{SmallVec, smallvec};

use crate::layout::axes::PerAxis;
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::plan::Segments;

/// A chunk, and the selections of it.
pub(crate) struct ChunkJob<'a> {
    pub coords: PerAxis<u64>,
    pub selected: SmallVec<[ChunkSelection<'a>; 1]>,
}

impl<'a> ChunkJob<'a> {
    /// The chunk of a planned task.
    pub fn of(segments: &Segments<'a>) -> Self {
        let coords = segments.iter().map(|segment| segment.chunk).collect();
        Self { coords, selected: smallvec![ChunkSelection::of(segments, 0, 0)] }
    }
}
