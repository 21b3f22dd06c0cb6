//! A stored array: its store, keys and layout, whether its metadata is still that which it was
//! opened by, and operations on complete stored values.

pub(crate) mod fetch;
pub(crate) mod files;
pub(crate) mod io;
pub(crate) mod listing;
pub(crate) mod metadata;
pub(crate) mod nodes;
pub(crate) mod stale;
pub(crate) mod values;
pub(crate) mod verify;
