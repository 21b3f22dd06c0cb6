//! Deleting a directory of a store atomically, and without the files of others.
//!
//! The directory is first renamed to a name that listings hide: for readers the deletion is atomic,
//! even if the process is killed while it deletes the files. Before that, every directory below is
//! checked: if one of them may not be changed, nothing is deleted. If the deletion still fails (a
//! file system that breaks down), the directory gets its own name back. Documents are deleted
//! before chunks, so that the rest is not an array that lacks chunks.
//!
//! Everything is opened relative to descriptors ([`Directory`]), so that a directory that is
//! replaced by a link meanwhile is not followed. Links are removed, but not entered. Files that no
//! key can name, and that are not leftovers of ours, belong to others and stay, with the
//! directories around them.

use std::ffi::{CStr, CString};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::files::directory::{Directory, Entry, FileKind, c_name, os_str};
use crate::files::partial;
use crate::sys::code;

/// How often a directory is emptied again because other writers still had it open.
const ATTEMPTS: usize = 16;

/// A failed deletion: its path, relative to the directory that passes the error on.
#[derive(Debug)]
struct Stopped {
    at: PathBuf,
    source: io::Error,
}

impl From<io::Error> for Stopped {
    fn from(source: io::Error) -> Self {
        Self { at: PathBuf::new(), source }
    }
}

impl Stopped {
    fn below(self, name: &CStr) -> Self {
        // Joining an empty path would add a slash.
        let at = Path::new(os_str(name));
        let at = if self.at.as_os_str().is_empty() { at.into() } else { at.join(&self.at) };
        Self { at, ..self }
    }
}

type Attempt<T> = std::result::Result<T, Stopped>;

/// Deletes everything below `directory`, the directory itself (unless it is `root`), and parent
/// directories that become empty.
///
/// Returns the number of values, without leftovers. If `directory` is a link, the link is the value
/// that is deleted.
pub(crate) fn delete(root: &Path, directory: &Path) -> Result<u64> {
    let mut count = 0;
    let deleted = match directory.strip_prefix(root) {
        Ok(below) if !below.as_os_str().is_empty() => delete_below(root, below, &mut count),
        _ => delete_root(root, &mut count),
    };
    deleted.map(|()| count).map_err(|Stopped { at, source }| StoreError::Io {
        operation: "delete",
        path: root.join(at).display().to_string(),
        source,
    })
}

fn delete_root(root: &Path, count: &mut u64) -> Attempt<()> {
    let Some(directory) = Directory::open(root)? else { return Ok(()) };
    check(&directory)?;
    empty(&directory, count)
}

fn delete_below(root: &Path, below: &Path, count: &mut u64) -> Attempt<()> {
    let Some(mut parents) = Directory::open(root)?.map(|root| vec![root]) else { return Ok(()) };
    let mut names = Vec::new();
    for component in below.components() {
        let Component::Normal(name) = component else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
        };
        names.push(c_name(name)?);
    }
    let Some((last, above)) = names.split_last() else { return Ok(()) };
    for name in above {
        let Some(next) = parents.last().map(|parent| parent.inside(name, true)).transpose()? else {
            return Ok(());
        };
        let Some(next) = next else { return Ok(()) };
        parents.push(next);
    }
    let Some(parent) = parents.last() else { return Ok(()) };
    let within = |stopped: Stopped| above.iter().rev().fold(stopped, |all, name| all.below(name));
    delete_name(parent, last, count).map_err(within)?;
    for (parent, name) in parents.iter().zip(&names).rev() {
        if !parent.remove_empty(name).map_err(|error| Stopped::from(error).below(name))? {
            break;
        }
    }
    Ok(())
}

/// Deletes `name` in `parent`, if it is a directory or a link to one.
fn delete_name(parent: &Directory, name: &CStr, count: &mut u64) -> Attempt<()> {
    let at = |stopped: Stopped| stopped.below(name);
    for _ in 0..ATTEMPTS {
        let status = parent.status(name).map_err(|error| at(error.into()))?;
        if status.is_some_and(|status| status.is_link()) {
            // A link to a file is a value, and not a prefix of others.
            if !parent.leads_to_value(name)
                && parent.remove_file(name).map_err(|error| at(error.into()))?
            {
                *count += 1;
            }
            return Ok(());
        }
        let opened = parent.inside(name, false).map_err(|error| at(error.into()))?;
        let Some(directory) = opened else { return Ok(()) };
        let has_foreign = check(&directory).map_err(at)?;
        let aside = if has_foreign { None } else { set_aside(parent, name).map_err(at)? };
        let Some(aside) = aside else {
            return empty(&directory, count).map_err(at);
        };
        let moved = parent.status(&aside)?.map(|status| status.identity());
        if moved != Some(directory.own_status()?.identity()) {
            // Another directory took the name between two calls: check again.
            parent.rename(&aside, name)?;
            continue;
        }
        let emptied = empty_and_remove(parent, &aside, &directory, count);
        return emptied.map_err(|stopped| match parent.rename(&aside, name) {
            Ok(()) => stopped.below(name),
            // Another directory or file has taken the name.
            Err(_) => stopped.below(&aside),
        });
    }
    Err(at(io::Error::from_raw_os_error(code::BUSY).into()))
}

fn empty_and_remove(
    parent: &Directory,
    aside: &CStr,
    directory: &Directory,
    count: &mut u64,
) -> Attempt<()> {
    // A writer that opened the directory by its old name may still put a file into it.
    for _ in 0..ATTEMPTS {
        empty(directory, count)?;
        if parent.remove_empty(aside)? {
            break;
        }
    }
    Ok(())
}

/// Renames the directory to a name that listings hide. `None` if it has to be deleted in place (a
/// mount point, or a name that would be too long).
fn set_aside(parent: &Directory, name: &CStr) -> Attempt<Option<CString>> {
    let aside = CString::new(partial::unique(name.to_bytes()))
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    match parent.rename(name, &aside) {
        Ok(()) => Ok(Some(aside)),
        // A directory that may not be renamed may not be removed either.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Err(error.into())
        }
        Err(_) => Ok(None),
    }
}

/// An error if something below may not be removed; returns whether files of others are there.
fn check(directory: &Directory) -> Attempt<bool> {
    let mut has_foreign = false;
    let mut holds_any = false;
    for entry in directory.entries()? {
        holds_any = true;
        if entry.is_foreign() {
            has_foreign = true;
        } else if entry.kind == FileKind::Directory
            && let Some(inside) = directory.inside(&entry.name, false).map_err(at(&entry))?
        {
            has_foreign |= check(&inside).map_err(|stopped| stopped.below(&entry.name))?;
        }
    }
    if holds_any {
        directory.check_changeable()?;
    }
    Ok(has_foreign)
}

/// Removes the content of a directory that was set aside; files of others stay.
pub(crate) fn empty_all(directory: &Directory) -> io::Result<()> {
    empty(directory, &mut 0).map_err(|stopped| stopped.source)
}

/// Removes everything in `directory` that is ours; files that others add meanwhile stay.
fn empty(directory: &Directory, count: &mut u64) -> Attempt<()> {
    let mut entries = directory.entries()?;
    entries.sort_by_key(|entry| !partial::DOCUMENTS.contains(&entry.name.to_bytes()));
    for entry in entries {
        if entry.is_foreign() {
            continue;
        }
        if entry.kind == FileKind::Directory
            && let Some(inside) = directory.inside(&entry.name, false).map_err(at(&entry))?
        {
            empty(&inside, count).map_err(|stopped| stopped.below(&entry.name))?;
            directory.remove_empty(&entry.name).map_err(at(&entry))?;
        } else if directory.remove_file(&entry.name).map_err(at(&entry))? {
            *count += u64::from(partial::leftover(entry.name.to_bytes()).is_none());
        }
    }
    Ok(())
}

fn at(entry: &Entry) -> impl Fn(io::Error) -> Stopped {
    |error| Stopped::from(error).below(&entry.name)
}
