//! The process: state across forks, interruptions, and notices to the user.

pub(crate) mod fork;
pub mod interrupt;
pub(crate) mod leaked;
pub mod notice;
pub(crate) mod wait;

#[cfg(unix)]
pub use crate::sys::unix::replace as replace_descriptor;
pub use fork::{ForkHooks, Gate, PerProcess, generation, on_fork, unforked};
