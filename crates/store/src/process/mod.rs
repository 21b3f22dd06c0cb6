//! The process: system calls, state across forks, interruptions, and notices to the user.

pub(crate) mod fork;
pub mod interrupt;
pub mod notice;
pub(crate) mod sys;
pub(crate) mod wait;

pub use fork::{ForkHooks, Gate, PerProcess, generation, on_fork, unforked};
pub use sys::replace as replace_descriptor;
