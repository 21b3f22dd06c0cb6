//! The names of files: those that a system cannot have, and what is between them.
//!
//! Windows drops a trailing point or space, gives devices such as `con` a name in every directory,
//! and reads `:` as the begin of a stream. A value under such a name would be another value, or
//! none.

/// Makes a path of this system of a key: `/` is part of a name in a path that Windows has resolved
/// (after the prefix `\\?\`).
#[cfg(not(windows))]
pub(crate) const fn separate(_: &mut [u8]) {}

/// Makes a path of this system of a key.
#[cfg(windows)]
pub(crate) fn separate(key: &mut [u8]) {
    key.iter_mut().filter(|byte| **byte == b'/').for_each(|byte| *byte = b'\\');
}

/// The reason why this system has no file for `key`, by one of its names.
#[cfg(not(windows))]
pub(crate) const fn refused_name(_: &str) -> Option<&'static str> {
    None
}

/// The reason why this system has no file for `key`, by one of its names.
#[cfg(windows)]
pub(crate) fn refused_name(key: &str) -> Option<&'static str> {
    key.split('/').find_map(on_windows)
}

/// The reason why Windows has no file of this name.
#[cfg(any(windows, test))]
fn on_windows(name: &str) -> Option<&'static str> {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    if name.chars().any(|c| c < ' ' || ":*?\"<>|\\".contains(c)) {
        return Some("Windows has no names with one of : * ? \" < > | \\ or a control character");
    }
    if name.ends_with(['.', ' ']) && name != "." && name != ".." {
        return Some("Windows has no names that end in a point or a space");
    }
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|number| {
        number.chars().count() == 1 && number.chars().all(|c| "0123456789¹²³".contains(c))
    });
    (is_port || DEVICES.contains(&stem.as_str())).then_some("Windows has a device of this name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_windows_lacks_are_refused() {
        for name in
            ["a:b", "con", "CON.txt", "nul", "com1", "Lpt9.0", "end.", "end ", "a\"b", "a\\b"]
        {
            assert!(on_windows(name).is_some(), "{name}");
        }
        for name in ["c", "0.1", "zarr.json", ".zarray", "com", "com10", "console", "a b", "é"] {
            assert_eq!(on_windows(name), None, "{name}");
        }
    }
}
