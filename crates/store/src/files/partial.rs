//! The names of partial files, and of directories that are being deleted.
//!
//! All of them end in `.partial`, and so do files of other programs (incomplete downloads, copies
//! of rclone), which are never touched. Ours have one of two forms:
//!
//! - `<key>.<lock space>.partial`, written under the key's lock. The lock space is what the lock
//!   excludes others in: a network file system may lock only within one machine, and two machines
//!   would then write one file. Only chunks and documents have such partial files, because the form
//!   of their names is known; the name of any other key could belong to any file. Older versions
//!   wrote `<key>.partial`.
//! - `<name>.<process>-<number>.partial`, written without a lock, and directories that were set
//!   aside. The number is random: processes in two containers may have one process id and one
//!   folder.
//!
//! zarr-python 3 writes to `<key>.<number>.partial`. For a chunk or a document, that is a leftover,
//! too.

use crate::key::PARTIAL;
use crate::sys;

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
pub(crate) fn of_key(path: &[u8], space: LockSpace) -> Option<Vec<u8>> {
    let name = path.rsplit(is_separator).next()?;
    has_lock(name).then(|| [path, space.suffix().as_bytes()].concat())
}

/// Whether `name` is that of a file to which only the holder of a lock in `space` writes.
pub(crate) fn is_of_holder(name: &[u8], space: Option<LockSpace>) -> bool {
    let in_space = space.and_then(|space| name.strip_suffix(space.suffix().as_bytes()));
    in_space.or_else(|| name.strip_suffix(PARTIAL.as_bytes())).is_some_and(has_lock)
}

/// Whether a byte ends the name of a directory.
pub(crate) fn is_separator(byte: &u8) -> bool {
    std::path::is_separator(char::from(*byte))
}

fn has_lock(name: &[u8]) -> bool {
    DOCUMENTS.contains(&name) || is_chunk(name)
}

/// All processes that a lock excludes: those that run on one kernel and lock in one mounted file
/// system. Others may hold the lock of the same key if the file system locks locally (NFS with
/// `local_lock`, Lustre with `localflock`, most file systems in user space).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LockSpace(u64);

impl LockSpace {
    /// The first digit is `f`: a name with decimal digits only could be that of a chunk.
    const LETTER: u64 = 0xf << 60;

    /// The space of locks on files of `device`; `None` if the kernel does not identify itself.
    pub(crate) fn of_device(device: u64) -> Option<Self> {
        let kernel = sys::boot_number()?;
        Some(Self(sys::mix(kernel ^ sys::mix(device)) | Self::LETTER))
    }

    fn suffix(self) -> String {
        format!(".{:016x}{PARTIAL}", self.0)
    }
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
    if has_lock(whole) {
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
            && (key == b"zarr" || has_lock(key)))
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
        let [here, there] = [1, 2].map(|number| LockSpace(LockSpace::LETTER | number));
        for key in ["a/.zarray", "zarr.json", "a/c/0/1", "a/0.12.3", "a/c.0.1", "c", "7"] {
            let partial = of_key(key.as_bytes(), here).unwrap_or_default();
            let name = partial.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            assert_eq!(leftover(name), Some(Leftover::File), "{key}");
            assert!(is_of_holder(name, Some(here)), "{key}");
            assert!(!is_of_holder(name, Some(there)) && !is_of_holder(name, None), "{key}");
        }
        assert!(is_of_holder(b"0.1.partial", None) && is_of_holder(b"0.1.partial", Some(here)));
        assert!(!is_of_holder(b"0.1.12-3.partial", Some(here)));
        for key in ["movie.mp4", "c/0.tiff", "1.5e3", "c1", "0..1", "a/b", ".", "c."] {
            assert_eq!(of_key(key.as_bytes(), here), None, "{key}");
            assert_eq!(leftover(&unique(key.as_bytes())), Some(Leftover::FileOrDirectory), "{key}");
        }
        assert_eq!(leftover(b"b.12-3.partial"), Some(Leftover::FileOrDirectory));
        assert_ne!(unique(b"a"), unique(b"a"));
        // Without a number of the kernel, no two writers share a space.
        let [first, second] = [1, 2].map(LockSpace::of_device);
        assert_eq!(first.is_some(), sys::boot_number().is_some());
        assert!(first != second || first.is_none());
        assert_eq!(LockSpace::of_device(1), LockSpace::of_device(1));
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
