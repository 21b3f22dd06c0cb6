//! Deleting and moving nodes while nobody writes to them.
//!
//! Who holds the lock of a node's document has no writer of its chunks beside it; who waited to
//! write finds the document gone, and says so instead of storing what nobody would find. Of nodes
//! further down the documents are not locked, which could be any number: what is written there at
//! that moment is refused when it finds that its array is gone.

use zarrix_store::{Durability, KeyLock, Store, below};

use crate::error::Result;

/// Deletes the node at `path` and all below it; how many values that were.
///
/// `documents` are the names of what can make it one.
pub fn delete_node(
    store: &dyn Store,
    path: &str,
    documents: &[&str],
    durability: Durability,
) -> Result<u64> {
    let _alone = alone(store, path, documents)?;
    Ok(store.delete_node(path, documents, durability)?)
}

/// Moves the node at `source` with all below it to `target`, where nothing may be.
pub fn move_node(
    store: &dyn Store,
    source: &str,
    target: &str,
    documents: &[&str],
    durability: Durability,
) -> Result<()> {
    let _alone = alone(store, source, documents)?;
    Ok(store.rename_prefix(source, target, durability)?)
}

/// The locks of the documents that are there.
fn alone(store: &dyn Store, path: &str, documents: &[&str]) -> Result<Vec<KeyLock>> {
    let mut locks = Vec::new();
    for name in documents {
        let key = below(path, name);
        if store.size(&key)?.is_some() {
            locks.push(store.lock(&key, &key)?);
        }
    }
    Ok(locks)
}
