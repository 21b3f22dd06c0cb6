//! Calls about many small selections at once: points, boxes, and windows of one array or of
//! many; about stored values that are made of encoded chunks; and blocks:
//! their means, and what their elements are like.

pub(crate) mod block_means;
pub(crate) mod many;
pub(crate) mod points;
pub(crate) mod progress;
pub(crate) mod regroup;
pub(crate) mod summary;
pub(crate) mod windows;
