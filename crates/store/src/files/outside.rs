//! Files of others, which are in no store: their first bytes, and what tells their versions apart.

use std::io;
use std::path::Path;

use crate::error::{Result, StoreError};
use crate::sys::{self, unless_absent};

/// What tells a version of a file from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileVersion {
    pub size: u64,
    /// When the content was last changed, in nanoseconds since 1970.
    pub modified: i128,
    /// The same for the content or the status.
    pub changed: i128,
    /// Whether it is a regular file.
    pub is_file: bool,
}

/// The first bytes of a file, at most `most`; `None` if it begins with those that are `known`.
///
/// # Errors
/// There is none, or it is not a regular file.
pub fn head_of(path: &Path, most: usize, known: &[u8]) -> Result<Option<Vec<u8>>> {
    let read = || {
        let file = sys::open(&sys::c_name(path.as_os_str())?, sys::READ)?;
        if !sys::status_of(&file)?.is_file() {
            let problem = "it is not a regular file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let mut head = Vec::new();
        head.try_reserve_exact(known.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut read = sys::append(&file, 0, known.len().min(most), &mut head)?;
        if read > 0 && head == known {
            return Ok(None);
        }
        head.try_reserve_exact(most - read).map_err(|_| io::ErrorKind::OutOfMemory)?;
        while read < most {
            match sys::append(&file, read as u64, most - read, &mut head)? {
                0 => break,
                more => read += more,
            }
        }
        Ok(Some(head))
    };
    read().map_err(|source| failed("read", path, source))
}

/// The version of a file, or of a link itself unless it `follows`; `None` if there is none.
pub fn version_of(path: &Path, follows: bool) -> Result<Option<FileVersion>> {
    let look = || {
        let name = sys::c_name(path.as_os_str())?;
        if follows { sys::status_at(&name) } else { sys::link_status_at(&name) }
    };
    let status = unless_absent(look()).map_err(|source| failed("look at", path, source))?;
    Ok(status.map(|status| FileVersion {
        size: status.len(),
        modified: nanoseconds(status.modified_at()),
        changed: nanoseconds(status.changed_at()),
        is_file: status.is_file(),
    }))
}

fn nanoseconds((seconds, nanos): (i64, i64)) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

fn failed(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { operation, path: path.display().to_string(), source }
}
