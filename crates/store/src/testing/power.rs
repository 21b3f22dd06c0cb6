//! A store that tells what a loss of power could leave of it.
//!
//! It keeps the live image, which readers see, and the list of all changes with what each was
//! promised. A change that was synced is there after it returned. One that was not may be there, be
//! missing or be torn, in any order among changes of other keys: the system writes back when it
//! likes. The change in flight when the power goes is there or not; if it was to be synced it is
//! not torn, because a value is synced under another name before it gets its own.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Durability, Generation, KeyLock, Listing, MemoryStore, Result, Store};

/// A store in memory that remembers what it was asked to make durable.
#[derive(Debug, Default)]
pub struct PowerLossStore {
    live: MemoryStore,
    changes: Mutex<Vec<Change>>,
}

#[derive(Clone, Debug)]
struct Change {
    key: String,
    /// `None` deletes.
    value: Option<Vec<u8>>,
    synced: bool,
}

impl PowerLossStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many changes of keys there were so far.
    pub fn changes(&self) -> usize {
        self.list().len()
    }

    /// What the store holds if power is lost while change `at` is made, or before it.
    ///
    /// `choose(n)` picks one of `n` outcomes where there are several.
    ///
    /// # Errors
    /// Those of the store that is made.
    pub fn after_loss(
        &self,
        at: usize,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Result<MemoryStore> {
        let left = MemoryStore::new();
        for (number, change) in self.list().iter().enumerate().take(at + 1) {
            let outcome = match (change.synced, number < at) {
                (true, true) => Outcome::Done,
                (true, false) => Outcome::SOUND[choose(2)],
                (false, _) => Outcome::ANY[choose(4)],
            };
            outcome.apply(change, &left)?;
        }
        Ok(left)
    }

    fn list(&self) -> MutexGuard<'_, Vec<Change>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, key: &str, value: Option<&[u8]>, durability: Durability) {
        let synced = durability == Durability::Fsync;
        let value = value.map(<[u8]>::to_vec);
        self.list().push(Change { key: key.to_owned(), value, synced });
    }
}

#[derive(Clone, Copy)]
enum Outcome {
    Done,
    Missing,
    Empty,
    Torn,
}

impl Outcome {
    const SOUND: [Self; 2] = [Self::Done, Self::Missing];
    const ANY: [Self; 4] = [Self::Done, Self::Missing, Self::Empty, Self::Torn];

    fn apply(self, change: &Change, to: &MemoryStore) -> Result<()> {
        let Change { key, value, .. } = change;
        let put = |value: &[u8]| to.put(key, value, Durability::Process);
        match (self, value) {
            (Self::Missing, _) => Ok(()),
            (_, None) => to.delete(key).map(drop),
            (Self::Done, Some(value)) => put(value),
            (Self::Empty, Some(_)) => put(&[]),
            // The length was written, the later half of the bytes was not.
            (Self::Torn, Some(value)) => {
                let mut torn = value.clone();
                torn[value.len() / 2..].fill(0);
                put(&torn)
            }
        }
    }
}

impl Store for PowerLossStore {
    fn id(&self) -> &str {
        self.live.id()
    }

    fn is_inline(&self) -> bool {
        true
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        self.live.get_into(key, dst)
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        self.live.get_ranges_into(key, ranges, dst)
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.live.size(key)
    }

    fn put(&self, key: &str, value: &[u8], durability: Durability) -> Result<()> {
        self.live.put(key, value, durability)?;
        self.record(key, Some(value), durability);
        Ok(())
    }

    fn delete(&self, key: &str) -> Result<bool> {
        self.delete_with(key, Durability::Process)
    }

    fn delete_with(&self, key: &str, durability: Durability) -> Result<bool> {
        let gone = self.live.delete(key)?;
        if gone {
            self.record(key, None, durability);
        }
        Ok(gone)
    }

    fn delete_prefix(&self, prefix: &str) -> Result<u64> {
        self.delete_prefix_with(prefix, Durability::Process)
    }

    fn delete_prefix_with(&self, prefix: &str, durability: Durability) -> Result<u64> {
        let keys = self.list_prefix(prefix)?;
        let delete = |key: &String| Ok(u64::from(self.delete_with(key, durability)?));
        keys.iter().try_fold(0, |count, key| Ok(count + delete(key)?))
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        self.live.list_prefix(prefix)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        self.live.list_dir(prefix)
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        self.live.size_prefix(prefix)
    }

    fn rename_prefix(&self, source: &str, target: &str) -> Result<()> {
        self.rename_prefix_with(source, target, Durability::Process)
    }

    fn rename_prefix_with(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        let mut moved = self.list_prefix(source)?;
        if self.size(source)?.is_some() {
            moved.push(source.to_owned());
        }
        self.live.rename_prefix(source, target)?;
        let mut value = Vec::new();
        for key in moved {
            let new = format!("{target}{}", &key[source.len()..]);
            self.live.get_into(&new, &mut value)?;
            self.record(&new, Some(&value), durability);
            self.record(&key, None, durability);
        }
        Ok(())
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        self.live.lock(anchor, key)
    }
}
