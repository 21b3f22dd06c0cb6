//! The write path: chunk by chunk, or one chunk by all threads.

pub(crate) mod clear;
pub(crate) mod dispatch;
pub(crate) mod parallel;
