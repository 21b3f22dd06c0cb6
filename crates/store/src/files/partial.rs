//! The names of partial files, and of directories that are being deleted.
//!
//! All of them end in `.partial`, and so do files of other programs (incomplete downloads, copies
//! of rclone), which are never touched. Ours have one of two forms:
//!
//! - `<key>.partial`, written under the key's lock. Only chunks and documents have such partial
//!   files, because the form of their names is known; the name of any other key could belong to any
//!   file.
//! - `<name>.<process>-<number>.partial`, written without a lock, and directories that were set
//!   aside. The number is random: processes in two containers may have one process id and one
//!   folder.
//!
//! zarr-python 3 writes to `<key>.<number>.partial`. For a chunk or a document, that is a leftover,
//! too.

use crate::key::PARTIAL;
use crate::process::sys;

/// The names of metadata documents.
pub(crate) const DOCUMENTS: [&[u8]; 5] =
    [b".zarray", b".zgroup", b".zattrs", b".zmetadata", b"zarr.json"];

/// The meaning of a name that ends in `.partial`, by its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// The partial file of a value that is, or was, being written.
    File,
    /// A partial file, or a directory that is being deleted.
    FileOrDirectory,
}

/// The partial file that belongs to the holder of the key's lock, for keys that have one.
pub(crate) fn of_key(path: &[u8]) -> Option<Vec<u8>> {
    let name = path.rsplit(|&byte| byte == b'/').next()?;
    (DOCUMENTS.contains(&name) || is_chunk(name)).then(|| [path, PARTIAL.as_bytes()].concat())
}

/// `path` with a suffix that hides it, and that no other process uses.
pub(crate) fn unique(path: &[u8]) -> Vec<u8> {
    let mut number = [0; 8];
    sys::random(&mut number);
    let number = u64::from_le_bytes(number);
    [path, format!(".{}-{number:016x}{PARTIAL}", std::process::id()).as_bytes()].concat()
}

/// The form of `name`, if it is one of ours; `None` for names of others.
pub(crate) fn leftover(name: &[u8]) -> Option<Leftover> {
    let whole = name.strip_suffix(PARTIAL.as_bytes())?;
    if DOCUMENTS.contains(&whole) || is_chunk(whole) {
        return Some(Leftover::File);
    }
    let dot = whole.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
    let (key, ending) = (&whole[..dot], std::str::from_utf8(&whole[dot + 1..]).ok()?);
    let is_number =
        |text: &str, of: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|byte| of(&byte));
    match ending.split_once('-') {
        Some((process, number)) => (is_number(process, u8::is_ascii_digit)
            && is_number(number, u8::is_ascii_hexdigit))
        .then_some(Leftover::FileOrDirectory),
        // For `zarr.json`, such a name begins with `zarr` only.
        None => (ending.len() >= 8
            && is_number(ending, u8::is_ascii_hexdigit)
            && (key == b"zarr" || DOCUMENTS.contains(&key) || is_chunk(key)))
        .then_some(Leftover::File),
    }
}

/// Whether `name` is the last part of a chunk's key: `c`, or numbers and points, or both.
pub(crate) fn is_chunk(name: &[u8]) -> bool {
    let numbers = match name.strip_prefix(b"c") {
        Some([]) => return true,
        Some([b'.', numbers @ ..]) => numbers,
        Some(_) => return false,
        None => name,
    };
    numbers
        .split(|&byte| byte == b'.')
        .all(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_has_one_of_our_forms() {
        for key in ["a/.zarray", "zarr.json", "a/c/0/1", "a/0.12.3", "a/c.0.1", "c", "7"] {
            let partial = of_key(key.as_bytes()).unwrap_or_default();
            let name = partial.rsplit(|&byte| byte == b'/').next();
            assert_eq!(name.and_then(leftover), Some(Leftover::File), "{key}");
        }
        for key in ["movie.mp4", "c/0.tiff", "1.5e3", "c1", "0..1", "a/b", ".", "c."] {
            assert_eq!(of_key(key.as_bytes()), None, "{key}");
            assert_eq!(leftover(&unique(key.as_bytes())), Some(Leftover::FileOrDirectory), "{key}");
        }
        assert_eq!(leftover(b"b.12-3.partial"), Some(Leftover::FileOrDirectory));
        assert_ne!(unique(b"a"), unique(b"a"));
        for name in ["0.2.deadbeef.partial", "zarr.0123456789abcdef.partial", "c.12345678.partial"]
        {
            assert_eq!(leftover(name.as_bytes()), Some(Leftover::File), "{name}");
        }
    }

    #[test]
    fn what_others_write_has_none() {
        for name in [
            "movie.mp4.partial",
            "movie.mp4.a1b2c3d4.partial",
            "thesis.1-.partial",
            "thesis.-1.partial",
            "2020-01.partial",
            ".1-1.partial",
            "thesis.2020-01-05.partial",
            ".partial",
            "0.partial.txt",
            "0",
        ] {
            assert_eq!(leftover(name.as_bytes()), None, "{name}");
        }
    }
}
