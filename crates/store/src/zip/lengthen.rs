//! Lengthening an archive: the one write that moves the end of its file.
//!
//! A directory is found from the end of the file. Most readers search only the last 64 KiB, and
//! expect it right before its end record. So a file that others may read at any moment, or that a
//! killed writer may leave behind, must always end in a directory. The kernel writes the bytes of a
//! call page by page, lengthens the file with each page, and stops between two pages if the process
//! is killed. So a directory that fits into one page is written into one. A longer one is written
//! past the page cache, which lengthens the file only after all bytes are written. (ext4 and XFS:
//! of 60 kills during such calls of 8 MiB, none left a torn directory; through the page cache, 41
//! did.) To copy the archive and rename the copy would be equally safe, but would write all of its
//! bytes.
//!
//! On a file system without such a call, a kill may tear a longer directory. Then we find the last
//! complete one, further back in the file, but other programs do not.

use std::fs::File;
use std::io;
use std::path::Path;

use super::source::c_path;
use crate::sys;

/// The page size, or a divisor of it; direct writes are aligned to it.
const PAGE: usize = 4096;

/// The first suitable offset for a copy at or after `from`, and the copy that `made_for` makes for
/// it.
pub(super) fn place(from: u64, made_for: impl Fn(u64) -> Vec<u8>) -> (u64, Vec<u8>) {
    let (mut at, mut copy) = (from, made_for(from));
    // Repeated if the copy is longer at that offset: offsets may need more than 32 bits there.
    while next_place(at, copy.len()) != at {
        at = next_place(at, copy.len());
        copy = made_for(at);
    }
    (at, copy)
}

fn next_place(from: u64, bytes: usize) -> u64 {
    let (page, bytes_left) = (PAGE as u64, bytes as u64);
    if bytes > PAGE {
        // It ends at the end of a page, because direct writes do.
        return from.saturating_add(bytes_left).next_multiple_of(page) - bytes_left;
    }
    let end = from.next_multiple_of(page);
    if end - from >= bytes_left { from } else { end }
}

/// Writes `copy` at `at`, its [`place`], more than a page after the `length` of the file so far.
///
/// If the write fails, the file keeps its length.
pub(super) fn write(
    file: &File,
    path: &Path,
    (at, copy): (u64, &[u8]),
    length: u64,
) -> io::Result<()> {
    if copy.len() > PAGE {
        if write_past_cache(file, path, copy, at).is_ok() {
            return Ok(());
        }
        // A write that failed halfway may have lengthened the file.
        file.set_len(length)?;
    }
    sys::write_all_at(file, copy, at).inspect_err(|_| {
        // The error to report is that of the write.
        let _ = file.set_len(length);
    })
}

fn write_past_cache(file: &File, path: &Path, copy: &[u8], at: u64) -> io::Result<()> {
    let direct = sys::open_direct(&c_path(path)?)?;
    if sys::status_of(&direct)?.identity() != sys::status_of(file)?.identity() {
        return Err(io::ErrorKind::NotFound.into());
    }
    // The bytes before it in the first page are free space.
    let before = (at % PAGE as u64) as usize;
    let bytes = before + copy.len();
    let mut room = vec![0; bytes + PAGE];
    let aligned = room.as_ptr().align_offset(PAGE).min(PAGE);
    let page = &mut room[aligned..aligned + bytes];
    page[before..].copy_from_slice(copy);
    match sys::write_at(&direct, page, at - before as u64)? {
        written if written == bytes => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_lies_in_one_page_or_ends_with_one() {
        for from in [0, 1, 4000, 4095, 4096, 4_198_400, 5_000_001] {
            for bytes in [22, 97, 4095, 4096, 4097, 8192, 70_000] {
                // The copy is longer from some offset on, as offsets are.
                let made_for = |at: u64| vec![0; bytes + if at > 5_000_001 { 76 } else { 0 }];
                let (at, copy) = place(from, made_for);
                assert_eq!(copy.len(), made_for(at).len());
                let end = at + copy.len() as u64;
                assert!(at >= from && at - from < 2 * PAGE as u64);
                if copy.len() <= PAGE {
                    assert_eq!(at / PAGE as u64, (end - 1) / PAGE as u64, "{from} {bytes}");
                } else {
                    assert_eq!(end % PAGE as u64, 0, "{from} {bytes}");
                }
            }
        }
    }
}
