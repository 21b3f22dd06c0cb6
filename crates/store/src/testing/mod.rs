//! Stores for tests: one that loses power, one that fails wherever it is told to, one that counts.
//!
//! Part of the library, as the conformance suite is: who writes a store, or something on top of
//! one, asks the same questions. Nothing here is a store to keep data in.

pub(crate) mod conformance;
pub(crate) mod counting;
pub(crate) mod faults;
pub(crate) mod power;

pub use conformance::{Outcome, conformance, reading_conformance};
pub use counting::{Call, CountingStore};
pub use faults::{Fault, FaultyStore};
pub use power::{PowerLossStore, choices};
