//! Copies of files, by the system where it can.

use std::fs::File;
use std::io;

use crate::sys::{append, copy_in_kernel};

/// What is copied at once through memory.
const COPY_BYTES: usize = 1 << 20;

/// Makes every file and name below a directory durable, one after the other; Linux does it at once.
#[cfg(any(not(target_os = "linux"), feature = "portable"))]
pub(crate) fn sync_each(directory: &std::path::Path) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => sync_each(&entry.path())?,
            // Windows flushes a file only if it was opened for writing.
            false if cfg!(windows) => File::options().write(true).open(entry.path())?.sync_all()?,
            false => File::open(entry.path())?.sync_all()?,
        }
    }
    crate::sys::sync_directory(directory)
}

/// Copies the first `length` bytes of a file to the position of another one, inside the kernel; a
/// file system that can makes them share their blocks.
pub(crate) fn copy(from: &File, length: u64, to: &File) -> io::Result<()> {
    let mut done = copy_in_kernel(from, length, to)?;
    let mut buffer = Vec::new();
    while done < length {
        // Other file systems, or a file that shrank: an error then.
        let wanted = usize::try_from(length - done).unwrap_or(COPY_BYTES).min(COPY_BYTES);
        buffer.clear();
        buffer.try_reserve(wanted).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let read = append(from, done, wanted, &mut buffer)?;
        if read == 0 {
            let problem = format!("the file ended at byte {done} of {length} while it was copied");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
        io::Write::write_all(&mut &*to, &buffer)?;
        done += read as u64;
    }
    Ok(())
}
