//! What macOS has beyond POSIX. `sync_all` of the standard library is `F_FULLFSYNC` there.

use std::ffi::{CStr, c_uint};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::sys::{CHANGE, check, mix, open, rename_new_in_two_steps, sync_each};

/// What users are told that this code is of.
pub(crate) const NAME: &str = "macos";

/// Fills `bytes` with random numbers from the system.
pub(crate) fn random(bytes: &mut [u8]) {
    /// As much as one call gives.
    const MOST: usize = 256;
    for part in bytes.chunks_mut(MOST) {
        // SAFETY: the pointer and length are those of one live slice. No failure is possible for a
        // valid one of this length.
        let _ = unsafe { libc::getentropy(part.as_mut_ptr().cast(), part.len()) };
    }
}

/// A number that no other running kernel has, from the random identifier of its boot; `None` if it
/// does not tell one.
pub(crate) fn boot_number() -> Option<u64> {
    let mut id = [0_u8; 64];
    let mut length = id.len();
    // SAFETY: the name ends in NUL, and `length` is that of the live array before it.
    let result = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            id.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    let id = id.get(..length).filter(|id| result == 0 && !id.is_empty())?;
    Some(id.iter().fold(0, |hash, byte| mix(hash ^ u64::from(*byte))))
}

/// Opens a file to be written past the page cache: not here, and the caller writes through it.
pub(crate) fn open_direct(_: &CStr) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames unless `to` already exists (`EEXIST`).
pub(crate) fn rename_new(from: &CStr, to: &CStr) -> io::Result<()> {
    let flags: c_uint = libc::RENAME_EXCL;
    // SAFETY: both paths end in NUL.
    match check(unsafe { libc::renamex_np(from.as_ptr(), to.as_ptr(), flags) }) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTSUP | libc::EINVAL)) => {
            rename_new_in_two_steps(from, to)
        }
        result => result.map(drop),
    }
}

/// Makes everything below a directory durable.
pub(crate) fn sync_tree(directory: &Path) -> io::Result<()> {
    sync_each(directory)
}

/// Exchanges two names in one step.
pub(crate) fn exchange(first: &CStr, second: &CStr) -> io::Result<()> {
    let flags: c_uint = libc::RENAME_SWAP;
    // SAFETY: both paths end in NUL.
    check(unsafe { libc::renamex_np(first.as_ptr(), second.as_ptr(), flags) }).map(drop)
}

/// Creates a file under a free name that shares its blocks with `from`.
pub(crate) fn clone(from: &File, to: &CStr) -> io::Result<File> {
    // SAFETY: the descriptor is open, and the path ends in NUL.
    check(unsafe { libc::fclonefileat(from.as_raw_fd(), libc::AT_FDCWD, to.as_ptr(), 0) })?;
    open(to, CHANGE)
}

/// Returns how much of a file the system copied by itself: nothing, so that the caller copies it.
pub(crate) fn copy_in_kernel(_: &File, _: u64, _: &File) -> io::Result<u64> {
    Ok(0)
}

pub(crate) fn clear_errno() {
    // SAFETY: the pointer is this thread's own variable.
    unsafe {
        *libc::__error() = 0;
    }
}

/// The process that holds a lock of a file: macOS does not tell.
pub(crate) fn holder_of(_: &File) -> Option<String> {
    None
}
