//! A store that records its calls.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::generation::Generation;
use crate::lock::table::KeyLock;
use crate::store::{Durability, Edge, Listing, Reader, Store};

/// One call that read or wrote a value, or parts of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// All of a value was read.
    Get(String),
    /// One end of a value was read.
    Edge(String, Edge),
    /// Ranges of a value were read in one request.
    Ranges(String, Vec<Range<u64>>),
    /// A value of this many bytes was written.
    Put(String, usize),
    /// A key was deleted.
    Delete(String),
}

/// Another store, and the calls that read or wrote values since the last [`take`](Self::take).
#[derive(Debug)]
pub struct CountingStore {
    inner: Arc<dyn Store>,
    inline: bool,
    calls: Mutex<Vec<Call>>,
}

impl CountingStore {
    /// Wraps `inner`; unless `inline`, values are requested in batches.
    pub fn new(inner: Arc<dyn Store>, inline: bool) -> Self {
        Self { inner, inline, calls: Mutex::default() }
    }

    /// The calls since the last time, in their order.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, call: Call) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

/// An open value. Each read counts as a read of ranges; the first one counts as a read of an edge
/// if it begins or ends with the value.
struct Counting<'a> {
    store: &'a CountingStore,
    key: String,
    inner: Box<dyn Reader + 'a>,
    is_read: AtomicBool,
}

impl Reader for Counting<'_> {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let (key, bytes) = (self.key.clone(), dst.len() as u64);
        let is_first = !self.is_read.swap(true, Ordering::Relaxed);
        let range = offset..offset + bytes;
        self.store.note(match is_first {
            true if range.start == 0 => Call::Edge(key, Edge::First(bytes)),
            true if range.end == self.size() => Call::Edge(key, Edge::Last(bytes)),
            _ => Call::Ranges(key, vec![range]),
        });
        self.inner.read_at(offset, dst)
    }
}

impl Store for CountingStore {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn is_inline(&self) -> bool {
        self.inline
    }

    fn reads_value_once(&self) -> bool {
        self.inner.reads_value_once()
    }

    fn is_remote(&self) -> bool {
        !self.inline
    }

    fn reads_parts(&self) -> bool {
        self.inline
    }

    /// True, so that a read of a whole value is one call.
    fn checks_whole_values(&self) -> bool {
        true
    }

    fn reader(&self, key: &str) -> Result<Option<Box<dyn Reader + '_>>> {
        let Some(inner) = self.inner.reader(key)? else {
            self.note(Call::Get(key.to_owned()));
            return Ok(None);
        };
        let (key, is_read) = (key.to_owned(), AtomicBool::new(false));
        Ok(Some(Box::new(Counting { store: self, key, inner, is_read })))
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        self.note(Call::Get(key.to_owned()));
        self.inner.get_into(key, dst)
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        self.note(Call::Ranges(key.to_owned(), ranges.to_vec()));
        self.inner.get_ranges_into(key, ranges, dst)
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        self.note(Call::Edge(key.to_owned(), edge));
        self.inner.get_edge_into(key, edge, dst)
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.inner.size(key)
    }

    fn put(&self, key: &str, value: &[u8], durability: Durability) -> Result<()> {
        self.note(Call::Put(key.to_owned(), value.len()));
        self.inner.put(key, value, durability)
    }

    fn delete(&self, key: &str, durability: Durability) -> Result<bool> {
        self.note(Call::Delete(key.to_owned()));
        self.inner.delete(key, durability)
    }

    fn delete_prefix(&self, prefix: &str, durability: Durability) -> Result<u64> {
        self.inner.delete_prefix(prefix, durability)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        self.inner.list_prefix(prefix)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        self.inner.list_dir(prefix)
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        self.inner.size_prefix(prefix)
    }

    fn rename_prefix(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        self.inner.rename_prefix(source, target, durability)
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        self.inner.lock(anchor, key)
    }
}
