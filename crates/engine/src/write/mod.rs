//! The write path: chunk by chunk, one chunk by all threads, or several thin chunks together.

pub(crate) mod clear;
pub(crate) mod dispatch;
pub(crate) mod gathered;
pub(crate) mod neighbours;
pub(crate) mod parallel;
