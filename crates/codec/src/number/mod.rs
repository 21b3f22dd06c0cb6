//! Numbers of NumPy's types, and NumPy's casts between them.
//!
//! Filters that compute are defined by what NumPy computes, so this is NumPy's arithmetic and not
//! Rust's. Integers wrap. A float outside the range of an integer becomes what the vector code of
//! NumPy's x86-64 builds returns. Halves are computed in single precision and rounded after every
//! step. [`Number`] is one value, for code that goes value by value; [`cast`] converts blocks.

pub(crate) mod cast;
pub(crate) mod real;
pub(crate) mod types;

pub(crate) use cast::{BLOCK, cast, swap, swap_in_place};
pub(crate) use real::{Real, Step, compute, map};
pub(crate) use types::{Number, NumberKind, Type};
