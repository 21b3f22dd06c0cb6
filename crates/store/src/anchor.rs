//! Locks between processes: bytes of an anchor file, far past its end.
//!
//! A chunk's lock is one byte of its array's metadata file, at an offset made from the chunk's key;
//! whoever locks the anchor takes all of them. The kernel drops what a killed process held, and no
//! file is left that other readers would list. The locks belong to the open file description, not
//! to the process: those would be dropped by any close of the file, by whoever in this process
//! reads it.
//!
//! The offsets are a protocol between all versions of this software that share a file:
//! byte `FIRST` is a gate, and the chunk whose key (relative to the anchor's directory) hashes to h
//! has byte `FIRST + 1 + h mod 2^61`. Whoever wants everything takes the gate first; whoever wants
//! one byte passes the gate first and does not keep it.
//!
//! The file may be replaced while one waits, so afterwards one looks whether it still has the name.
//! Each lock opens the file anew: about 7 us in all (`--example costs`), beside 50 to 170 of a write.
//! A descriptor kept for the next lock would save the opening, but its locks would not exclude this
//! process's other threads, and it would have to be found stale after every replacement.
//!
//! A file that does not exist yet has no bytes: its creators take turns by `flock` of its directory.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

use crate::descriptors::Held;
use crate::local::unless_absent;
use crate::lock::{Beyond, Others};
use crate::sys::{self, Hold};

/// Offset of the gate: past the end of any metadata document.
const FIRST: i64 = 1 << 40;
const GATE: Range<i64> = FIRST..FIRST + 1;
/// The gate and every chunk's byte: an empty range reaches to the end of all offsets.
const ALL: Range<i64> = FIRST..FIRST;

/// Locks the byte of `chunk` in the anchor at `path`, or everything where there is no chunk.
///
/// Nothing where this file system, or this file, has no locks for us: the caller then has what the
/// threads of this process agreed on, and no more.
pub(crate) fn lock(path: &CStr, chunk: Option<&str>, others: Others) -> io::Result<Beyond> {
    loop {
        let opened = Held::open(|| sys::open(path, libc::O_RDWR | libc::O_NONBLOCK));
        let Some(opened) = unless_refused(unless_absent(opened))? else {
            return Ok(Beyond::Nothing);
        };
        let Some(mut anchor) = opened else {
            // Chunks of a directory, locked by it, would wait for each other.
            if chunk.is_some() {
                return Ok(Beyond::NoAnchor);
            }
            match lock_creation(path, others)? {
                Creation::Locked(held) => return Ok(Beyond::Locked(held, path.to_owned())),
                Creation::Impossible => return Ok(Beyond::Nothing),
                Creation::Done => continue,
            }
        };
        let locked = match chunk {
            None => lock_all(&mut anchor),
            Some(chunk) => lock_chunk(&mut anchor, chunk, others),
        };
        if unless_refused(locked)?.is_none() {
            return Ok(Beyond::Nothing);
        }
        if is_still(path, anchor.file()?)? {
            return Ok(Beyond::Locked(anchor, path.to_owned()));
        }
    }
}

/// Locks an anchor with all of its chunks.
pub(crate) fn lock_all(anchor: &mut Held) -> io::Result<()> {
    anchor.lock_bytes(GATE)?;
    anchor.lock_bytes(ALL)
}

fn lock_chunk(anchor: &mut Held, chunk: &str, others: Others) -> io::Result<()> {
    let byte = FIRST + 1 + (hash(chunk) >> 3) as i64;
    // A thread with another chunk of this anchor would wait at the gate for one who waits for it.
    if others != Others::OfThisAnchor {
        let descriptor = anchor.file()?.as_raw_fd();
        if !sys::is_free(descriptor, &GATE)? {
            sys::lock_bytes(descriptor, &GATE, Hold::Shared)?;
            sys::lock_bytes(descriptor, &GATE, Hold::Free)?;
        }
    }
    anchor.lock_bytes(byte..byte + 1)
}

/// FNV-1a, mixed: part of the protocol, so written down here and not the standard library's.
fn hash(chunk: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    sys::mix(chunk.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

enum Creation {
    Locked(Held),
    /// Somebody else has created it: it can be locked itself.
    Done,
    Impossible,
}

/// Takes the turn to create the anchor at `path`, whose directory has to exist.
///
/// A turn is coarser than the keys it stands for, so a thread that holds a lock never waits for it.
fn lock_creation(path: &CStr, others: Others) -> io::Result<Creation> {
    let directory = parent(path)?;
    let opened = Held::open(|| sys::open(&directory, libc::O_RDONLY | libc::O_DIRECTORY));
    let Some(Some(mut held)) = unless_refused(unless_absent(opened))? else {
        return Ok(Creation::Impossible);
    };
    let locked = held.lock_whole(others == Others::None);
    if unless_refused(locked)?.is_none() {
        return Ok(Creation::Impossible);
    }
    if unless_absent(sys::status_at(path))?.is_some() || !is_still(&directory, held.file()?)? {
        return Ok(Creation::Done);
    }
    Ok(Creation::Locked(held))
}

fn parent(path: &CStr) -> io::Result<CString> {
    let bytes = path.to_bytes();
    let length = bytes.iter().rposition(|&byte| byte == b'/').unwrap_or(0).max(1);
    CString::new(&bytes[..length]).map_err(|_| io::ErrorKind::InvalidInput.into())
}

pub(crate) fn is_still(path: &CStr, file: &File) -> io::Result<bool> {
    let named = unless_absent(sys::status_at(path))?;
    let opened = sys::status_of(file)?;
    Ok(named.is_some_and(|named| named.identity() == opened.identity()))
}

/// `None` for what says that there are no locks to have here, and an error for what went wrong.
pub(crate) fn unless_refused<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    const REFUSALS: [i32; 11] = [
        libc::ENOLCK,
        libc::ENOSYS,
        libc::EOPNOTSUPP,
        libc::EINVAL,
        libc::EACCES,
        libc::EPERM,
        libc::EROFS,
        libc::EISDIR,
        libc::ETXTBSY,
        libc::EBADF,
        libc::EWOULDBLOCK,
    ];
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.raw_os_error().is_some_and(|code| REFUSALS.contains(&code)) => Ok(None),
        Err(error) => Err(error),
    }
}
