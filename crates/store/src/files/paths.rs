//! Paths of files and their directories.

use std::ffi::{CStr, OsStr};
use std::io;
use std::path::{Path, PathBuf};

use crate::store::Durability;
use crate::sys;

/// The store id of a resolved path.
pub(crate) fn id_of(path: &Path) -> String {
    match path.to_str() {
        Some(text) => format!("file://{}", if text == "/" { "" } else { text }),
        // A lossy conversion could give two paths the same id.
        None => format!("file-bytes:{:?}", path.as_os_str()),
    }
}

/// `path` made absolute; links are resolved in the part that exists.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let absolute = if path.as_os_str().is_empty() {
        std::env::current_dir()
    } else {
        std::path::absolute(path)
    };
    let absolute = absolute.unwrap_or_else(|_| path.to_path_buf());
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = absolute.as_path();
    loop {
        if let Ok(mut found) = existing.canonicalize() {
            for name in missing.iter().rev() {
                if *name == ".." {
                    found.pop();
                } else {
                    found.push(name)
                }
            }
            return found;
        }
        let last = existing.components().next_back().map(std::path::Component::as_os_str);
        match (existing.parent(), last) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                existing = parent;
            }
            _ => return absolute,
        }
    }
}

fn as_path(path: &CStr) -> &Path {
    Path::new(sys::os_str(path))
}

/// The path of the directory of a file.
pub(crate) fn directory_of(path: &CStr) -> &Path {
    let path = as_path(path);
    path.parent().unwrap_or(path)
}

pub(crate) fn make_parents(path: &CStr, durability: Durability) -> io::Result<()> {
    make_directory(directory_of(path), durability)
}

/// Creates `directory` and its parents; directories that exist by then are accepted.
fn make_directory(directory: &Path, durability: Durability) -> io::Result<()> {
    let made = match std::fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(parent) = directory.parent() else { return Err(error) };
            make_directory(parent, durability)?;
            std::fs::create_dir(directory)
        }
        result => result,
    };
    match made {
        Ok(()) if durability == Durability::Fsync => {
            directory.parent().map_or(Ok(()), sys::sync_directory)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// Syncs the directory of `path`, so that its names are durable.
pub(crate) fn sync_directory_of(path: &CStr) -> io::Result<()> {
    sys::sync_directory(directory_of(path))
}
