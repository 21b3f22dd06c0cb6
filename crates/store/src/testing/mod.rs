//! Stores for tests: one that loses power, one that fails at a chosen call, one that records calls.
//!
//! They are part of the library, like the conformance suite, for authors of stores and of code on
//! top of them. Do not use them for real data.

pub(crate) mod conformance;
pub(crate) mod counting;
pub(crate) mod faults;
pub(crate) mod power;

pub use conformance::{Outcome, conformance, reading_conformance};
pub use counting::{Call, CountingStore};
pub use faults::{Fault, FaultyStore};
pub use power::{PowerLossStore, choices};
