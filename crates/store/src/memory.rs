//! Values in this process's memory.
//!
//! One sorted map, so that a prefix is a range, behind one lock. The lock is held for a lookup or
//! an exchange of a pointer, and never while bytes are copied. A forked child keeps the values:
//! every such step is a section that a fork waits for (`fork::unforked`), so the child finds a
//! consistent map and a free lock. We rejected taking the lock in the fork handlers: that would
//! need a registry of all stores.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use zarrix_codec::memory::{Grow, copied};

use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::key::{check_key, check_prefix};
use crate::listing::sorted;
use crate::lock::table::KeyLock;
use crate::process::{fork, trace};
use crate::ranges::cut_ranges;
use crate::store::{Durability, Edge, Listing, Reader, Store, read_slice};

static STORES: AtomicU64 = AtomicU64::new(0);

/// A store whose values live as long as the store.
#[derive(Debug)]
pub struct MemoryStore {
    id: String,
    values: RwLock<Values>,
    versions: AtomicU64,
}

type Values = BTreeMap<String, Value>;

#[derive(Clone, Debug)]
struct Value {
    bytes: Arc<Vec<u8>>,
    version: u64,
}

impl Value {
    fn generation(&self) -> Generation {
        Generation::exact(u128::from(self.version) << 1)
    }
}

impl MemoryStore {
    /// An empty store with an id of its own.
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
        fork::unforked(|| section(&self.values.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn change<R>(&self, section: impl FnOnce(&mut Values) -> R) -> R {
        fork::unforked(|| section(&mut self.values.write().unwrap_or_else(PoisonError::into_inner)))
    }

    fn value(&self, key: &str) -> Result<Option<Value>> {
        check_key(key)?;
        Ok(self.look(|values| values.get(key).cloned()))
    }
}

/// One version of a value; a reader keeps it alive after it is replaced.
struct ValueReader {
    key: String,
    bytes: Arc<Vec<u8>>,
    generation: Generation,
}

impl Reader for ValueReader {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let mut span = trace::request("read", &self.key);
        span.moved(dst.len());
        read_slice(&self.key, &self.bytes, offset, dst)
    }

    fn version(&self) -> Option<Generation> {
        Some(self.generation)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for MemoryStore {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        true
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        let mut span = trace::request("get", key);
        dst.clear();
        let Some(value) = self.value(key)? else { return Ok(None) };
        span.moved(value.bytes.len());
        dst.append_slice(&value.bytes).map_err(StoreError::memory(key))?;
        Ok(Some(value.generation()))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        let mut span = trace::request("get", key);
        dst.clear();
        let Some(value) = self.value(key)? else { return Ok(None) };
        cut_ranges(key, &value.bytes, ranges, dst)?;
        span.moved(dst.len());
        Ok(Some(value.generation()))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        let mut span = trace::request("get", key);
        dst.clear();
        let Some(value) = self.value(key)? else { return Ok(None) };
        let total = value.bytes.len() as u64;
        let Range { start, end } = edge.range(total);
        // Both offsets lie within the value's length, which is a usize.
        let part = &value.bytes[start as usize..end as usize];
        span.moved(part.len());
        dst.append_slice(part).map_err(StoreError::memory(key))?;
        Ok(Some((value.generation(), total)))
    }

    fn is_memory(&self) -> bool {
        true
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn reads_value_once(&self) -> bool {
        true
    }

    fn reader(&self, key: &str) -> Result<Option<Box<dyn Reader + '_>>> {
        let _span = trace::request("open", key);
        let found = self.value(key)?;
        Ok(found.map(|value| {
            let generation = value.generation();
            Box::new(ValueReader { key: key.to_owned(), bytes: value.bytes, generation })
                as Box<dyn Reader>
        }))
    }

    fn look(&self, key: &str) -> Result<Option<Option<Generation>>> {
        let _span = trace::request("head", key);
        Ok(self.value(key)?.map(|value| Some(value.generation())))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        let _span = trace::request("head", key);
        Ok(self.value(key)?.map(|value| value.bytes.len() as u64))
    }

    fn put(&self, key: &str, value: &[u8], _: Durability) -> Result<()> {
        check_key(key)?;
        let mut span = trace::request("put", key);
        span.moved(value.len());
        let version = self.versions.fetch_add(1, Ordering::Relaxed);
        let bytes = Arc::new(copied(value).map_err(StoreError::memory(key))?);
        let (key, value) = (key.to_owned(), Value { bytes, version });
        drop(self.change(|values| values.insert(key, value)));
        Ok(())
    }

    fn delete(&self, key: &str, _: Durability) -> Result<bool> {
        check_key(key)?;
        let _span = trace::request("delete", key);
        Ok(self.change(|values| values.remove(key)).is_some())
    }

    fn delete_prefix(&self, prefix: &str, _: Durability) -> Result<u64> {
        let doomed = self.list_prefix(prefix)?;
        let gone = self.change(|values| {
            doomed.iter().filter_map(|key| values.remove(key)).collect::<Vec<_>>()
        });
        Ok(gone.len() as u64)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let _span = trace::request("list", prefix);
        Ok(self.look(|values| sorted::keys(values, prefix)))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let _span = trace::request("list", prefix);
        Ok(self.look(|values| sorted::listing(values, prefix)))
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        check_prefix(prefix)?;
        let _span = trace::request("list", prefix);
        let lengths = |values: &Values| {
            sorted::below(values, prefix).map(|(_, value)| value.bytes.len() as u64).sum()
        };
        Ok(self.look(lengths))
    }

    fn rename_prefix(&self, source: &str, target: &str, _: Durability) -> Result<()> {
        check_key(source)?;
        check_key(target)?;
        let _span = trace::request("rename", source);
        self.change(|values| {
            for (from, to) in sorted::moves(values, source, target)? {
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
        let has_anchor = || self.look(|values| values.contains_key(anchor));
        KeyLock::in_process_beside(&self.id, anchor, key, has_anchor)
    }
}
