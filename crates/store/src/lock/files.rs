//! Locks between processes for stores whose values are not files: databases on this machine.
//!
//! A directory beside the database has one empty file for each array and group that was written,
//! named by a hash of its metadata key. Chunks are bytes of that file, like those of a metadata
//! file on disk ([`anchor`]). A key outside of any node is a byte of one common file. No file is
//! ever removed: a lock file that a process waits for must keep its name.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::key::check_key;
use crate::lock::anchor;
use crate::lock::table::KeyLock;
use crate::sys::c_name;

/// The common file.
const LOOSE: &str = "keys";

/// A directory of lock files; two handles on one directory exclude each other.
#[derive(Debug)]
pub struct LockFiles {
    directory: PathBuf,
    id: String,
}

impl LockFiles {
    /// The locks in `directory`, which the first lock creates.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
        let id = format!("locks {}", directory.display());
        Self { directory, id }
    }

    /// The id of the store in the lock table of this process.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// `Store::lock` by means of these files.
    pub fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(anchor)?;
        check_key(key)?;
        KeyLock::with(&self.id, anchor, key, |others| {
            let loose = anchor == key && !names_document(key);
            let name = if loose { LOOSE.to_owned() } else { format!("{:032x}", hash(anchor)) };
            let path = self.file(&name)?;
            anchor::lock(&path, (loose || anchor != key).then_some(key), others)
        })
    }

    /// The path of a lock file, which is created if necessary.
    fn file(&self, name: &str) -> io::Result<CString> {
        let path = self.directory.join(name);
        let create = || OpenOptions::new().write(true).create_new(true).open(&path);
        let created = match create() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::create_dir_all(&self.directory)?;
                create()
            }
            created => created,
        };
        match created {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => c_name(path.as_os_str()),
        }
    }
}

/// Whether `key` is a metadata document of a node, and so may be the anchor of other keys.
fn names_document(key: &str) -> bool {
    let name = key.rsplit('/').next().unwrap_or(key);
    name.starts_with(".z") || name == "zarr.json"
}

/// FNV-1a of 128 bits: all versions of this software use the same names.
fn hash(key: &str) -> u128 {
    key.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b)
    })
}
