//! Shard indexes of one array, each of one generation of its shard.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use zarrix_store::Generation;
use zarrix_store::process::unforked;

use crate::chunk::shard_index::Index;

/// Maximum bytes of the cached indexes of an array; beyond it, all are dropped.
const MAX_INDEX_BYTES: usize = 32 << 20;

/// Shard indexes as they were last read, by the key of the shard.
#[derive(Default)]
pub(crate) struct Indexes(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    by_key: HashMap<String, (Arc<Index>, Generation)>,
    bytes: usize,
}

impl Indexes {
    /// A fork waits for the critical section, so that a child never finds the lock held.
    fn with<R>(&self, section: impl FnOnce(&mut Cached) -> R) -> R {
        unforked(|| section(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(crate) fn get(&self, key: &str) -> Option<(Arc<Index>, Generation)> {
        self.with(|cached| cached.by_key.get(key).cloned())
    }

    /// Caches an index, unless the value has no generation, so that a change could not be detected,
    /// or the index alone is longer than all may be.
    pub(crate) fn insert(&self, key: &str, index: &Arc<Index>, generation: Generation) {
        if generation == Generation::default() || index.bytes() > MAX_INDEX_BYTES {
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
