//! What a read does with one chunk.

use smallvec::SmallVec;

use crate::layout::axes::PerAxis;
use crate::selection::chunk_selection::Wanted;

/// A chunk's coordinates and what is wanted of it.
pub(crate) type Job<'a> = (PerAxis<u64>, SmallVec<[Wanted<'a>; 1]>);
