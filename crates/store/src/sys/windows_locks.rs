//! Locks of bytes on Windows: they belong to the handle, and end with it, also if its process is
//! killed. They keep others from reading the bytes, but nothing reads so far past the end of a file.

use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation as found;
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::OVERLAPPED;

use crate::sys::{Hold, c_name};

use super::windows::{check, native};

/// Whether locks of two ranges of a file exclude each other.
pub(crate) const LOCKS_ARE_WHOLE: bool = false;

/// The byte that stands for the whole file; no other lock uses it.
const WHOLE: Range<i64> = 1 << 39..(1 << 39) + 1;

/// Locks or frees bytes of an open file; false if another handle has locked any of them.
///
/// An empty range locks everything from its start to the highest offset. A range is freed as it was
/// locked.
pub(crate) fn lock_bytes(file: &File, bytes: &Range<i64>, hold: Hold) -> io::Result<bool> {
    let length = if bytes.is_empty() { i64::MAX - bytes.start } else { bytes.end - bytes.start };
    // SAFETY: `OVERLAPPED` is plain numbers and null pointers, for which zero is a value.
    let mut place: OVERLAPPED = unsafe { std::mem::zeroed() };
    place.Anonymous.Anonymous.Offset = bytes.start as u32;
    place.Anonymous.Anonymous.OffsetHigh = (bytes.start >> 32) as u32;
    let (low, high, handle) = (length as u32, (length >> 32) as u32, file.as_raw_handle());
    let exclusive = if hold == Hold::Exclusive { fs::LOCKFILE_EXCLUSIVE_LOCK } else { 0 };
    let flags = fs::LOCKFILE_FAIL_IMMEDIATELY | exclusive;
    // SAFETY: the handle is open and synchronous, and `place` outlives the calls.
    let result = check(unsafe {
        match hold {
            Hold::Free => fs::UnlockFileEx(handle, 0, low, high, &raw mut place),
            _ => fs::LockFileEx(handle, flags, 0, low, high, &raw mut place),
        }
    });
    match result {
        Err(error) if is_taken(&error) => Ok(false),
        result => result.map(|()| true),
    }
}

fn is_taken(error: &io::Error) -> bool {
    let code = error.raw_os_error().and_then(|code| u32::try_from(code).ok());
    matches!(code, Some(found::ERROR_LOCK_VIOLATION | found::ERROR_IO_PENDING))
}

/// Whether no other handle has locked any of the bytes at this moment: they are locked and freed.
pub(crate) fn is_free(file: &File, bytes: &Range<i64>) -> io::Result<bool> {
    let is_free = lock_bytes(file, bytes, Hold::Shared)?;
    if is_free {
        lock_bytes(file, bytes, Hold::Free)?;
    }
    Ok(is_free)
}

/// Locks a whole file for this handle only; false if another one has locked it.
pub(crate) fn lock_whole(file: &File) -> io::Result<bool> {
    lock_bytes(file, &WHOLE, Hold::Exclusive)
}

/// Undoes [`lock_whole`].
pub(crate) fn unlock_whole(file: &File) {
    let _ = lock_bytes(file, &WHOLE, Hold::Free);
}

/// What is locked while the file at `path` is created: a file beside it, because a directory cannot
/// be locked. Listings hide it, and it is deleted with its last handle.
pub(crate) fn creation_lock(path: &CStr) -> io::Result<CString> {
    let path = native(path);
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    c_name(directory.join("zarr.6c6f636b00000000.partial").as_os_str())
}

/// Opens the result of [`creation_lock`].
pub(crate) fn open_creation_lock(lock: &CStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).custom_flags(fs::FILE_FLAG_DELETE_ON_CLOSE);
    // The file was deleted, but another process still has it open: it will be free in a moment.
    const DELETED: i32 = found::ERROR_ACCESS_DENIED as i32;
    for _ in 0..1000 {
        match options.open(native(lock)) {
            Err(error) if error.raw_os_error() == Some(DELETED) => {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
    options.open(native(lock))
}

/// The process that holds a lock of a file: Windows does not tell.
pub(crate) fn holder_of(_: &File) -> Option<String> {
    None
}
