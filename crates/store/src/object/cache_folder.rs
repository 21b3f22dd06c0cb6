//! The folder of a response cache: marked as ours, for this user only.
//!
//! Its content is trusted as if the server had sent it, and is deleted to free space. So a folder
//! is accepted only if it is new, empty or has our mark, if it belongs to this user, and if no
//! other user may write to it. In it we open only names of our own form, relative to descriptors,
//! and do not follow links.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use super::names::unique_name;
use crate::files::directory::{Directory, FileKind, c_name};
use crate::sys;

/// The mark file, which tells us and people that a folder is our cache.
const MARK: &std::ffi::CStr = c"zarrix-cache.txt";
const MARK_TEXT: &[u8] =
    b"This folder is a cache of zarrix. It can be deleted as a whole at any time.\n";
/// The name of an entry that is being written.
const UNFINISHED: &str = ".unfinished";
/// Permissions that no other user may have on the folder.
const WRITABLE: u32 = 0o022;

/// The folder of a cache; it need not exist.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

/// An entry as listed.
#[derive(Debug)]
pub(super) struct Listed {
    pub modified: SystemTime,
    pub length: u64,
    pub is_unfinished: bool,
    inside: CString,
    name: CString,
}

/// Why a folder is not used.
#[derive(Debug)]
enum Refused {
    /// It does not exist or cannot be read: reads go on without a cache.
    Unreachable(io::Error),
    /// It belongs to others: the user is told.
    Foreign(String),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Unreachable(error)
    }
}

impl Folder {
    pub(super) fn new(path: &str) -> Self {
        Self(path.into())
    }

    /// The reason why the folder, in its present state, must not be used as a cache.
    pub(super) fn fault(&self) -> Option<String> {
        match self.open() {
            Err(Refused::Foreign(reason)) => Some(reason),
            _ => None,
        }
    }

    /// The folder, and whether it has our mark; `None` if it does not exist.
    fn open(&self) -> Result<Option<(Directory, bool)>, Refused> {
        let Some(folder) = Directory::open(&self.0)? else { return Ok(None) };
        let (owner, others_may) = folder.own_status()?.owner();
        let shown = self.0.display();
        if owner != sys::user() {
            return Err(Refused::Foreign(format!(
                "the cache folder {shown:?} belongs to another user, who could change what is read; \
                 name a folder of your own"
            )));
        }
        let is_marked = folder.status(MARK)?.is_some_and(|status| status.is_file());
        if !is_marked && !folder.entries()?.is_empty() {
            return Err(Refused::Foreign(format!(
                "the cache folder {shown:?} is not empty and is not a cache of zarrix, whose files are \
                 deleted to make room; name a new or empty one, such as {:?}",
                self.0.join("zarrix-cache").display()
            )));
        }
        if is_marked && others_may & WRITABLE != 0 {
            return Err(Refused::Foreign(format!(
                "other users may write to the cache folder {shown:?}, and change what is read; \
                 forbid it (chmod -R go-w), or name another"
            )));
        }
        Ok(Some((folder, is_marked)))
    }

    /// The folder, if it is already a cache.
    fn marked(&self) -> Option<Directory> {
        self.open().ok().flatten().and_then(|(folder, is_marked)| is_marked.then_some(folder))
    }

    /// The folder, created or marked if necessary.
    fn taken(&self) -> io::Result<Directory> {
        let refused = |refused| match refused {
            Refused::Unreachable(error) => error,
            Refused::Foreign(reason) => io::Error::new(io::ErrorKind::PermissionDenied, reason),
        };
        for _ in 0..2 {
            match self.open().map_err(refused)? {
                Some((folder, true)) => return Ok(folder),
                // The mark comes first: files in a folder without a mark are not ours.
                Some((folder, false)) => {
                    folder.make_private()?;
                    match folder.new_private_file(MARK) {
                        Ok(mut mark) => mark.write_all(MARK_TEXT)?,
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                        Err(error) => return Err(error),
                    }
                    return Ok(folder);
                }
                None => sys::make_private_directories(&self.0)?,
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    /// The content of an entry of at most `most` bytes, and its open file.
    pub(super) fn read(&self, name: &str, most: u64) -> Option<(Vec<u8>, File)> {
        let (inside, name) = names(name).ok()?;
        let file = self.marked()?.inside(&inside, false).ok()??.file(&name).ok()??;
        let status = sys::status_of(&file).ok()?;
        if !status.is_file() || status.len() > most {
            return None;
        }
        let mut content = Vec::new();
        content.try_reserve_exact(usize::try_from(status.len()).ok()?).ok()?;
        (&file).take(most).read_to_end(&mut content).ok()?;
        Some((content, file))
    }

    /// Replaces an entry by `content`: written under a temporary name, then renamed.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let (inside, name) = names(name)?;
        let within = self.taken()?.make_inside(&inside)?;
        let aside = format!("{}.{}{UNFINISHED}", name.to_string_lossy(), unique_name());
        let aside = c_name(aside.as_ref())?;
        let written = within
            .new_private_file(&aside)
            .and_then(|mut file| file.write_all(content))
            .and_then(|()| within.rename(&aside, &name));
        written.inspect_err(|_| {
            let _ = within.remove_file(&aside);
        })
    }

    /// Removes an entry by its name.
    pub(super) fn remove(&self, name: &str) -> io::Result<bool> {
        let (inside, name) = names(name)?;
        self.remove_in(&inside, &name)
    }

    /// Removes an entry that was listed; returns whether it was there.
    pub(super) fn remove_listed(&self, listed: &Listed) -> io::Result<bool> {
        self.remove_in(&listed.inside, &listed.name)
    }

    fn remove_in(&self, inside: &CString, name: &CString) -> io::Result<bool> {
        let Some(folder) = self.marked() else { return Ok(false) };
        folder.inside(inside, false)?.map_or(Ok(false), |within| within.remove_file(name))
    }

    /// All entries, complete or unfinished.
    pub(super) fn entries(&self) -> Vec<Listed> {
        let mut found = Vec::new();
        let Some(folder) = self.marked() else { return found };
        for folder_entry in folder.entries().unwrap_or_default() {
            if folder_entry.kind != FileKind::Directory || !is_hex(folder_entry.name(), 2) {
                continue;
            }
            let Ok(Some(within)) = folder.inside(&folder_entry.name, false) else { continue };
            for entry in within.entries().unwrap_or_default() {
                let Some(is_unfinished) = form_of(entry.name()) else { continue };
                let Ok(Some(status)) = within.status(&entry.name) else { continue };
                if status.is_file() {
                    found.push(Listed {
                        modified: status.modified(),
                        length: status.len(),
                        is_unfinished,
                        inside: folder_entry.name.clone(),
                        name: entry.name,
                    });
                }
            }
        }
        found
    }
}

/// The directory and the file name of an entry: two hexadecimal digits, and thirty.
fn names(name: &str) -> io::Result<(CString, CString)> {
    let (inside, name) = name.split_at_checked(2).ok_or(io::ErrorKind::InvalidInput)?;
    Ok((c_name(inside.as_ref())?, c_name(name.as_ref())?))
}

/// For a name of our form, whether it is that of an unfinished entry; `None` for any other name.
fn form_of(name: &OsStr) -> Option<bool> {
    if is_hex(name, 30) {
        return Some(false);
    }
    let (entry, change) = name.to_str()?.strip_suffix(UNFINISHED)?.split_once('.')?;
    (is_hex(entry.as_ref(), 30) && is_hex(change.as_ref(), 16)).then_some(true)
}

fn is_hex(name: &OsStr, digits: usize) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    name.len() == digits && name.as_encoded_bytes().iter().all(is_digit)
}
