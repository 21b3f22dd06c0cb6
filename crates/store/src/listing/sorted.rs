//! Listings of stores that hold all of their keys in one sorted map, where a prefix is a range.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::error::{Result, StoreError};
use crate::store::Listing;
use crate::sys;

/// The entries whose keys continue `prefix`, each with the rest of its key after the slash.
pub(crate) fn below<'a, V>(
    values: &'a BTreeMap<String, V>,
    prefix: &str,
) -> impl Iterator<Item = (&'a str, &'a V)> {
    let start = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    let length = start.len();
    values
        .range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(&start))
        .map(move |(key, value)| (&key[length..], value))
}

/// The keys below `prefix`, whole.
pub(crate) fn keys<V>(values: &BTreeMap<String, V>, prefix: &str) -> Vec<String> {
    let whole = |rest: &str| {
        if prefix.is_empty() { rest.to_owned() } else { format!("{prefix}/{rest}") }
    };
    below(values, prefix).map(|(rest, _)| whole(rest)).collect()
}

/// The names directly below `prefix`.
pub(crate) fn listing<V>(values: &BTreeMap<String, V>, prefix: &str) -> Listing {
    let mut listing = Listing::default();
    for (rest, _) in below(values, prefix) {
        match rest.split_once('/') {
            None => listing.keys.push(rest.to_owned()),
            Some((name, _)) if listing.prefixes.last().is_some_and(|last| last == name) => {}
            Some((name, _)) => listing.prefixes.push(name.to_owned()),
        }
    }
    // Keys are sorted as whole strings, where "a-b/c" comes before "a/b".
    listing.prefixes.sort_unstable();
    listing.prefixes.dedup();
    listing
}

/// The old and new keys of a move of everything at and below `source` to `target`.
///
/// An error if nothing is at `source`, or something is at `target`.
pub(crate) fn moves<V>(
    values: &BTreeMap<String, V>,
    source: &str,
    target: &str,
) -> Result<Vec<(String, String)>> {
    let refused = |path: &str, errno| {
        let source = std::io::Error::from_raw_os_error(errno);
        Err(StoreError::Io { operation: "rename", path: path.to_owned(), source })
    };
    if target.strip_prefix(source).is_some_and(|rest| rest.starts_with('/')) {
        return refused(target, sys::code::INVALID);
    }
    let moved = |rest: &str| (format!("{source}/{rest}"), format!("{target}/{rest}"));
    let mut moves: Vec<_> = below(values, source).map(|(rest, _)| moved(rest)).collect();
    if values.contains_key(source) {
        moves.push((source.to_owned(), target.to_owned()));
    }
    if moves.is_empty() {
        return refused(source, sys::code::ABSENT);
    }
    if values.contains_key(target) || below(values, target).next().is_some() {
        return refused(target, sys::code::EXISTS);
    }
    Ok(moves)
}
