//! The process: calls of the system, what a fork does to state, interruptions, and notices to a user.

pub(crate) mod fork;
pub mod interrupt;
pub mod notice;
pub(crate) mod sys;
pub(crate) mod wait;

pub use fork::{ForkHooks, Gate, PerProcess, generation, on_fork, unforked};
pub use sys::replace as replace_descriptor;
