//! Lengthening an archive: the one write after which its file has another end.
//!
//! A directory is found from the end of the file, by most readers within the last 64 KiB only, and
//! right before its end record. So a file that others may read at any moment, or find as a killed
//! writer left it, must not have a length at which none ends. The kernel writes a call's bytes page
//! by page, makes the file longer with each, and stops between two if the process is killed. What
//! fits one page is therefore put into one; what does not is written past the page cache, which
//! makes the file longer once all is written (ext4 and XFS: of 60 kills within such calls none tore
//! one of 8 MiB, 41 one through the cache). To copy the archive and rename it would do as well, and
//! cost all of its bytes.
//!
//! Where a file system has no such call, a longer directory may be torn; then the last whole one is
//! found by us, from further back, but not by others.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::source::c_path;
use crate::process::sys;

/// A page, or a whole part of one; and what direct writes are aligned to.
const PAGE: usize = 4096;

/// Where a copy goes that must not begin before `from`, and the copy that `made_for` makes of it.
pub(super) fn place(from: u64, made_for: impl Fn(u64) -> Vec<u8>) -> (u64, Vec<u8>) {
    let (mut at, mut copy) = (from, made_for(from));
    // Once more where it is longer from there on, with offsets of more than 32 bits.
    while next_place(at, copy.len()) != at {
        at = next_place(at, copy.len());
        copy = made_for(at);
    }
    (at, copy)
}

fn next_place(from: u64, bytes: usize) -> u64 {
    let (page, bytes_left) = (PAGE as u64, bytes as u64);
    if bytes > PAGE {
        // It ends with a page, because direct writes do.
        return from.saturating_add(bytes_left).next_multiple_of(page) - bytes_left;
    }
    let end = from.next_multiple_of(page);
    if end - from >= bytes_left { from } else { end }
}

/// Writes `copy` at `at`, its [`place`], more than a page behind the `length` of the file so far.
///
/// A write that fails leaves the file as long as it was.
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
        // What failed in the middle can have made the file longer.
        file.set_len(length)?;
    }
    file.write_all_at(copy, at).inspect_err(|_| {
        // The error to be told is that of the write.
        let _ = file.set_len(length);
    })
}

fn write_past_cache(file: &File, path: &Path, copy: &[u8], at: u64) -> io::Result<()> {
    let direct = sys::open_direct(&c_path(path)?)?;
    if sys::status_of(&direct)?.identity() != sys::status_of(file)?.identity() {
        return Err(io::ErrorKind::NotFound.into());
    }
    // What comes before in the first page is free space.
    let before = (at % PAGE as u64) as usize;
    let bytes = before + copy.len();
    let mut room = vec![0; bytes + PAGE];
    let aligned = room.as_ptr().align_offset(PAGE).min(PAGE);
    let page = &mut room[aligned..aligned + bytes];
    page[before..].copy_from_slice(copy);
    match direct.write_at(page, at - before as u64)? {
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
                // Longer from some place on, as offsets are.
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
