//! Locks of bytes that belong to an open file description: Linux since 3.15, macOS since 10.11.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

use crate::sys::{Hold, check, uninterrupted};

/// Whether locks of two ranges of a file exclude each other.
pub(crate) const LOCKS_ARE_WHOLE: bool = false;

fn request(bytes: &Range<i64>, kind: libc::c_int) -> libc::flock {
    // SAFETY: `flock` is plain numbers, for which zero is a value.
    let mut wanted: libc::flock = unsafe { std::mem::zeroed() };
    wanted.l_type = kind as libc::c_short;
    wanted.l_whence = libc::SEEK_SET as libc::c_short;
    wanted.l_start = bytes.start;
    wanted.l_len = bytes.end - bytes.start;
    wanted
}

/// Locks or frees bytes of an open file description; false if another one has locked any of them.
///
/// An empty range locks everything from its start to the highest offset.
pub(crate) fn lock_bytes(file: &File, bytes: &Range<i64>, hold: Hold) -> io::Result<bool> {
    let kind = match hold {
        Hold::Shared => libc::F_RDLCK,
        Hold::Exclusive => libc::F_WRLCK,
        Hold::Free => libc::F_UNLCK,
    };
    let (descriptor, wanted) = (file.as_raw_fd(), request(bytes, libc::c_int::from(kind)));
    let command = libc::F_OFD_SETLK;
    // SAFETY: `wanted` is a `flock` that outlives the call, as the command expects.
    match uninterrupted(|| unsafe { libc::fcntl(descriptor, command, &raw const wanted) }) {
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(false),
        result => result.map(|_| true),
    }
}

/// Whether no other description has locked any of the bytes at this moment.
pub(crate) fn is_free(file: &File, bytes: &Range<i64>) -> io::Result<bool> {
    let mut wanted = request(bytes, libc::c_int::from(libc::F_WRLCK));
    // SAFETY: `wanted` is a `flock` that outlives the call, which answers in it.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut wanted) })?;
    Ok(libc::c_int::from(wanted.l_type) == libc::c_int::from(libc::F_UNLCK))
}
