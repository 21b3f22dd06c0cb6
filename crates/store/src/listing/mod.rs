//! Listings, and what a rename moves, for stores that have keys and no directories.

pub(crate) mod moved;
pub(crate) mod sorted;
