//! The process: state across forks, interruptions, notices to the user, and large blocks of memory.

pub(crate) mod fork;
pub mod interrupt;
pub(crate) mod leaked;
pub mod notice;
pub(crate) mod pages;
pub mod trace;
pub(crate) mod wait;

#[cfg(unix)]
pub use crate::sys::unix::replace as replace_descriptor;
pub use fork::{ForkHooks, Gate, PerProcess, generation, on_fork, unforked};
pub use pages::Pages;
