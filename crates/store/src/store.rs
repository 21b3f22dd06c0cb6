//! The trait of all stores, and its types.

use std::ffi::OsString;
use std::fs::File;
use std::ops::Range;
use std::time::Duration;

use zarrix_codec::memory::with_room;

use crate::carrier::{Carried, Carrier, Carry};
use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::lock::table::KeyLock;
use crate::tagged::{
    Condition, ConditionalPut, Cursor, ListedValue, PAGE_ROWS, PutOutcome, Tagged,
};

/// How often a value is read again because its tag has changed meanwhile.
const REREADS: u32 = 100;

/// What a write has to survive once it has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Durability {
    /// The write survives the death of any process.
    #[default]
    Process,
    /// The write survives a loss of power: file and directory are synced.
    Fsync,
}

/// A request for a value of a store.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The key.
    pub key: &'a str,
    /// The requested part of its value.
    pub part: Part<'a>,
}

/// The requested part of a value.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// All of it; if it is longer than this, one byte more than this is enough.
    AtMost(u64),
    /// Byte ranges in ascending order.
    Ranges(&'a [Range<u64>]),
    /// One end, or all of a shorter value.
    Edge(Edge),
}

impl Part<'_> {
    /// All of a value, regardless of its length.
    pub const WHOLE: Self = Self::AtMost(u64::MAX);
}

/// One end of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// This many bytes from its beginning.
    First(u64),
    /// This many bytes up to its end.
    Last(u64),
}

impl Edge {
    /// The range of this edge in a value of `total` bytes; all of a shorter value.
    #[must_use]
    pub fn range(self, total: u64) -> Range<u64> {
        match self {
            Self::First(bytes) => 0..bytes.min(total),
            Self::Last(bytes) => total.saturating_sub(bytes)..total,
        }
    }
}

/// One open version of a value: reads are not affected by later versions.
pub trait Reader: Send + Sync {
    /// Length of the value in bytes.
    fn size(&self) -> u64;

    /// Fills `dst` with the bytes from `offset` on; a range beyond the end is an error.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()>;

    /// A generation that differs from those of all other versions, past and future, of the key;
    /// `None` if there is none, or not yet.
    fn version(&self) -> Option<Generation> {
        None
    }

    /// The file that has exactly these bytes, if there is one.
    fn file(&self) -> Option<&File> {
        None
    }
}

/// Larger than the length of any value.
pub const UNKNOWN_LENGTH: u64 = 1 << 63;

/// The result of a request.
#[derive(Debug)]
pub enum Fetched {
    /// Nothing is stored under this key.
    Absent,
    /// The requested bytes, with ranges concatenated, and the length of the whole value. For an
    /// edge, the length is [`UNKNOWN_LENGTH`] if the store does not return it.
    Bytes(Vec<u8>, Generation, u64),
}

/// A value that is to be changed.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// The metadata key of the array that `key` belongs to, as for [`Store::lock`].
    pub anchor: &'a str,
    /// The key.
    pub key: &'a str,
    /// For a value longer than this, `most + 1` bytes are enough to raise the error.
    pub most: u64,
    /// What the change has to survive.
    pub durability: Durability,
}

/// Computes the new value from the old one, or from `None`.
pub type Changing<'a> = dyn FnMut(Option<&[u8]>, &mut Vec<u8>) -> Change + 'a;

/// An error for a value that is too long to be changed, before anything of it is read.
pub(crate) fn require_at_most(length: Option<u64>, update: Update<'_>) -> Result<()> {
    match length {
        Some(bytes) if bytes > update.most => {
            Err(StoreError::TooLong { key: update.key.to_owned(), bytes, most: update.most })
        }
        _ => Ok(()),
    }
}

/// [`Store::update`] for a store whose locks exclude all other writers.
pub fn update_locked(
    store: &(impl Store + ?Sized),
    update: Update<'_>,
    old: &mut Vec<u8>,
    new: &mut Vec<u8>,
    change: &mut Changing<'_>,
) -> Result<()> {
    let _lock = store.lock(update.anchor, update.key)?;
    let found = store.get_at_most_into(update.key, update.most, old)?;
    match change(found.map(|_| old.as_slice()), new) {
        Change::Keep => Ok(()),
        Change::Put => store.put(update.key, new, update.durability),
        Change::Delete => store.delete(update.key, update.durability).map(|_| ()),
    }
}

/// [`Store::put_if`] for a store whose locks exclude all other writers.
pub fn put_if_locked(
    store: &(impl Store + ?Sized),
    update: Update<'_>,
    value: &[u8],
    condition: Condition<'_>,
) -> Result<PutOutcome> {
    let Update { anchor, key, durability, .. } = update;
    let _lock = store.lock(anchor, key)?;
    let meets = match condition {
        Condition::Always => true,
        Condition::Absent => store.size(key)?.is_none(),
        Condition::Tag(tag) => match store.head(key)? {
            Some(found) if found.tag.is_empty() => return Err(StoreError::unconditional(key)),
            found => found.is_some_and(|found| found.tag == tag),
        },
    };
    if !meets {
        return Ok(PutOutcome::Refused);
    }
    store.put(key, value, durability)?;
    let tag = store.head(key)?.map_or_else(String::new, |stored| stored.tag);
    Ok(PutOutcome::Stored(tag))
}

/// [`Store::list_page`] for a store that lists all of its keys at once.
pub fn list_page_of_keys(
    store: &(impl Store + ?Sized),
    cursor: &mut Cursor,
) -> Result<Vec<ListedValue>> {
    let known = cursor.state.take().and_then(|state| state.downcast::<Vec<String>>().ok());
    // The next one is the last.
    let mut keys = match known {
        Some(keys) => keys,
        None => {
            let mut keys = store.list_prefix(&cursor.prefix)?;
            keys.retain(|key| *key > cursor.after);
            keys.reverse();
            Box::new(keys)
        }
    };
    let mut page = Vec::new();
    while page.len() < PAGE_ROWS
        && let Some(key) = keys.pop()
    {
        page.extend(store.head(&key)?);
        cursor.after = key;
    }
    cursor.is_done = keys.is_empty();
    cursor.state = Some(keys);
    Ok(page)
}

/// What to do with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stays as it is.
    Keep,
    /// It is replaced.
    Put,
    /// It is removed.
    Delete,
}

/// The names directly below a prefix, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Names that hold a value.
    pub keys: Vec<String>,
    /// Names that are prefixes of other keys.
    pub prefixes: Vec<String>,
}

/// A map of keys to bytes. All methods may be called concurrently from any thread.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Equal for two handles on the same store; locks and caches identify the store by it.
    fn id(&self) -> &str;

    /// Whether a call is so cheap that a worker makes it inline (local files, memory).
    fn is_inline(&self) -> bool;

    /// Replaces the content of `dst` by the value of `key`; `None` and an empty `dst` if it is
    /// missing.
    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>>;

    /// [`get_into`](Store::get_into) for a value that must not be longer than `most` bytes: if it
    /// is, the first `most + 1` bytes are enough, or [`StoreError::TooLong`].
    ///
    /// The store is not trusted and may return any value; the metadata gives the limit of a chunk.
    fn get_at_most_into(
        &self,
        key: &str,
        _most: u64,
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        self.get_into(key, dst)
    }

    /// Replaces the content of `dst` by the requested ranges of one version of `key`, concatenated.
    /// A range that exceeds the value is an error.
    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>>;

    /// Replaces the content of `dst` by one end of the value of `key`, or by all of a shorter
    /// value. Also returns the length of the whole value, or [`UNKNOWN_LENGTH`].
    ///
    /// A later read of ranges returns the same generation, unless the value has changed.
    ///
    /// For an index at a known end of a value whose length is unknown. The provided method fetches
    /// the whole value.
    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        let Some(generation) = self.get_into(key, dst)? else { return Ok(None) };
        let total = dst.len() as u64;
        let Range { start, end } = edge.range(total);
        // Both offsets lie within the value's length, which is a usize.
        dst.truncate(end as usize);
        dst.drain(..start as usize);
        Ok(Some((generation, total)))
    }

    /// Whether reading a part of an open value costs about as much as its bytes alone (local
    /// files).
    fn reads_parts(&self) -> bool {
        false
    }

    /// Whether values are in this process's memory, so that finding one takes almost no time.
    fn is_memory(&self) -> bool {
        false
    }

    /// Whether the store verifies a value that is read as a whole, but not parts of it.
    fn checks_whole_values(&self) -> bool {
        false
    }

    /// Whether [`put`](Store::put) reads each byte of its value at most once.
    ///
    /// Other threads may change the caller's array during the write. A store that reads it once
    /// stores a mixture of old and new elements. A store that adds a checksum could store a value
    /// that cannot be read, so it is given a copy.
    fn reads_value_once(&self) -> bool {
        false
    }

    /// Stores the value of `other` in `source` under `key`, atomically, and returns its length;
    /// `None` if it is missing.
    ///
    /// A value that goes through memory goes through `memory`. The system copies files.
    fn copy_from(
        &self,
        key: &str,
        source: &dyn Store,
        other: &str,
        durability: Durability,
        memory: &mut Vec<u8>,
    ) -> Result<Option<u64>> {
        if source.get_into(other, memory)?.is_none() {
            return Ok(None);
        }
        self.put(key, memory, durability)?;
        Ok(Some(memory.len() as u64))
    }

    /// Stores the value of `key` under `other`, too, without a copy of its bytes where the store
    /// can; `None` if it is missing. The provided method copies it.
    fn carry(
        &self,
        key: &str,
        other: &str,
        carrier: &Carrier,
        durability: Durability,
    ) -> Result<Option<Carried>> {
        let _ = carrier;
        let mut value = Vec::new();
        if self.get_into(key, &mut value)?.is_none() {
            return Ok(None);
        }
        self.put(other, &value, durability)?;
        Ok(Some(Carried { by: Carry::Copy, size: value.len() as u64, tag: (0, 0) }))
    }

    /// Opens the value of `key`. The provided method fetches all of it.
    fn reader(&self, key: &str) -> Result<Option<Box<dyn Reader + '_>>> {
        let mut value = Vec::new();
        let found = self.get_into(key, &mut value)?;
        Ok(found.map(|_| Box::new(Whole::new(key, value)) as Box<dyn Reader>))
    }

    /// Passes the result of every request to `sink` with the position of the request, in any order.
    ///
    /// Inline stores need not override it; others fetch concurrently, or in one call. After an
    /// error that would recur for all requests, the rest may be omitted.
    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        for (position, request) in requests.iter().enumerate() {
            sink(position, self.fetch_one(request));
        }
    }

    /// The result of one request.
    fn fetch_one(&self, request: &Request<'_>) -> Result<Fetched> {
        let mut value = Vec::new();
        let found = match request.part {
            Part::AtMost(most) => {
                let found = self.get_at_most_into(request.key, most, &mut value)?;
                found.map(|generation| (generation, value.len() as u64))
            }
            Part::Ranges(ranges) => match self.get_ranges_into(request.key, ranges, &mut value)? {
                Some(generation) => Some((generation, self.size(request.key)?.unwrap_or(0))),
                None => None,
            },
            Part::Edge(edge) => self.get_edge_into(request.key, edge, &mut value)?,
        };
        Ok(match found {
            Some((generation, total)) => Fetched::Bytes(value, generation, total),
            None => Fetched::Absent,
        })
    }

    /// Whether the store is remote, so that parts of a value are requested rather than all of it.
    ///
    /// `fetch` then calls its sink on a thread that holds no lock, while other requests are in
    /// flight; the sink may block.
    fn is_remote(&self) -> bool {
        false
    }

    /// Ranges with at most this gap in bytes between them are coalesced; `None` if the caller
    /// decides.
    fn gap(&self) -> Option<u64> {
        None
    }

    /// Whether `key` has a value, and a generation that identifies its version, if the store has
    /// one.
    ///
    /// For small values that are checked often. The provided method fetches the value.
    fn look(&self, key: &str) -> Result<Option<Option<Generation>>> {
        let found = self.get_at_most_into(key, 1 << 26, &mut Vec::new())?;
        Ok(found.map(|generation| generation.is_exact().then_some(generation)))
    }

    /// Length of the value of `key` in bytes.
    fn size(&self, key: &str) -> Result<Option<u64>>;

    /// Replaces the value of `key` atomically.
    fn put(&self, key: &str, value: &[u8], durability: Durability) -> Result<()>;

    /// Replaces the value of `key` atomically by `parts`, one after the other.
    ///
    /// The provided method joins them in memory.
    fn put_parts(&self, key: &str, parts: &[&[u8]], durability: Durability) -> Result<()> {
        let length = parts.iter().map(|part| part.len()).sum();
        let mut value = with_room(length).map_err(StoreError::memory(key))?;
        parts.iter().for_each(|part| value.extend_from_slice(part));
        self.put(key, &value, durability)
    }

    /// Replaces the value of a key by the result of `change`, atomically with respect to all
    /// writers.
    ///
    /// `change` gets the value in `old`, or `None`, and puts the new one into `new`. It may be
    /// called again with a newer value; only its last result counts. The provided method holds the
    /// key's lock from before the value is read until it is replaced.
    fn update(
        &self,
        update: Update<'_>,
        old: &mut Vec<u8>,
        new: &mut Vec<u8>,
        change: &mut Changing<'_>,
    ) -> Result<()> {
        update_locked(self, update, old, new, change)
    }

    /// Whether an [`update`](Store::update) can remove a value atomically. If not, it is better to
    /// store a value that is equivalent to a missing one.
    fn updates_by_deleting(&self) -> bool {
        true
    }

    /// Whether a put happens only under its condition, also while others write. Servers exist that
    /// ignore conditions; finding out may write a probe beside `key`.
    fn keeps_conditions(&self, _key: &str) -> Result<bool> {
        Ok(true)
    }

    /// Replaces the value of a key atomically, if what is stored meets the condition of `put`.
    ///
    /// The provided method holds the key's lock meanwhile. A store that has no tags, or ignores
    /// conditions, returns an error ([`StoreError::Unconditional`]).
    fn put_if(
        &self,
        update: Update<'_>,
        value: &[u8],
        put: ConditionalPut<'_>,
    ) -> Result<PutOutcome> {
        put_if_locked(self, update, value, put.condition)
    }

    /// Length and tag of the value of `key`. The provided method has a tag where [`look`](Store::look)
    /// has a generation.
    fn head(&self, key: &str) -> Result<Option<ListedValue>> {
        let Some(size) = self.size(key)? else { return Ok(None) };
        let tag = self.look(key)?.map(|found| found.map(Generation::tag).unwrap_or_default());
        Ok(tag.map(|tag| ListedValue { key: key.to_owned(), size, tag }))
    }

    /// [`get_at_most_into`](Store::get_at_most_into), with the tag of the version that was read. The
    /// provided method reads again if the tag has changed meanwhile.
    fn get_tagged(&self, key: &str, most: u64, dst: &mut Vec<u8>) -> Result<Option<Tagged>> {
        let mut before = self.head(key)?;
        for _ in 0..REREADS {
            self.get_at_most_into(key, most, dst)?;
            let after = self.head(key)?;
            if before == after {
                return Ok(
                    after.map(|ListedValue { tag, .. }| Tagged { tag, changes: String::new() })
                );
            }
            before = after;
        }
        Err(StoreError::replaced(key.to_owned()))
    }

    /// The next page of a listing in the order of the keys' bytes; empty at its end.
    ///
    /// Keys that are added or removed meanwhile may be listed or not. The provided method holds all
    /// keys in memory.
    fn list_page(&self, cursor: &mut Cursor) -> Result<Vec<ListedValue>> {
        list_page_of_keys(self, cursor)
    }

    /// Removes `key`, and returns whether it was there.
    ///
    /// With [`Durability::Fsync`] the removal survives a loss of power: a value that reappears is
    /// as wrong as one that is lost.
    fn delete(&self, key: &str, durability: Durability) -> Result<bool>;

    /// Removes every key below `prefix` (all keys when it is empty), and returns their number.
    fn delete_prefix(&self, prefix: &str, durability: Durability) -> Result<u64>;

    /// Removes the node at `prefix` and everything below it; `documents` are the names of its
    /// metadata documents. If the process is killed meanwhile, the node is either complete or gone.
    fn delete_node(&self, prefix: &str, documents: &[&str], durability: Durability) -> Result<u64> {
        for name in documents {
            self.delete(&below(prefix, name), durability)?;
        }
        self.delete_prefix(prefix, durability)
    }

    /// The name, below `prefix`, of a file there that is neither a value nor a leftover of ours, so
    /// that deleting everything would delete a file of others. Only directories have such names.
    fn foreign(&self, _prefix: &str) -> Result<Option<OsString>> {
        Ok(None)
    }

    /// The names below `prefix`, sorted and in full, of partial files and directories that are
    /// being deleted, or were when their process ended. Only directories have them.
    fn leftovers(&self, _prefix: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Removes one of the [`leftovers`](Store::leftovers) if it is at least `least_age` old;
    /// returns whether it did. Without an age, the caller holds the lock of the key: only a file
    /// that such a holder writes is removed.
    fn remove_leftover(&self, _name: &str, _least_age: Option<Duration>) -> Result<bool> {
        Ok(false)
    }

    /// Every key below `prefix`, sorted and in full.
    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>>;

    /// The names directly below `prefix`.
    fn list_dir(&self, prefix: &str) -> Result<Listing>;

    /// [`list_dir`](Store::list_dir) of each of `prefixes`; remote stores list them concurrently.
    fn list_dirs(&self, prefixes: &[String]) -> Result<Vec<Listing>> {
        prefixes.iter().map(|prefix| self.list_dir(prefix)).collect()
    }

    /// Sum of the lengths of all values below `prefix`, in bytes.
    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        let mut bytes = 0;
        for key in self.list_prefix(prefix)? {
            bytes += self.size(&key)?.unwrap_or(0);
        }
        Ok(bytes)
    }

    /// Moves everything at and below `source` to `target`, which must not exist.
    fn rename_prefix(&self, source: &str, target: &str, durability: Durability) -> Result<()>;

    /// Waits for the lock of `key`, among threads and, if the store supports it, among processes.
    ///
    /// `anchor` is the metadata key of the array that `key` belongs to: byte ranges of its file are
    /// the locks of the chunks. If `key` is the anchor itself, all of its chunks are locked, too.
    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock>;
}

/// The key of `name` at `prefix`.
#[must_use]
pub fn below(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// A value in memory.
pub(crate) struct Whole {
    key: String,
    value: Vec<u8>,
}

impl Whole {
    pub(crate) fn new(key: &str, value: Vec<u8>) -> Self {
        Self { key: key.to_owned(), value }
    }
}

impl Reader for Whole {
    fn size(&self) -> u64 {
        self.value.len() as u64
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        read_slice(&self.key, &self.value, offset, dst)
    }
}

/// [`Reader::read_at`] for a value in memory.
pub(crate) fn read_slice(key: &str, value: &[u8], offset: u64, dst: &mut [u8]) -> Result<()> {
    let end = offset.saturating_add(dst.len() as u64);
    let part = usize::try_from(offset).ok().and_then(|offset| value.get(offset..));
    let part = part.and_then(|part| part.get(..dst.len()));
    let part =
        part.ok_or_else(|| StoreError::beyond_end(key, &(offset..end), value.len() as u64))?;
    dst.copy_from_slice(part);
    Ok(())
}
