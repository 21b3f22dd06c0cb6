//! One value for each axis of an array.

use smallvec::SmallVec;

/// A short list with one entry per axis; longer ones are on the heap.
pub(crate) type PerAxis<T> = SmallVec<[T; 6]>;
