//! The store of files in a directory.

pub(crate) mod carry;
pub(crate) mod carry_space;
pub(crate) mod carry_tree;
pub(crate) mod deletion;
pub(crate) mod leftovers;
pub(crate) mod pages;
pub(crate) mod replace;
pub(crate) mod rows;
pub(crate) mod store;
pub(crate) mod tree;
pub(crate) mod walk;
