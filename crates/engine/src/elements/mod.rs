//! Arithmetic on the elements of a block in memory: the means of its parts, and a summary.

pub(crate) mod bit_counts;
pub(crate) mod block_means;
pub(crate) mod counters;
pub(crate) mod histogram;
pub(crate) mod moments;
pub(crate) mod scalar;
pub(crate) mod summary;
