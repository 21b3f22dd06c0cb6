//! Indexes of the shards of one array on a remote store, cached as they were when last read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use zarrix_store::Generation;
use zarrix_store::process::unforked;

use crate::chunk::shard_index::Index;

/// Indexes that an array keeps; all are given up when there are more.
const MAX_INDEX_BYTES: usize = 32 << 20;

/// Indexes of shards as they were when last read, by the shard's key.
#[derive(Default)]
pub(crate) struct Indexes(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    by_key: HashMap<String, (Arc<Index>, Generation)>,
    bytes: usize,
}

impl Indexes {
    /// A fork waits for the section, so that a child never finds the lock held.
    fn with<R>(&self, section: impl FnOnce(&mut Cached) -> R) -> R {
        unforked(|| section(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(crate) fn get(&self, key: &str) -> Option<(Arc<Index>, Generation)> {
        self.with(|cached| cached.by_key.get(key).cloned())
    }

    /// Keeps an index; not that of a value without a version, which nobody would notice to be old.
    pub(crate) fn insert(&self, key: &str, index: &Arc<Index>, generation: Generation) {
        if generation == Generation::default() {
            return;
        }
        let (key, index) = (key.to_owned(), Arc::clone(index));
        self.with(|cached| {
            if cached.bytes + index.bytes() > MAX_INDEX_BYTES {
                *cached = Cached::default();
            }
            cached.bytes += index.bytes();
            if let Some((old, _)) = cached.by_key.insert(key, (index, generation)) {
                cached.bytes -= old.bytes();
            }
        });
    }

    pub(crate) fn forget(&self, key: &str) {
        self.with(|cached| {
            if let Some((old, _)) = cached.by_key.remove(key) {
                cached.bytes -= old.bytes();
            }
        });
    }
}
