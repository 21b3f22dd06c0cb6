//! One value for each axis of an array.

use smallvec::SmallVec;

/// Small fixed lists, one entry an axis; longer ones go to the heap.
pub(crate) type PerAxis<T> = SmallVec<[T; 6]>;
