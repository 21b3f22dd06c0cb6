//! Calls about many small selections at once: points, boxes, and windows of one array or of
//! many; and about stored values that are made of encoded chunks.

pub(crate) mod entry;
pub(crate) mod many;
pub(crate) mod parts;
pub(crate) mod points;
pub(crate) mod progress;
pub(crate) mod regroup;
pub(crate) mod resized;
pub(crate) mod servers;
pub(crate) mod windows;
