//! Locks between processes: bytes of an anchor file, far beyond its end.
//!
//! A chunk's lock is one byte of its array's metadata file, at an offset made from the chunk's key;
//! a lock of the anchor covers all of them. The kernel releases the locks of a killed process, and
//! no lock file is left that other readers would list. The locks belong to the open file
//! description, not to the process: any close of the file in this process would release process
//! locks.
//!
//! The offsets are a protocol between all versions of this software that share a file. Byte `FIRST`
//! is a gate. A chunk whose key (relative to the anchor's directory) hashes to h has byte `FIRST +
//! 1 + h mod 2^61`. A lock of everything takes the gate first; a lock of one byte only waits until
//! the gate is free.
//!
//! The file may be replaced during the wait, so its name is checked again afterwards. Each lock
//! opens the file anew: about 7 us in total (`--example costs`), compared with 50 to 170 us of a
//! write. A cached descriptor would save the open. But its locks would not exclude other threads of
//! this process, and it would be stale after every replacement.
//!
//! A file that does not exist yet has no bytes: processes that create it exclude each other by
//! `flock` of its directory, or what `sys::creation_lock` names.
//!
//! A user who may read the file but not write it can only take shared locks on it, which exclude
//! exclusive ones. Such users exclude each other by `flock` of the file.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use crate::lock::beyond::{Beyond, Others};
use crate::lock::descriptors::{LockedFile, holder_of};
use crate::process::fork::PerProcess;
use crate::process::notice;
use crate::process::wait::Wait;
use crate::sys::{self, Hold, Status, code, unless_absent};

/// Offset of the gate: after the end of any metadata document.
const FIRST: i64 = 1 << 40;
const GATE: Range<i64> = FIRST..FIRST + 1;
/// Every chunk's byte: an empty range reaches to the highest offset.
const ALL: Range<i64> = FIRST + 1..FIRST + 1;

/// Whether the user was warned that locks are not available.
static TOLD: PerProcess<AtomicBool> = PerProcess::new(AtomicBool::default);

/// `key` relative to its anchor's directory: a store that is opened further down must lock the same
/// byte. `None` for the anchor itself.
pub(crate) fn relative<'a>(anchor: &str, key: &'a str) -> Option<&'a str> {
    let directory = anchor.rfind('/').map_or(0, |slash| slash + 1);
    match anchor == key {
        true => None,
        false => Some(key.strip_prefix(&anchor[..directory]).unwrap_or(key)),
    }
}

/// Locks the byte of `chunk` in the anchor at `path`, or everything if there is no chunk.
///
/// Nothing if this file system or this file has no locks for this user: the caller then excludes
/// only other threads of this process.
pub(crate) fn lock(path: &CStr, chunk: Option<&str>, others: Others) -> io::Result<Beyond> {
    let what = || path.to_string_lossy().into_owned();
    let mut wait = Wait::new(&what);
    loop {
        let (opened, hold) = open(path);
        let opened = match unless_absent(opened) {
            Err(error) => return refused(path, error),
            Ok(opened) => opened,
        };
        let Some(mut anchor) = opened else {
            // If chunks were locked by their directory, they would wait for each other.
            if chunk.is_some() {
                return Ok(Beyond::NoAnchor);
            }
            match lock_creation(path, others, &mut wait)? {
                Creation::Locked(held) => {
                    return Ok(Beyond::Locked(held, path.to_owned(), None));
                }
                Creation::Impossible => return Ok(Beyond::Nothing),
                Creation::Done => continue,
            }
        };
        if let Err(error) = lock_in(&mut anchor, hold, chunk, others, &mut wait) {
            return refused(path, error);
        }
        let now = SystemTime::now();
        if let Some(status) = still(path, anchor.file()?)? {
            return Ok(Beyond::Locked(anchor, path.to_owned(), status.version(now)));
        }
    }
}

/// The anchor, and the kind of lock that is possible on it.
fn open(path: &CStr) -> (io::Result<LockedFile>, Hold) {
    let with = |flags| LockedFile::open(|| sys::open(path, flags));
    match with(sys::CHANGE) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            (with(sys::READ), Hold::Shared)
        }
        opened => (opened, Hold::Exclusive),
    }
}

fn lock_in(
    anchor: &mut LockedFile,
    hold: Hold,
    chunk: Option<&str>,
    others: Others,
    wait: &mut Wait<'_>,
) -> io::Result<()> {
    // A thread that holds another chunk of this anchor has already locked the file.
    if hold == Hold::Shared && others != Others::OfThisAnchor {
        anchor.lock_whole(wait)?;
    }
    match chunk {
        None => lock_all(anchor, hold, wait),
        Some(chunk) => lock_chunk(anchor, hold, chunk, others, wait),
    }
}

/// Continues without a lock if locks are not supported; any other error is returned.
fn refused(path: &CStr, error: io::Error) -> io::Result<Beyond> {
    use io::ErrorKind::{ExecutableFileBusy, IsADirectory, ReadOnlyFilesystem};
    let (code, kind) = (error.raw_os_error(), error.kind());
    unless_refused::<()>(Err(error))?;
    // If the file cannot be written either, no change can be lost.
    let is_read_only = matches!(kind, ReadOnlyFilesystem | IsADirectory | ExecutableFileBusy);
    if !is_read_only && !TOLD.get().swap(true, Ordering::Relaxed) {
        let reason = io::Error::from_raw_os_error(code.unwrap_or(0)).to_string();
        notice::keep(
            notice::NoticeKind::LostUpdate,
            format!(
                "{} cannot be locked ({}): if two processes change parts of one chunk, or its \
                 metadata, at the same moment, one change can be lost. Threads of one process are safe. \
                 Locks need a file system that supports them, and permission to read the metadata",
                path.to_string_lossy(),
                reason.split(" (os error").next().unwrap_or(&reason),
            ),
        );
    }
    Ok(Beyond::Nothing)
}

/// Locks an anchor with all of its chunks.
pub(crate) fn lock_all(anchor: &mut LockedFile, hold: Hold, wait: &mut Wait<'_>) -> io::Result<()> {
    anchor.lock_bytes(GATE, hold, wait)?;
    anchor.lock_bytes(ALL, hold, wait)
}

fn lock_chunk(
    anchor: &mut LockedFile,
    hold: Hold,
    chunk: &str,
    others: Others,
    wait: &mut Wait<'_>,
) -> io::Result<()> {
    // The thread has locked the file for its other chunk, and would wait for itself.
    if sys::LOCKS_ARE_WHOLE && others == Others::OfThisAnchor {
        return Ok(());
    }
    let byte = FIRST + 1 + (hash(chunk) >> 3) as i64;
    // Otherwise a thread that holds another chunk would deadlock with a thread that holds the gate.
    if others != Others::OfThisAnchor {
        let file = anchor.file()?;
        while !sys::is_free(file, &GATE)? {
            wait.pause(|| holder_of(file))?;
        }
    }
    anchor.lock_bytes(byte..byte + 1, hold, wait)
}

/// FNV-1a, mixed. It is part of the protocol, so it cannot be the standard library's hash.
fn hash(chunk: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    sys::mix(chunk.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

enum Creation {
    Locked(LockedFile),
    /// Another process has created the anchor: the file itself can be locked.
    Done,
    Impossible,
}

/// Locks the creation of the anchor at `path`, whose directory has to exist.
///
/// This lock is coarser than the keys it stands for, so a thread that holds another lock never
/// waits for it.
fn lock_creation(path: &CStr, others: Others, wait: &mut Wait<'_>) -> io::Result<Creation> {
    let lock = sys::creation_lock(path)?;
    let opened = LockedFile::open(|| sys::open_creation_lock(&lock));
    let Some(Some(mut held)) = unless_refused(unless_absent(opened))? else {
        return Ok(Creation::Impossible);
    };
    let locked = match others {
        Others::None => held.lock_whole(wait).map(|()| true),
        _ => held.try_lock_whole(),
    };
    if unless_refused(locked)? != Some(true) {
        return Ok(Creation::Impossible);
    }
    if unless_absent(sys::status_at(path))?.is_some() || !is_still(&lock, held.file()?)? {
        return Ok(Creation::Done);
    }
    Ok(Creation::Locked(held))
}

pub(crate) fn is_still(path: &CStr, file: &File) -> io::Result<bool> {
    Ok(still(path, file)?.is_some())
}

/// The status of `file`, if `path` still names it.
fn still(path: &CStr, file: &File) -> io::Result<Option<Status>> {
    let named = unless_absent(sys::status_at(path))?;
    let opened = sys::status_of(file)?;
    Ok(named.is_some_and(|named| named.identity() == opened.identity()).then_some(opened))
}

/// `None` if the error says that locks are not supported here; any other error is returned.
pub(crate) fn unless_refused<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if error.raw_os_error().is_some_and(|code| code::LOCK_REFUSALS.contains(&code)) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
