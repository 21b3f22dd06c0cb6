//! Calls about many small selections at once: points, boxes, and windows of one array or of many.

pub(crate) mod many;
pub(crate) mod points;
pub(crate) mod progress;
pub(crate) mod windows;
