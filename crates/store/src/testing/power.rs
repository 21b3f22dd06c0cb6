//! A store that simulates a loss of power.
//!
//! It holds the live values, which readers see, and a list of all changes with their durability. A
//! synced change is present once its call has returned. A change that was not synced may be
//! present, missing or torn, in any order among changes of other keys: the system writes back at
//! any time. A change that is in progress when the power fails is either present or missing; if it
//! was to be synced it is not torn, because a value is synced under another name before it gets its
//! own. A deletion or move of a whole prefix is one change, as it is where folders are renamed; in
//! the middle of a move both names may exist.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::generation::Generation;
use crate::lock::table::KeyLock;
use crate::memory::MemoryStore;
use crate::store::{Durability, Listing, Store};

/// A store in memory that records the durability of each change.
#[derive(Debug, Default)]
pub struct PowerLossStore {
    live: MemoryStore,
    changes: Mutex<Vec<Change>>,
}

#[derive(Clone, Debug)]
struct Change {
    /// Keys and their new values; `None` deletes.
    effects: Vec<(String, Option<Vec<u8>>)>,
    synced: bool,
}

impl PowerLossStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of changes of keys so far.
    pub fn changes(&self) -> usize {
        self.list().len()
    }

    /// The content of the store if power is lost during change `at`, or before it.
    ///
    /// `choose(n)` picks one of `n` outcomes if there are several.
    ///
    /// # Errors
    /// Those of creating the new store.
    pub fn after_loss(
        &self,
        at: usize,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Result<MemoryStore> {
        let left = MemoryStore::new();
        for (number, change) in self.list().iter().enumerate().take(at + 1) {
            let outcome = match (change.synced, number < at) {
                (true, true) => Outcome::Done,
                (false, _) if change.effects.len() == 1 => Outcome::OF_ONE[choose(4)],
                _ => Outcome::SOUND[choose(3)],
            };
            outcome.apply(change, &left)?;
        }
        Ok(left)
    }

    fn list(&self) -> MutexGuard<'_, Vec<Change>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, effects: Vec<(String, Option<Vec<u8>>)>, durability: Durability) {
        let synced = durability == Durability::Fsync;
        if !effects.is_empty() {
            self.list().push(Change { effects, synced });
        }
    }
}

/// Picks by the numbers that follow from `seed`, so that a loss of power can be reproduced.
pub fn choices(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |outcomes| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) as usize % outcomes.max(1)
    }
}

#[derive(Clone, Copy)]
enum Outcome {
    Done,
    Missing,
    /// Both the new value and the removed one are present.
    Both,
    Empty,
    Torn,
}

impl Outcome {
    const SOUND: [Self; 3] = [Self::Done, Self::Missing, Self::Both];
    const OF_ONE: [Self; 4] = [Self::Done, Self::Missing, Self::Empty, Self::Torn];

    fn apply(self, change: &Change, to: &MemoryStore) -> Result<()> {
        let mut effects = change.effects.iter();
        effects.try_for_each(|(key, value)| self.apply_to(key, value.as_deref(), to))
    }

    fn apply_to(self, key: &str, value: Option<&[u8]>, to: &MemoryStore) -> Result<()> {
        let put = |value: &[u8]| to.put(key, value, Durability::Process);
        match (self, value) {
            (Self::Missing, _) | (Self::Both, None) => Ok(()),
            (_, None) => to.delete(key, Durability::Process).map(drop),
            (Self::Done | Self::Both, Some(value)) => put(value),
            (Self::Empty, Some(_)) => put(&[]),
            // The length was written, but not the second half of the bytes.
            (Self::Torn, Some(value)) => {
                let mut torn = value.to_vec();
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
        self.record(vec![(key.to_owned(), Some(value.to_vec()))], durability);
        Ok(())
    }

    fn delete(&self, key: &str, durability: Durability) -> Result<bool> {
        let gone = self.live.delete(key, durability)?;
        if gone {
            self.record(vec![(key.to_owned(), None)], durability);
        }
        Ok(gone)
    }

    fn delete_prefix(&self, prefix: &str, durability: Durability) -> Result<u64> {
        let keys = self.list_prefix(prefix)?;
        let gone = self.live.delete_prefix(prefix, durability)?;
        self.record(keys.into_iter().map(|key| (key, None)).collect(), durability);
        Ok(gone)
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

    fn rename_prefix(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        let mut moved = self.list_prefix(source)?;
        if self.size(source)?.is_some() {
            moved.push(source.to_owned());
        }
        self.live.rename_prefix(source, target, durability)?;
        let mut effects = Vec::new();
        for key in moved {
            let new = format!("{target}{}", &key[source.len()..]);
            let mut value = Vec::new();
            self.live.get_into(&new, &mut value)?;
            effects.extend([(new, Some(value)), (key, None)]);
        }
        self.record(effects, durability);
        Ok(())
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        self.live.lock(anchor, key)
    }
}
