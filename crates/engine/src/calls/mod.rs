//! Calls about many small selections at once: points, boxes and windows.

pub(crate) mod points;
pub(crate) mod windows;
