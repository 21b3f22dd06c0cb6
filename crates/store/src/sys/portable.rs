//! A Unix of which nothing but POSIX and `flock` is known.
//!
//! Without locks of byte ranges that belong to an open file, a lock of any range is a lock of the
//! whole file by `flock`. It excludes the same writers and more: those of other chunks of the array.
//! It does not exclude a process of the same system that locks ranges. Where `flock` is refused,
//! too, the user is warned, as on any system.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use crate::sys::{Hold, lock_whole, rename_new_in_two_steps, sync_each, unlock_whole};

/// What users are told that this code is of.
pub(crate) const NAME: &str = "portable";

/// Whether locks of two ranges of a file exclude each other.
pub(crate) const LOCKS_ARE_WHOLE: bool = true;

/// Fills `bytes` with random numbers from the system.
pub(crate) fn random(bytes: &mut [u8]) {
    let filled = File::open("/dev/urandom").and_then(|mut source| source.read_exact(bytes));
    if filled.is_err() {
        // Without the device (a bare chroot), the seeds of the standard library's maps are random.
        for byte in bytes {
            use std::hash::{BuildHasher, Hasher, RandomState};
            *byte = RandomState::new().build_hasher().finish() as u8;
        }
    }
}

/// A number that no other running kernel has: unknown, so that every partial file has a random name.
pub(crate) fn boot_number() -> Option<u64> {
    None
}

/// Opens a file to be written past the page cache: not here, and the caller writes through it.
pub(crate) fn open_direct(_: &CStr) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames unless `to` already exists (`EEXIST`).
pub(crate) fn rename_new(from: &CStr, to: &CStr) -> io::Result<()> {
    rename_new_in_two_steps(from, to)
}

/// Locks or frees the file of `bytes`; false if another description has locked it.
pub(crate) fn lock_bytes(file: &File, _: &Range<i64>, hold: Hold) -> io::Result<bool> {
    if hold == Hold::Free {
        unlock_whole(file);
        return Ok(true);
    }
    lock_whole(file)
}

/// Whether no other description has locked any of the bytes: the lock itself will tell.
pub(crate) fn is_free(_: &File, _: &Range<i64>) -> io::Result<bool> {
    Ok(true)
}

/// Makes everything below a directory durable.
pub(crate) fn sync_tree(directory: &Path) -> io::Result<()> {
    sync_each(directory)
}

/// Exchanges two names in one step: not here.
pub(crate) fn exchange(_: &CStr, _: &CStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a file that shares its blocks with another one: not here, and the caller links or copies.
pub(crate) fn clone(_: &File, _: &CStr) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns how much of a file the system copied by itself: nothing, so that the caller copies it.
pub(crate) fn copy_in_kernel(_: &File, _: u64, _: &File) -> io::Result<u64> {
    Ok(0)
}

pub(crate) fn clear_errno() {
    #[cfg(any(target_os = "linux", target_os = "l4re", target_os = "hurd"))]
    // SAFETY: the pointer is this thread's own variable.
    unsafe {
        *libc::__errno_location() = 0;
    }
    #[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
    // SAFETY: the pointer is this thread's own variable.
    unsafe {
        *libc::__errno() = 0;
    }
    #[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "dragonfly"))]
    // SAFETY: the pointer is this thread's own variable.
    unsafe {
        *libc::__error() = 0;
    }
}

/// The process that holds a lock of a file: unknown.
pub(crate) fn holder_of(_: &File) -> Option<String> {
    None
}
