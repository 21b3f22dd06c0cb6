//! Values in this process's memory.
//!
//! One sorted map, so that a prefix is a range, behind one lock that is held for a lookup or an
//! exchange of a pointer and never while bytes are copied. A forked child keeps the values: every
//! such step is a section that a fork waits for (`process::unforked`), so the child finds the map
//! whole and its lock free. A lock taken by the fork handlers themselves was the alternative; it
//! would need a registry of all stores.

use std::collections::BTreeMap;
use std::io;
use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::key::{check_key, check_prefix};
use crate::{Durability, Generation, KeyLock, Listing, Result, Store, StoreError, process};

static STORES: AtomicU64 = AtomicU64::new(0);

/// A store whose values live as long as it does.
#[derive(Debug)]
pub struct MemoryStore {
    id: String,
    values: RwLock<Values>,
    versions: AtomicU64,
}

type Values = BTreeMap<String, Value>;

#[derive(Clone, Debug)]
struct Value {
    bytes: Arc<[u8]>,
    version: u64,
}

impl MemoryStore {
    /// An empty store, unequal to every other.
    #[must_use]
    pub fn new() -> Self {
        let number = STORES.fetch_add(1, Ordering::Relaxed);
        Self {
            id: format!("memory:{number}"),
            values: RwLock::default(),
            versions: AtomicU64::new(0),
        }
    }

    fn look<R>(&self, section: impl FnOnce(&Values) -> R) -> R {
        process::unforked(|| section(&self.values.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn change<R>(&self, section: impl FnOnce(&mut Values) -> R) -> R {
        process::unforked(|| {
            section(&mut self.values.write().unwrap_or_else(PoisonError::into_inner))
        })
    }

    fn value(&self, key: &str) -> Result<Option<Value>> {
        check_key(key)?;
        Ok(self.look(|values| values.get(key).cloned()))
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

/// The entries whose keys continue `prefix`, with the part that comes after it and its slash.
fn below<'a>(values: &'a Values, prefix: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let start = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    let length = start.len();
    values
        .range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(&start))
        .map(move |(key, value)| (&key[length..], value))
}

fn refused(operation: &'static str, key: &str, errno: i32) -> StoreError {
    let source = io::Error::from_raw_os_error(errno);
    StoreError::Io { operation, path: key.to_owned(), source }
}

impl Store for MemoryStore {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        true
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        dst.clear();
        let Some(value) = self.value(key)? else { return Ok(None) };
        dst.extend_from_slice(&value.bytes);
        Ok(Some(Generation(value.version.into())))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        dst.clear();
        let Some(value) = self.value(key)? else { return Ok(None) };
        for range in ranges {
            let bounds = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
            let part = bounds.and_then(|(start, end)| value.bytes.get(start..end));
            let Some(part) = part else {
                dst.clear();
                return Err(StoreError::beyond_end(key, range, value.bytes.len() as u64));
            };
            dst.extend_from_slice(part);
        }
        Ok(Some(Generation(value.version.into())))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.value(key)?.map(|value| value.bytes.len() as u64))
    }

    fn put(&self, key: &str, value: &[u8], _: Durability) -> Result<()> {
        check_key(key)?;
        let version = self.versions.fetch_add(1, Ordering::Relaxed);
        let (key, value) = (key.to_owned(), Value { bytes: Arc::from(value), version });
        drop(self.change(|values| values.insert(key, value)));
        Ok(())
    }

    fn delete(&self, key: &str) -> Result<bool> {
        check_key(key)?;
        Ok(self.change(|values| values.remove(key)).is_some())
    }

    fn delete_prefix(&self, prefix: &str) -> Result<u64> {
        let doomed = self.list_prefix(prefix)?;
        let gone = self.change(|values| {
            doomed.iter().filter_map(|key| values.remove(key)).collect::<Vec<_>>()
        });
        Ok(gone.len() as u64)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let whole = |rest: &str| {
            if prefix.is_empty() { rest.to_owned() } else { format!("{prefix}/{rest}") }
        };
        Ok(self.look(|values| below(values, prefix).map(|(rest, _)| whole(rest)).collect()))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let mut listing = Listing::default();
        self.look(|values| {
            for (rest, _) in below(values, prefix) {
                match rest.split_once('/') {
                    None => listing.keys.push(rest.to_owned()),
                    Some((name, _)) if listing.prefixes.last().is_some_and(|last| last == name) => {
                    }
                    Some((name, _)) => listing.prefixes.push(name.to_owned()),
                }
            }
        });
        // Keys are sorted whole, in which "a-b/c" comes before "a/b".
        listing.prefixes.sort_unstable();
        listing.prefixes.dedup();
        Ok(listing)
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        check_prefix(prefix)?;
        let lengths = |values: &Values| {
            below(values, prefix).map(|(_, value)| value.bytes.len() as u64).sum()
        };
        Ok(self.look(lengths))
    }

    fn rename_prefix(&self, source: &str, target: &str) -> Result<()> {
        check_key(source)?;
        check_key(target)?;
        if target.strip_prefix(source).is_some_and(|rest| rest.starts_with('/')) {
            return Err(refused("rename", target, libc::EINVAL));
        }
        self.change(|values| {
            let moved = |rest: &str| (format!("{source}/{rest}"), format!("{target}/{rest}"));
            let mut moves: Vec<_> = below(values, source).map(|(rest, _)| moved(rest)).collect();
            if values.contains_key(source) {
                moves.push((source.to_owned(), target.to_owned()));
            }
            if moves.is_empty() {
                return Err(refused("rename", source, libc::ENOENT));
            }
            if values.contains_key(target) || below(values, target).next().is_some() {
                return Err(refused("rename", target, libc::EEXIST));
            }
            for (from, to) in moves {
                if let Some(value) = values.remove(&from) {
                    values.insert(to, value);
                }
            }
            Ok(())
        })
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(anchor)?;
        check_key(key)?;
        KeyLock::in_process(&self.id, anchor, key)
    }
}
