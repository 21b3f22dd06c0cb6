//! Locks of keys, among threads and among processes.

pub(crate) mod anchor;
pub(crate) mod beyond;
pub(crate) mod descriptors;
pub(crate) mod files;
pub(crate) mod table;
