//! An open directory, whose entries are opened through its descriptor.
//!
//! Each call resolves a path anew, and another process may replace a directory by a link between
//! two calls. A deletion that lists by path and deletes by path would then delete the target of the
//! link. Relative to a descriptor, only one name is resolved, and a link is not followed.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::path::Path;

use crate::files::partial::{self, Leftover};
use crate::key::check_key;
use crate::sys::{self, Status, unless_absent};

pub(crate) use crate::sys::{FileKind, c_name, os_str};

/// An entry of a directory.
#[derive(Debug)]
pub(crate) struct Entry {
    pub name: CString,
    pub kind: FileKind,
}

impl Entry {
    pub(crate) fn name(&self) -> &OsStr {
        os_str(&self.name)
    }

    /// Whether this is neither the value of a key nor a leftover of ours. We never create a
    /// directory under the name of a partial file.
    pub(crate) fn is_foreign(&self) -> bool {
        match partial::leftover(self.name.to_bytes()) {
            Some(Leftover::File) => self.kind == FileKind::Directory,
            Some(Leftover::FileOrDirectory) => false,
            None => self.name().to_str().is_none_or(|name| check_key(name).is_err()),
        }
    }
}

/// An open directory.
#[derive(Debug)]
pub(crate) struct Directory(File);

impl Directory {
    /// Opens the directory at `path`, links followed; `None` if there is none.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let opened = sys::open(&c_name(path.as_os_str())?, sys::DIRECTORY);
        Ok(unless_absent(opened)?.map(Self))
    }

    /// Opens the directory `name` in this one; `None` if it is not a directory, or is a link and
    /// `follows` is false. Links in a path from the caller are followed, listed ones are not.
    pub(crate) fn inside(&self, name: &CStr, follows: bool) -> io::Result<Option<Self>> {
        let flags = sys::DIRECTORY | if follows { 0 } else { sys::NO_FOLLOW };
        match sys::open_in(&self.0, name, flags) {
            // A link; most systems say that it is not a directory.
            Err(error) if !follows && sys::is_dangling(&error) => Ok(None),
            opened => Ok(unless_absent(opened)?.map(Self)),
        }
    }

    /// The entries of the directory, in no order.
    pub(crate) fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for (name, told) in sys::names_in(&self.0)? {
            let kind = match told {
                Some(kind) => kind,
                None => match self.status(&name)? {
                    Some(status) => status.kind(),
                    None => continue,
                },
            };
            entries.push(Entry { name, kind });
        }
        Ok(entries)
    }

    /// The status of `name`, links not followed.
    pub(crate) fn status(&self, name: &CStr) -> io::Result<Option<Status>> {
        unless_absent(sys::status_in(&self.0, name, false))
    }

    /// Whether the target of the link `name` exists.
    pub(crate) fn leads_anywhere(&self, name: &CStr) -> bool {
        sys::status_in(&self.0, name, true).is_ok_and(|to| to.is_file() || to.is_dir())
    }

    /// Whether the target of the link `name` exists and is not a directory.
    pub(crate) fn leads_to_value(&self, name: &CStr) -> bool {
        sys::status_in(&self.0, name, true).is_ok_and(|status| !status.is_dir())
    }

    /// Whether the target of the link `name` is a directory.
    pub(crate) fn leads_to_directory(&self, name: &CStr) -> bool {
        sys::status_in(&self.0, name, true).is_ok_and(|status| status.is_dir())
    }

    /// The status of the directory itself.
    pub(crate) fn own_status(&self) -> io::Result<Status> {
        sys::status_of(&self.0)
    }

    /// Opens a file. A link is an error, and opening a pipe does not block.
    pub(crate) fn file(&self, name: &CStr) -> io::Result<Option<File>> {
        unless_absent(sys::open_in(&self.0, name, sys::READ | sys::NO_FOLLOW))
    }

    /// Creates a file for this user only; the name must be free.
    pub(crate) fn new_private_file(&self, name: &CStr) -> io::Result<File> {
        sys::open_in(&self.0, name, sys::NEW)
    }

    /// Opens the directory `name`, which is created for this user only if it does not exist.
    pub(crate) fn make_inside(&self, name: &CStr) -> io::Result<Self> {
        match sys::make_private_in(&self.0, name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.inside(name, false)?.ok_or_else(|| io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Lets only this user read and change the directory.
    pub(crate) fn make_private(&self) -> io::Result<()> {
        sys::make_private(&self.0)
    }

    /// Removes a file or link; returns whether it was there.
    pub(crate) fn remove_file(&self, name: &CStr) -> io::Result<bool> {
        Ok(unless_absent(sys::unlink_in(&self.0, name, false))?.is_some())
    }

    /// Removes a directory unless it has entries; returns whether it is gone.
    pub(crate) fn remove_empty(&self, name: &CStr) -> io::Result<bool> {
        use io::ErrorKind::{
            AlreadyExists, DirectoryNotEmpty, InvalidInput, NotADirectory, NotFound, ResourceBusy,
        };
        match sys::unlink_in(&self.0, name, true) {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                NotFound => Ok(true),
                // The last is the error for a link, or a file, instead of the directory.
                DirectoryNotEmpty | AlreadyExists | ResourceBusy | InvalidInput | NotADirectory => {
                    Ok(false)
                }
                _ => Err(error),
            },
        }
    }

    /// Renames `from` to `to`, and replaces a file of that name.
    pub(crate) fn rename(&self, from: &CStr, to: &CStr) -> io::Result<()> {
        sys::rename_in(&self.0, from, to)
    }

    /// An error if this process may not add or remove entries.
    pub(crate) fn check_changeable(&self) -> io::Result<()> {
        sys::check_changeable(&self.0)
    }
}
