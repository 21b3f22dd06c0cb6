//! Listings and renames for stores that have keys, but no directories.

pub(crate) mod moved;
pub(crate) mod sorted;
