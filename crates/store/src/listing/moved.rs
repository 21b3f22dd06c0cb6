//! The keys that a rename moves, and its errors, for stores that move one value after the other.

use crate::error::{Result, StoreError};
use crate::key::check_key;
use crate::store::Store;
use crate::sys;

/// The keys at and below `source`, whole, as they are before they are moved to `target`.
///
/// `shown` gives the name of a key in errors.
///
/// # Errors
/// Those of a file system: `source` does not exist, `target` exists, or `target` lies below
/// `source` or below a value.
pub fn moved_keys(
    store: &(impl Store + ?Sized),
    source: &str,
    target: &str,
    shown: impl Fn(&str) -> String,
) -> Result<Vec<String>> {
    check_key(source)?;
    check_key(target)?;
    let refused = |key: &str, errno| {
        let source = std::io::Error::from_raw_os_error(errno);
        Err(StoreError::Io { operation: "rename", path: shown(key), source })
    };
    if target.strip_prefix(source).is_some_and(|rest| rest.starts_with('/')) {
        return refused(target, sys::code::INVALID);
    }
    let mut moved = store.list_prefix(source)?;
    if store.size(source)?.is_some() {
        moved.push(source.to_owned());
    }
    if moved.is_empty() {
        return refused(source, sys::code::ABSENT);
    }
    if store.size(target)?.is_some() || !store.list_prefix(target)?.is_empty() {
        return refused(target, sys::code::EXISTS);
    }
    for (end, _) in target.match_indices('/') {
        if store.size(&target[..end])?.is_some() {
            return refused(target, sys::code::NOT_A_DIRECTORY);
        }
    }
    Ok(moved)
}
