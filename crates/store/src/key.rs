//! The grammar of keys, checked before any store gets one.
//!
//! A key is a list of names joined by `/`. It is relative, it cannot leave the store (`.` and `..`
//! are not names), and it means the same on every store: no name contains a backslash, which some
//! systems read as a separator, or NUL, at which the C library stops reading. Names that end in
//! `.partial` are reserved: a value is written under one before it is renamed, and listings hide
//! them.
//!
//! The check is one pass over the bytes without allocation, because every read makes it. We
//! rejected resolving the path and comparing it with the root: that costs more, and works only for
//! stores of files.

use crate::error::{Result, StoreError};

/// The suffix of partial files.
pub const PARTIAL: &str = ".partial";

/// Checks that `key` may name a value.
pub fn check_key(key: &str) -> Result<()> {
    match fault(key.as_bytes()) {
        None => Ok(()),
        Some(reason) => Err(StoreError::InvalidKey { key: key.to_owned(), reason }),
    }
}

/// Checks that `prefix` may name a part of a store; the empty prefix names all of it.
pub fn check_prefix(prefix: &str) -> Result<()> {
    if prefix.is_empty() { Ok(()) } else { check_key(prefix) }
}

fn fault(key: &[u8]) -> Option<&'static str> {
    let mut name = 0;
    for (position, &byte) in key.iter().enumerate() {
        match byte {
            b'/' => {
                if let Some(reason) = name_fault(&key[name..position]) {
                    return Some(reason);
                }
                name = position + 1;
            }
            b'\\' => return Some("it contains a backslash; names are joined by '/'"),
            0 => return Some("it contains a NUL byte"),
            _ => {}
        }
    }
    name_fault(&key[name..])
}

fn name_fault(name: &[u8]) -> Option<&'static str> {
    match name {
        [] => Some("it has an empty name: a leading, trailing or doubled '/', or nothing at all"),
        b"." | b".." => Some("'.' and '..' are not names"),
        _ if name.ends_with(PARTIAL.as_bytes()) => {
            Some("names ending in '.partial' are reserved for values being written")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{check_key, check_prefix};

    #[test]
    fn ordinary_keys_are_allowed() {
        for key in ["a", ".zarray", "a/.zgroup", "a/0.0.0", "c/0/1", "..a/b..", "a b/ü", "partial"]
        {
            assert!(check_key(key).is_ok(), "{key:?}");
            assert!(check_prefix(key).is_ok(), "{key:?}");
        }
    }

    #[test]
    fn keys_that_climb_escape_or_collide_are_refused() {
        let bad = [
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "../a",
            "a/../b",
            "a/..",
            "a/./b",
            "a\\..\\b",
            "..\\a",
            "C:\\a",
            "a\0b",
            "\0",
            "a.partial",
            ".partial",
            "a.partial/b",
            "a/b.partial",
        ];
        for key in bad {
            assert!(check_key(key).is_err(), "{key:?}");
            assert!(check_prefix(key).is_err(), "{key:?}");
        }
        assert!(check_key("").is_err());
        assert!(check_prefix("").is_ok());
    }
}
