//! Locks of keys, among the threads of this process and beyond.
//!
//! Every key has a lock, and every key belongs to an anchor, its array's metadata key. Locks of
//! chunks share the anchor with each other. The lock of the anchor itself is exclusive, and so
//! excludes all of its chunks. While a thread waits for the anchor, new locks of its chunks wait,
//! too; otherwise an array with many writers would never be resized.
//!
//! The table belongs to the process and identifies keys by store and key, so that two handles on
//! one store share the locks. It is locked first; a store that can also exclude other processes
//! then takes its own locks. A forked child starts with an empty table.
//!
//! A thread that holds a lock may take the same one again, or, if it holds an anchor, the locks of
//! its chunks; therefore [`KeyLock`] stays on its thread. A request that could only wait for its
//! own thread (a chunk's holder that requests the anchor) is refused with `EDEADLK`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::rc::{Rc, Weak};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::lock::anchor::is_still;
use crate::lock::beyond::{Beyond, Others};
use crate::lock::descriptors;
use crate::process::fork::{self, PerProcess};
use crate::process::trace;
use crate::process::wait::{POLL, Wait};
use crate::sys;

static TABLE: PerProcess<Table> = PerProcess::new(Table::new);

thread_local! {
    static HELD: RefCell<Vec<Weak<HeldLock>>> = const { RefCell::new(Vec::new()) };
}

/// A held lock of one key; released when dropped.
#[must_use = "the lock is released when this is dropped"]
#[derive(Debug)]
pub struct KeyLock {
    held: Rc<HeldLock>,
}

impl KeyLock {
    /// Waits for the lock of `key` among the threads of this process.
    ///
    /// For stores that cannot exclude other processes, or that do so by conditional writes.
    /// `store` is the store's `id`.
    pub fn in_process(store: &str, anchor: &str, key: &str) -> Result<Self> {
        Self::with(store, anchor, key, |_| Ok(Beyond::Nothing))
    }

    /// [`in_process`](Self::in_process), for a store that can tell whether an anchor is there.
    pub(crate) fn in_process_beside(
        store: &str,
        anchor: &str,
        key: &str,
        has_anchor: impl FnOnce() -> bool,
    ) -> Result<Self> {
        Self::with(store, anchor, key, |_| {
            let is_there = anchor == key || has_anchor();
            Ok(if is_there { Beyond::Nothing } else { Beyond::NoAnchor })
        })
    }

    /// Whether other processes are excluded, too.
    #[must_use]
    pub fn is_process_wide(&self) -> bool {
        self.held.is_process_wide()
    }

    /// Whether this is the lock of a chunk, in a store that could lock it, but has no such anchor:
    /// the array was deleted or moved since it was opened.
    #[must_use]
    pub fn lacks_anchor(&self) -> bool {
        self.held.lacks_anchor
    }

    /// The version of the locked anchor, if the lock knows it.
    #[must_use]
    pub fn anchor_version(&self) -> Option<Generation> {
        self.held.version
    }

    /// Locks in this process, then by `beyond` outside of it. `beyond` is told which other locks
    /// the thread holds, because waiting could then be a deadlock.
    pub(crate) fn with(
        store: &str,
        anchor: &str,
        key: &str,
        beyond: impl FnOnce(Others) -> io::Result<Beyond>,
    ) -> Result<Self> {
        let _span = trace::span(trace::Doing::Lock, "", key);
        let whole = anchor == key;
        let (anchor, lock_key) = (LockKey::new(store, anchor), LockKey::new(store, key));
        let mine = held_by_this_thread();
        if let Some(held) = mine.iter().find(|held| held.key == lock_key && held.whole >= whole) {
            return Ok(Self { held: Rc::clone(held) });
        }
        let mut held = HeldLock {
            generation: fork::generation(),
            anchor,
            key: lock_key,
            whole,
            within: None,
            in_process: false,
            lacks_anchor: false,
            anchor_path: None,
            version: None,
            beyond: RefCell::new(None),
        };
        if let Some(outer) = mine.iter().find(|held| held.whole && held.anchor == anchor) {
            held.within = Some(Rc::clone(outer));
            return Ok(Self::remember(held));
        }
        let same_anchor = mine.iter().any(|held| held.anchor == anchor);
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::Interrupted => StoreError::Interrupted,
            _ => StoreError::Io { operation: "lock", path: format!("{store}/{key}"), source },
        };
        let same_key = mine.iter().any(|held| held.key == lock_key);
        if whole && (same_anchor || same_key) {
            return Err(failed(io::Error::from_raw_os_error(sys::code::DEADLOCK)));
        }
        let table = TABLE.get();
        let what = || format!("{store}/{key}");
        let mut wait = Wait::new(&what);
        table.acquire(anchor.of(Role::Anchor), whole, same_anchor, &mut wait).map_err(failed)?;
        if let Err(error) = table.acquire(lock_key.of(Role::Key), true, false, &mut wait) {
            table.release(anchor.of(Role::Anchor));
            return Err(failed(error));
        }
        held.in_process = true;
        let others = match (same_anchor, mine.is_empty()) {
            (true, _) => Others::OfThisAnchor,
            (false, false) => Others::Elsewhere,
            (false, true) => Others::None,
        };
        // If this fails, dropping `held` releases the locks of the table.
        match beyond(others).map_err(failed)? {
            Beyond::Nothing => {}
            Beyond::NoAnchor => held.lacks_anchor = true,
            Beyond::Locked(locked, path, version) => {
                held.beyond = RefCell::new(Some(locked));
                held.anchor_path = Some(path);
                held.version = version;
            }
        }
        Ok(Self::remember(held))
    }

    fn remember(held: HeldLock) -> Self {
        let held = Rc::new(held);
        let _ = HELD.try_with(|all| all.borrow_mut().push(Rc::downgrade(&held)));
        Self { held }
    }
}

/// One acquired lock; shared by the guards of a thread that took it more than once.
#[derive(Debug)]
pub(crate) struct HeldLock {
    generation: u64,
    anchor: LockKey,
    key: LockKey,
    whole: bool,
    /// The lock of the whole anchor, if the thread holds it and this lock adds nothing to it.
    within: Option<Rc<HeldLock>>,
    in_process: bool,
    lacks_anchor: bool,
    anchor_path: Option<CString>,
    version: Option<Generation>,
    beyond: RefCell<Option<descriptors::LockedFile>>,
}

impl HeldLock {
    pub(crate) fn is_process_wide(&self) -> bool {
        match &self.within {
            Some(outer) => outer.is_process_wide(),
            None => self.beyond.borrow().is_some(),
        }
    }

    /// The device of the file in which this is locked, if other processes are excluded.
    pub(crate) fn device(&self) -> io::Result<Option<u64>> {
        match (&self.within, &*self.beyond.borrow()) {
            (Some(outer), _) => outer.device(),
            (None, Some(locked)) => Ok(Some(sys::status_of(locked.file()?)?.device())),
            (None, None) => Ok(None),
        }
    }

    /// Whether the anchor in which a chunk is locked has been deleted, moved or replaced without
    /// this lock, for example because a parent directory was deleted.
    pub(crate) fn has_lost_anchor(&self) -> io::Result<bool> {
        match (&self.anchor_path, &*self.beyond.borrow()) {
            (Some(path), Some(locked)) if !self.whole => Ok(!is_still(path, locked.file()?)?),
            _ => Ok(false),
        }
    }

    /// Whether this locks an anchor, and so every key that belongs to it.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Holds the lock through `next` from now on, and releases the previous descriptor.
    pub(crate) fn hand_over(&self, next: descriptors::LockedFile) {
        let previous = self.beyond.replace(Some(next));
        drop(previous);
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // First outside, then in this process: a waiting thread of this process must find both
        // free.
        drop(self.beyond.take());
        let _ = HELD.try_with(|all| all.borrow_mut().retain(|held| held.strong_count() > 0));
        if self.in_process && self.generation == fork::generation() {
            let table = TABLE.get();
            table.release(self.key.of(Role::Key));
            table.release(self.anchor.of(Role::Anchor));
        }
    }
}

/// The lock of `key` that this thread holds, if any.
pub(crate) fn held(store: &str, key: &str) -> Option<Rc<HeldLock>> {
    let mine = held_by_this_thread();
    if mine.is_empty() {
        return None;
    }
    let lock_key = LockKey::new(store, key);
    mine.into_iter().find(|held| held.key == lock_key)
}

/// Locks that a forked child inherits in its thread's list do not count.
fn held_by_this_thread() -> Vec<Rc<HeldLock>> {
    let generation = fork::generation();
    let alive = |held: &Weak<HeldLock>| held.upgrade().filter(|held| held.generation == generation);
    HELD.try_with(|all| all.borrow().iter().filter_map(alive).collect()).unwrap_or_default()
}

/// A key of a store as a hash of 128 bits; a collision would only make two keys wait for each
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LockKey(u128);

#[derive(Clone, Copy, Hash)]
enum Role {
    Key,
    Anchor,
}

impl LockKey {
    /// Hashes the joined text: a group that is opened as a store of its own gets the same locks.
    fn new(store: &str, key: &str) -> Self {
        let half = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(seed);
            hasher.write(store.as_bytes());
            hasher.write_u8(b'/');
            hasher.write(key.as_bytes());
            u128::from(hasher.finish())
        };
        Self(half(0) << 64 | half(1))
    }

    fn of(self, role: Role) -> u128 {
        self.0 ^ role as u128
    }
}

/// The holders of a lock, and the number of waiters for an exclusive lock.
#[derive(Debug, Default)]
struct Holders {
    shared: u32,
    alone: bool,
    waiting: u32,
}

impl Holders {
    fn is_free(&self) -> bool {
        !self.alone && self.shared == 0 && self.waiting == 0
    }
}

type HoldersByKey = HashMap<u128, Holders>;

#[derive(Debug, Default)]
struct Shard {
    by_key: Mutex<HoldersByKey>,
    released: Condvar,
}

#[derive(Debug)]
struct Table {
    shards: [Shard; 64],
}

impl Table {
    fn new() -> Self {
        Self { shards: std::array::from_fn(|_| Shard::default()) }
    }

    fn shard(&self, hash: u128) -> &Shard {
        &self.shards[(hash >> 64) as usize % self.shards.len()]
    }

    /// `barging` ignores the waiting threads, for a thread that they wait for.
    fn acquire(
        &self,
        hash: u128,
        alone: bool,
        barging: bool,
        wait: &mut Wait<'_>,
    ) -> io::Result<()> {
        let shard = self.shard(hash);
        let mut by_key = locked(&shard.by_key);
        loop {
            let holders = by_key.entry(hash).or_default();
            let free = if alone {
                !holders.alone && holders.shared == 0
            } else {
                !holders.alone && (barging || holders.waiting == 0)
            };
            if free {
                if alone {
                    holders.alone = true
                } else {
                    holders.shared += 1
                }
                return Ok(());
            }
            holders.waiting += u32::from(alone);
            let timeout;
            (by_key, timeout) =
                shard.released.wait_timeout(by_key, POLL).unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                // The handler of a signal may take any lock.
                drop(by_key);
                let looked = wait.look(|| "another thread of this process".to_owned());
                by_key = locked(&shard.by_key);
                if looked.is_err() {
                    self.give_up(hash, alone, by_key);
                    return looked.map(drop);
                }
            }
            if alone && let Some(holders) = by_key.get_mut(&hash) {
                holders.waiting -= 1;
            }
        }
    }

    /// Ends the wait; threads that waited behind this one may continue.
    fn give_up(&self, hash: u128, alone: bool, mut by_key: MutexGuard<'_, HoldersByKey>) {
        if let Some(holders) = by_key.get_mut(&hash) {
            holders.waiting -= u32::from(alone);
            if holders.is_free() {
                by_key.remove(&hash);
            }
        }
        drop(by_key);
        self.shard(hash).released.notify_all();
    }

    fn release(&self, hash: u128) {
        let shard = self.shard(hash);
        let mut by_key = locked(&shard.by_key);
        if let Some(holders) = by_key.get_mut(&hash) {
            if holders.alone {
                holders.alone = false
            } else {
                holders.shared -= 1
            }
            if holders.is_free() {
                by_key.remove(&hash);
            }
        }
        drop(by_key);
        shard.released.notify_all();
    }
}

/// No code panics while it holds the table, so a poisoned lock is still valid.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
