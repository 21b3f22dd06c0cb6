//! Walking and listing directories by path; links are followed, as in reads.

use std::collections::HashMap;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::key::check_key;
use crate::store::{Listing, below};
use crate::sys::{c_name, is_dangling, status_at, unless_absent};

/// Most paths through two links or more to one directory in a walk. One link for each path is what
/// many arrays with the same chunks have.
const MOST_LINKED_PATHS: u32 = 1000;

pub(super) fn failed(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { operation, path: path.display().to_string(), source }
}

/// The entries of a directory, links not followed; empty if there is no such directory.
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
pub(super) enum EntryKind {
    Value,
    Directory,
}

/// What an entry is to a store, links followed; `None` for an entry that is neither a value nor a
/// prefix.
fn kind_of(entry: &DirEntry, kind: FileType) -> io::Result<Option<EntryKind>> {
    let kind = if kind.is_symlink() {
        match fs::metadata(entry.path()) {
            Ok(target) => target.file_type(),
            // Dangling and circular links contain nothing.
            Err(error) if is_dangling(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
    } else {
        kind
    };
    Ok(match (kind.is_file(), kind.is_dir()) {
        (true, _) => Some(EntryKind::Value),
        (_, true) => Some(EntryKind::Directory),
        _ => None,
    })
}

/// The entry's name if it can be part of a key; all other names, such as leftovers, are hidden.
fn name_of(entry: &DirEntry) -> Option<String> {
    entry.file_name().into_string().ok().filter(|name| check_key(name).is_ok())
}

/// An entry of a directory that can be part of a key.
pub(super) struct Named {
    pub name: String,
    pub kind: EntryKind,
    pub is_link: bool,
    pub path: PathBuf,
}

/// The entries of a directory that are values or prefixes, in no order.
pub(super) fn named_entries(directory: &Path) -> io::Result<Vec<Named>> {
    let mut named = Vec::new();
    for (entry, file_type) in entries(directory)? {
        let Some(name) = name_of(&entry) else { continue };
        let Some(kind) = kind_of(&entry, file_type)? else { continue };
        named.push(Named { name, kind, is_link: file_type.is_symlink(), path: entry.path() });
    }
    Ok(named)
}

pub(crate) fn list_dir(directory: &Path) -> Result<Listing> {
    let mut listing = Listing::default();
    let list = |listing: &mut Listing| -> io::Result<()> {
        for entry in named_entries(directory)? {
            match entry.kind {
                EntryKind::Value => listing.keys.push(entry.name),
                EntryKind::Directory => listing.prefixes.push(entry.name),
            }
        }
        Ok(())
    };
    list(&mut listing).map_err(|source| failed("list", directory, source))?;
    listing.keys.sort_unstable();
    listing.prefixes.sort_unstable();
    Ok(listing)
}

/// Calls `visit` with the key and path of every value below `directory`, in no order.
///
/// Linked directories are entered, unless a directory is inside itself. Links to directories with
/// links make ever more paths to one directory: too many of them are an error.
pub(crate) fn walk(
    directory: &Path,
    prefix: &str,
    visit: &mut dyn FnMut(&str, &Path) -> io::Result<()>,
) -> Result<()> {
    let mut walk = Walk { inside: Descent::default(), visit };
    walk.enter(directory, prefix, 0).map_err(|source| failed("list", directory, source))
}

/// The directories that a walk is in: links make it end.
#[derive(Default)]
pub(super) struct Descent {
    /// By device and inode, the deepest last.
    directories: Vec<(u64, u64)>,
    /// How many paths through two links or more have led to a directory.
    linked: HashMap<(u64, u64), u32>,
}

impl Descent {
    /// Whether to enter a directory at the end of a path with so many links; it is missing, or
    /// contains itself, if not.
    pub(super) fn enter(&mut self, directory: &Path, links: u32) -> io::Result<bool> {
        let status = c_name(directory.as_os_str()).and_then(|name| status_at(&name));
        let Some(status) = unless_absent(status)? else { return Ok(false) };
        let identity = status.identity();
        if self.directories.contains(&identity) {
            return Ok(false);
        }
        if links >= 2 {
            let paths = self.linked.entry(identity).or_default();
            *paths += 1;
            if *paths > MOST_LINKED_PATHS {
                let path = directory.display();
                return Err(io::Error::other(format!(
                    "more than {MOST_LINKED_PATHS} paths through symbolic links lead to the \
                     directory {path}"
                )));
            }
        }
        self.directories.push(identity);
        Ok(true)
    }

    pub(super) fn leave(&mut self) {
        self.directories.pop();
    }
}

struct Walk<'v> {
    inside: Descent,
    visit: &'v mut dyn FnMut(&str, &Path) -> io::Result<()>,
}

impl Walk<'_> {
    fn enter(&mut self, directory: &Path, prefix: &str, links: u32) -> io::Result<()> {
        if !self.inside.enter(directory, links)? {
            return Ok(());
        }
        for entry in named_entries(directory)? {
            let key = below(prefix, &entry.name);
            match entry.kind {
                EntryKind::Value => (self.visit)(&key, &entry.path)?,
                EntryKind::Directory => {
                    self.enter(&entry.path, &key, links + u32::from(entry.is_link))?;
                }
            }
        }
        self.inside.leave();
        Ok(())
    }
}
