//! Files in a directory of a store that are not values: leftovers of ours, and files of others.
//!
//! Listings hide both. Links are not followed here: their targets are not deleted with the store.

use std::ffi::{CString, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::{Result, StoreError};
use crate::files::directory::{Directory, Entry, FileKind, c_name};
use crate::files::partial::{self, Leftover, LockSpace};
use crate::local::deletion;
use crate::store::below;

fn failed(operation: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |source| StoreError::Io { operation, path: path.display().to_string(), source }
}

/// A file or directory below `directory` that is neither a value nor a leftover of ours.
pub(crate) fn foreign(directory: &Path) -> Result<Option<OsString>> {
    let search = || match Directory::open(directory)? {
        Some(opened) => foreign_in(&opened),
        None => Ok(None),
    };
    let found = search().map_err(failed("list", directory))?;
    Ok(found.map(PathBuf::into_os_string))
}

fn foreign_in(directory: &Directory) -> io::Result<Option<PathBuf>> {
    for entry in directory.entries()? {
        // Files that only a listing of values skips: a pipe, or a dangling link.
        let is_no_value = match entry.kind {
            FileKind::Other => true,
            FileKind::Link => !directory.leads_anywhere(&entry.name),
            FileKind::File | FileKind::Directory => false,
        };
        let is_ours = partial::leftover(entry.name.to_bytes()).is_some();
        if entry.is_foreign() || (is_no_value && !is_ours) {
            return Ok(Some(entry.name().into()));
        }
        // A directory that was set aside was a complete node, with all of its content.
        if !is_ours
            && entry.kind == FileKind::Directory
            && let Some(inside) = directory.inside(&entry.name, false)?
            && let Some(found) = foreign_in(&inside)?
        {
            return Ok(Some(Path::new(entry.name()).join(found)));
        }
    }
    Ok(None)
}

/// Leftovers below `directory`, which is the directory of `prefix`.
pub(crate) fn list(directory: &Path, prefix: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut search = || match Directory::open(directory)? {
        Some(opened) => list_in(&opened, prefix, &mut found),
        None => Ok(()),
    };
    search().map_err(failed("list", directory))?;
    found.sort_unstable();
    Ok(found)
}

fn list_in(directory: &Directory, prefix: &str, found: &mut Vec<String>) -> io::Result<()> {
    for entry in directory.entries()? {
        let Some(name) = entry.name().to_str() else { continue };
        if is_leftover(&entry) {
            found.push(below(prefix, name));
        } else if entry.kind == FileKind::Directory
            && !entry.is_foreign()
            && let Some(inside) = directory.inside(&entry.name, false)?
        {
            list_in(&inside, &below(prefix, name), found)?;
        }
    }
    Ok(())
}

fn is_leftover(entry: &Entry) -> bool {
    match partial::leftover(entry.name.to_bytes()) {
        Some(Leftover::File) => entry.kind == FileKind::File,
        Some(Leftover::FileOrDirectory) => {
            matches!(entry.kind, FileKind::File | FileKind::Directory)
        }
        None => false,
    }
}

/// Removes the leftover `name` of the store in `root` if it is unchanged for `least_age`; without
/// an age, if only the holder of its key's lock writes to it, which the caller is.
pub(crate) fn remove(root: &Path, name: &str, least_age: Option<Duration>) -> Result<bool> {
    let path = root.join(name);
    remove_in(root, name, least_age).map_err(failed("delete", &path))
}

fn remove_in(root: &Path, name: &str, least_age: Option<Duration>) -> io::Result<bool> {
    let mut names = name.split('/').map(|name| c_name(name.as_ref()));
    let Some(last) = names.next_back().transpose()? else { return Ok(false) };
    let Some(mut directory) = Directory::open(root)? else { return Ok(false) };
    for name in names {
        let Some(next) = directory.inside(&name?, false)? else { return Ok(false) };
        directory = next;
    }
    let Some(status) = directory.status(&last)? else { return Ok(false) };
    let entry = Entry { name: last, kind: status.kind() };
    let is_unused = match least_age {
        Some(least_age) => {
            let age = SystemTime::now().duration_since(status.modified()).unwrap_or_default();
            age >= least_age
        }
        None => {
            let space = LockSpace::of_device(status.device());
            partial::is_of_holder(entry.name.to_bytes(), space)
        }
    };
    if !is_leftover(&entry) || !is_unused {
        return Ok(false);
    }
    match entry.kind {
        FileKind::Directory => remove_directory(&directory, &entry.name),
        _ => directory.remove_file(&entry.name),
    }
}

/// Deletes a directory that was set aside; returns whether it is gone.
fn remove_directory(directory: &Directory, name: &CString) -> io::Result<bool> {
    let Some(inside) = directory.inside(name, false)? else { return Ok(false) };
    deletion::empty_all(&inside)?;
    directory.remove_empty(name)
}
