//! Deleting and moving nodes, while no process writes to them.
//!
//! The lock of a metadata document excludes writers of the chunks of its array. A writer that
//! waited for it finds the document gone, and reports this instead of storing chunks of a deleted
//! array. The documents of nodes below are not locked, as there may be any number: a concurrent
//! write there is refused when it finds that its array is gone.

use zarrix_store::{Durability, KeyLock, Store, below};

use crate::error::Result;

/// Deletes the node at `path` and all below it; returns the number of deleted values.
///
/// `documents` are the names of metadata documents.
pub fn delete_node(
    store: &dyn Store,
    path: &str,
    documents: &[&str],
    durability: Durability,
) -> Result<u64> {
    let _alone = alone(store, path, documents)?;
    Ok(store.delete_node(path, documents, durability)?)
}

/// Moves the node at `source` with all below it to `target`, where no node may be.
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

/// The locks of the metadata documents that exist.
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
