//! How an array is stored: its grid, the keys, shapes and encodings of its chunks, and its fill
//! value.
//!
//! A layout is parsed from one document and checked once. It decodes nothing and does not know
//! stores.

pub(crate) mod axes;
pub(crate) mod bounds;
pub(crate) mod chunk;
pub(crate) mod chunk_shapes;
pub(crate) mod document;
pub(crate) mod fill;
pub(crate) mod grid;
pub(crate) mod keys;
pub(crate) mod variable;
