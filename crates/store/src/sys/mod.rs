//! The operating system: every call into it that the standard library does not have, in one file per
//! system.
//!
//! All systems have the same functions, which are used as `crate::sys::...`. Paths are C strings: on
//! Unix as the system takes them, on Windows in the encoding of Rust's `OsStr`. `unix` is what all
//! systems of this family share, and `linux` and `macos` add what POSIX lacks. `portable` stands
//! for any other Unix; the cargo feature `portable` selects it on Linux and macOS, for tests.

pub(crate) mod copy;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
pub(crate) mod linux;
#[cfg(all(target_vendor = "apple", not(feature = "portable")))]
pub(crate) mod macos;
pub(crate) mod names;
#[cfg(all(any(target_os = "linux", target_vendor = "apple"), not(feature = "portable")))]
pub(crate) mod ofd;
pub(crate) mod pages;
#[cfg(unix)]
#[cfg(any(feature = "portable", not(any(target_os = "linux", target_vendor = "apple"))))]
pub(crate) mod portable;
pub(crate) mod status;
#[cfg(unix)]
pub(crate) mod unix;
#[cfg(windows)]
pub(crate) mod windows;
#[cfg(windows)]
pub(crate) mod windows_locks;
#[cfg(windows)]
pub(crate) mod windows_status;

pub(crate) use copy::*;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
pub(crate) use linux::*;
#[cfg(all(target_vendor = "apple", not(feature = "portable")))]
pub(crate) use macos::*;
pub(crate) use names::*;
#[cfg(all(any(target_os = "linux", target_vendor = "apple"), not(feature = "portable")))]
pub(crate) use ofd::*;
pub(crate) use pages::*;
#[cfg(unix)]
#[cfg(any(feature = "portable", not(any(target_os = "linux", target_vendor = "apple"))))]
pub(crate) use portable::*;
pub(crate) use status::*;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
#[cfg(windows)]
pub(crate) use windows_locks::*;
#[cfg(windows)]
pub(crate) use windows_status::*;
