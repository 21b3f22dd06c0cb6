//! Atomic replacement of a file: it is written to a partial file, which is then renamed.
//!
//! A writer that holds the key's lock writes to a partial file that belongs to the lock. If it is
//! killed, it leaves that one file, which the next writer replaces; listings hide it. Without a
//! lock, the name of the partial file is random, because two writers of one file would tear it
//! (`partial.rs`).
//! `O_TMPFILE` would leave nothing behind, but its file cannot be linked over an existing name.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::files::partial::{self, LockSpace};
use crate::files::paths::{make_parents, sync_directory_of};
use crate::lock::table::HeldLock;
use crate::lock::{anchor, descriptors};
use crate::process::wait::Wait;
use crate::store::Durability;
use crate::sys::{self, Hold, unless_absent};

/// How often a directory that vanishes during a write is created again.
const ATTEMPTS: usize = 16;

/// What a file is to have.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    Bytes(&'a [u8]),
    /// One after the other.
    Parts(&'a [&'a [u8]]),
    /// The first bytes of another file.
    File(&'a File, u64),
}

impl Content<'_> {
    pub(crate) fn length(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Parts(parts) => parts.iter().map(|part| part.len() as u64).sum(),
            Self::File(_, length) => length,
        }
    }
}

/// Exchanges two paths in one step, so that each has what the other had; an error of the kind
/// `Unsupported` where the system or the file system cannot.
pub fn exchange(first: &Path, second: &Path) -> io::Result<()> {
    sys::exchange(&sys::c_name(first.as_os_str())?, &sys::c_name(second.as_os_str())?)
}

/// Makes `value` the content of `path`.
///
/// `held` is the lock under which this happens, if any. If it is the lock of an anchor, the new
/// file takes it over: the next process that opens it finds it locked until the lock is released.
pub(crate) fn replace(
    path: &CStr,
    value: Content<'_>,
    durability: Durability,
    held: Option<&HeldLock>,
) -> io::Result<()> {
    let locked = held.filter(|held| held.is_process_wide());
    let alone = locked.filter(|held| !held.is_whole() || is_document(path));
    let device = alone.map(HeldLock::device).transpose()?.flatten();
    let space = device.and_then(LockSpace::of_device);
    let mut partial = partial_name(path, space)?;
    let hands_over = locked.filter(|held| held.is_whole());
    let mut written = write_partial(&partial, value, durability, hands_over.is_some());
    if written.as_ref().is_err_and(is_taken) {
        // The name is taken by something that a file cannot replace, or is taken again and again.
        partial = partial_name(path, None)?;
        written = write_partial(&partial, value, durability, hands_over.is_some());
    }
    for _ in 0..ATTEMPTS {
        match &written {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => break,
        }
        // The directory existed and was removed, and the array with it.
        if held.is_some_and(|held| held.has_lost_anchor().unwrap_or(false)) {
            break;
        }
        make_parents(path, durability)?;
        written = write_partial(&partial, value, durability, hands_over.is_some());
    }
    let renamed = written.and_then(|next| sys::rename(&partial, path).map(|()| next));
    match renamed {
        Ok(next) => {
            if let (Some(next), Some(held)) = (next, hands_over) {
                held.hand_over(next);
            }
        }
        Err(error) => {
            let _ = sys::unlink(&partial);
            return Err(error);
        }
    }
    match durability {
        Durability::Process => Ok(()),
        Durability::Fsync => sync_directory_of(path),
    }
}

/// `space` is that of the lock under which the file is written, if any.
fn partial_name(path: &CStr, space: Option<LockSpace>) -> io::Result<CString> {
    let path = path.to_bytes();
    let of_key = space.and_then(|space| partial::of_key(path, space));
    let name = of_key.unwrap_or_else(|| partial::unique(path));
    CString::new(name).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Whether a file can only be an anchor. A file that is locked as an anchor, but is also a chunk
/// written under its own key, is not protected from a writer that holds the lock of its array.
fn is_document(path: &CStr) -> bool {
    let name = path.to_bytes().rsplit(partial::is_separator).next();
    name.is_some_and(|name| partial::DOCUMENTS.contains(&name))
}

/// Writes the file. An anchor is locked before any process can find it, and stays locked.
fn write_partial(
    partial: &CStr,
    value: Content<'_>,
    durability: Durability,
    as_anchor: bool,
) -> io::Result<Option<descriptors::LockedFile>> {
    if as_anchor {
        let mut held = descriptors::LockedFile::open(|| open_partial(partial))?;
        let what = || partial.to_string_lossy().into_owned();
        anchor::lock_all(&mut held, Hold::Exclusive, &mut Wait::new(&what))?;
        fill(held.file()?, value, durability)?;
        // A server stores the bytes when a file is closed, and may have no room then; the locked
        // one stays open. A mode that this process set may not let it open the file again.
        if let Ok(again) = sys::open(partial, sys::CHANGE | sys::NO_FOLLOW) {
            sys::close(again)?;
        }
        return Ok(Some(held));
    }
    let file = open_partial(partial)?;
    fill(&file, value, durability)?;
    sys::close(file)?;
    Ok(None)
}

fn fill(mut file: &File, value: Content<'_>, durability: Durability) -> io::Result<()> {
    match value {
        Content::Bytes(bytes) => file.write_all(bytes)?,
        Content::Parts(parts) => parts.iter().try_for_each(|part| file.write_all(part))?,
        Content::File(from, length) => sys::copy(from, length, file)?,
    }
    let length = sys::status_of(file)?.len();
    if length != value.length() {
        let problem = format!("{length} of {} bytes were written", value.length());
        return Err(io::Error::new(io::ErrorKind::WriteZero, problem));
    }
    match durability {
        Durability::Process => Ok(()),
        Durability::Fsync => file.sync_all(),
    }
}

/// Creates the file. An existing file of that name is removed and never written to: it may be a
/// link, another name of some file, or a pipe.
fn open_partial(partial: &CStr) -> io::Result<File> {
    let create = || sys::open(partial, sys::NEW);
    match create() {
        Err(error) if is_taken(&error) => {
            unless_absent(sys::unlink(partial)).map_err(|_| error)?;
            create()
        }
        result => result,
    }
}

/// Whether creation failed because the name is taken.
fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

/// Renames a file or directory to a free name; an empty directory counts as free.
pub(crate) fn rename(from: &CStr, to: &CStr, durability: Durability) -> io::Result<()> {
    if let Err(error) = sys::rename_new(from, to) {
        let is_dir = |path| sys::link_status_at(path).is_ok_and(|status| status.is_dir());
        match error.kind() {
            io::ErrorKind::AlreadyExists if is_dir(from) && is_dir(to) => {
                // Replaces an empty directory, but nothing else.
                return sys::rename(from, to).map_err(|_| error);
            }
            io::ErrorKind::NotFound if unless_absent(sys::status_at(from))?.is_some() => {
                make_parents(to, durability)?;
                return sys::rename_new(from, to);
            }
            _ => return Err(error),
        }
    }
    Ok(())
}
