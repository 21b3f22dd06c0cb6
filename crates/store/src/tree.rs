//! Walking, listing and deleting directories: the calls that take as long as there are files.

use std::fs::{self, DirEntry, FileType};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::key::check_key;
use crate::local::unless_absent;
use crate::{Listing, Result, StoreError, replace};

/// How often a directory is emptied that others still had open.
const ATTEMPTS: usize = 16;

fn failed(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { operation, path: path.display().to_string(), source }
}

/// What a directory holds, links not followed; nothing where there is no such directory.
fn entries(directory: &Path) -> io::Result<Vec<(DirEntry, FileType)>> {
    let Some(listed) = unless_absent(fs::read_dir(directory))? else { return Ok(Vec::new()) };
    let mut entries = Vec::new();
    for entry in listed {
        let entry = entry?;
        if let Some(kind) = unless_absent(entry.file_type())? {
            entries.push((entry, kind));
        }
    }
    Ok(entries)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Value,
    Directory,
}

/// What an entry stands for in a store, links followed; `None` for what is no part of one.
fn kind_of(entry: &DirEntry, kind: FileType) -> io::Result<Option<Kind>> {
    let kind = if kind.is_symlink() {
        match fs::metadata(entry.path()) {
            Ok(target) => target.file_type(),
            // Links that dangle or go round hold nothing.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP)
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
    } else {
        kind
    };
    Ok(match (kind.is_file(), kind.is_dir()) {
        (true, _) => Some(Kind::Value),
        (_, true) => Some(Kind::Directory),
        _ => None,
    })
}

/// The entry's name where it can be part of a key: the rest, leftovers among it, is hidden.
fn name_of(entry: &DirEntry) -> Option<String> {
    entry.file_name().into_string().ok().filter(|name| check_key(name).is_ok())
}

pub(crate) fn list_dir(directory: &Path) -> Result<Listing> {
    let mut listing = Listing::default();
    let list = |listing: &mut Listing| -> io::Result<()> {
        for (entry, kind) in entries(directory)? {
            let Some(name) = name_of(&entry) else { continue };
            match kind_of(&entry, kind)? {
                Some(Kind::Value) => listing.keys.push(name),
                Some(Kind::Directory) => listing.prefixes.push(name),
                None => {}
            }
        }
        Ok(())
    };
    list(&mut listing).map_err(|source| failed("list", directory, source))?;
    listing.keys.sort_unstable();
    listing.prefixes.sort_unstable();
    Ok(listing)
}

/// Shows `visit` the key and path of every value below `directory`, in no order.
///
/// Linked directories are entered, except where one lies inside itself.
pub(crate) fn walk(
    directory: &Path,
    prefix: &str,
    visit: &mut dyn FnMut(&str, &Path) -> io::Result<()>,
) -> Result<()> {
    let mut inside = Vec::new();
    walk_into(directory, prefix, &mut inside, visit)
        .map_err(|source| failed("list", directory, source))
}

fn walk_into(
    directory: &Path,
    prefix: &str,
    inside: &mut Vec<(u64, u64)>,
    visit: &mut dyn FnMut(&str, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let Some(status) = unless_absent(fs::metadata(directory))? else { return Ok(()) };
    let identity = (status.dev(), status.ino());
    if inside.contains(&identity) {
        return Ok(());
    }
    inside.push(identity);
    for (entry, kind) in entries(directory)? {
        let Some(name) = name_of(&entry) else { continue };
        let key = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        match kind_of(&entry, kind)? {
            Some(Kind::Value) => visit(&key, &entry.path())?,
            Some(Kind::Directory) => walk_into(&entry.path(), &key, inside, visit)?,
            None => {}
        }
    }
    inside.pop();
    Ok(())
}

/// Deletes what is below `directory`, it (unless it is `root`), and what that leaves empty above.
///
/// A directory is renamed to a leftover first: it is there as a whole or not at all, whoever looks
/// when and whatever ends the deletion, which takes as long as there are files.
/// Counts values, not leftovers. Links are removed and not entered, so that nothing outside of the
/// store is touched; one in the place of `directory` itself counts as the value it is.
/// Where it cannot be renamed, what is called one of `first` goes first.
pub(crate) fn delete(root: &Path, directory: &Path, first: &[&str]) -> Result<u64> {
    let mut count = 0;
    delete_into(root, directory, first, &mut count)
        .map_err(|source| failed("delete", directory, source))?;
    Ok(count)
}

fn delete_into(root: &Path, directory: &Path, first: &[&str], count: &mut u64) -> io::Result<()> {
    let Some(status) = unless_absent(fs::symlink_metadata(directory))? else { return Ok(()) };
    if status.is_symlink() && directory != root {
        let to_value = fs::metadata(directory).is_ok_and(|target| !target.is_dir());
        if !to_value && unless_absent(fs::remove_file(directory))?.is_some() {
            *count += 1;
        }
    } else if fs::metadata(directory).is_ok_and(|target| target.is_dir()) {
        match if directory == root { None } else { set_aside(directory) } {
            Some(aside) => {
                // A writer that had found the directory by its old name may still put a file there.
                for _ in 0..ATTEMPTS {
                    empty(&aside, count)?;
                    if remove_if_empty(&aside)? {
                        break;
                    }
                }
            }
            None => {
                for name in first {
                    let gone = unless_absent(fs::remove_file(directory.join(name)))?;
                    *count += u64::from(gone.is_some());
                }
                empty(directory, count)?;
            }
        }
    } else {
        return Ok(());
    }
    for emptied in directory.ancestors().take_while(|above| *above != root) {
        if !remove_if_empty(emptied)? {
            break;
        }
    }
    Ok(())
}

/// The directory under a name that listings hide; `None` where it cannot be renamed (a place where
/// something is mounted, a name that gets too long), and where it is gone.
fn set_aside(directory: &Path) -> Option<PathBuf> {
    let aside = replace::unique_partial(directory);
    fs::rename(directory, &aside).ok().map(|()| aside)
}

/// Removes everything in `directory`, and leaves what others put there meanwhile.
fn empty(directory: &Path, count: &mut u64) -> io::Result<()> {
    for (entry, kind) in entries(directory)? {
        let path = entry.path();
        if kind.is_dir() {
            empty(&path, count)?;
            remove_if_empty(&path)?;
        } else if unless_absent(fs::remove_file(&path))?.is_some() {
            *count += u64::from(name_of(&entry).is_some());
        }
    }
    Ok(())
}

/// Whether the directory is gone.
fn remove_if_empty(directory: &Path) -> io::Result<bool> {
    match unless_absent(fs::remove_dir(directory)) {
        Ok(_) => Ok(true),
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::ENOTEMPTY | libc::EEXIST | libc::EBUSY | libc::EINVAL)
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
