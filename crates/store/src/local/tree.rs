//! Walking and listing directories by path; links are followed, as in reads.

use std::collections::HashMap;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::Path;

use crate::error::{Result, StoreError};
use crate::key::check_key;
use crate::store::Listing;
use crate::sys::{c_name, is_dangling, status_at, unless_absent};

/// Most paths through two links or more to one directory in a walk. One link for each path is what
/// many arrays with the same chunks have.
const MOST_LINKED_PATHS: u32 = 1000;

fn failed(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
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
enum EntryKind {
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

pub(crate) fn list_dir(directory: &Path) -> Result<Listing> {
    let mut listing = Listing::default();
    let list = |listing: &mut Listing| -> io::Result<()> {
        for (entry, kind) in entries(directory)? {
            let Some(name) = name_of(&entry) else { continue };
            match kind_of(&entry, kind)? {
                Some(EntryKind::Value) => listing.keys.push(name),
                Some(EntryKind::Directory) => listing.prefixes.push(name),
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

/// Calls `visit` with the key and path of every value below `directory`, in no order.
///
/// Linked directories are entered, unless a directory is inside itself. Links to directories with
/// links make ever more paths to one directory: too many of them are an error.
pub(crate) fn walk(
    directory: &Path,
    prefix: &str,
    visit: &mut dyn FnMut(&str, &Path) -> io::Result<()>,
) -> Result<()> {
    let mut walk = Walk { inside: Vec::new(), linked: HashMap::new(), visit };
    walk.enter(directory, prefix, 0).map_err(|source| failed("list", directory, source))
}

struct Walk<'v> {
    /// The directories that the current one lies in, by device and inode.
    inside: Vec<(u64, u64)>,
    /// How many paths through two links or more have led to a directory.
    linked: HashMap<(u64, u64), u32>,
    visit: &'v mut dyn FnMut(&str, &Path) -> io::Result<()>,
}

impl Walk<'_> {
    fn enter(&mut self, directory: &Path, prefix: &str, links: u32) -> io::Result<()> {
        let status = c_name(directory.as_os_str()).and_then(|name| status_at(&name));
        let Some(status) = unless_absent(status)? else { return Ok(()) };
        let identity = status.identity();
        if self.inside.contains(&identity) {
            return Ok(());
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
        self.inside.push(identity);
        for (entry, kind) in entries(directory)? {
            let Some(name) = name_of(&entry) else { continue };
            let key = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            match kind_of(&entry, kind)? {
                Some(EntryKind::Value) => (self.visit)(&key, &entry.path())?,
                Some(EntryKind::Directory) => {
                    self.enter(&entry.path(), &key, links + u32::from(kind.is_symlink()))?;
                }
                None => {}
            }
        }
        self.inside.pop();
        Ok(())
    }
}
