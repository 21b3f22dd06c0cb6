//! The decoded-chunk cache, shared by all arrays of this process.
//!
//! An entry belongs to one generation of one stored value. It is a decoded chunk, a decoded block,
//! or what tells where those lie (a shard index, the table of a Blosc frame). Its key is the layout
//! of the array, the key of the value and the position in the value. It is returned only to a
//! caller that has just seen this generation: a replaced value is another value. Large chunks with
//! blocks are cached by blocks, so that a crop does not decode more than without a cache.
//!
//! `quick_cache` (S3-FIFO) decides what stays: entries that are read once, as in a scan, are
//! evicted before those that were read twice. We use it without its own locks, behind a mutex of
//! the standard library that is held only for a lookup. A forked child begins with an empty cache.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::unsync::Cache;
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, Weighter};
use zarrix_codec::blosc::BlockTable;
use zarrix_store::Generation;
use zarrix_store::process::PerProcess;

use crate::chunk::shard_index::Index;

/// Memory of an entry besides its bytes and its key: table slots and allocations.
const OVERHEAD_BYTES: u64 = 256;
/// Estimated length of an entry, for the initial size of tables that grow.
const USUAL_BYTES: usize = 64 << 10;

static MAX_BYTES: AtomicUsize = AtomicUsize::new(0);
static CACHE: PerProcess<ChunkCache> = PerProcess::new(ChunkCache::new);

/// Counters of the decoded-chunk cache of this process.
///
/// Large chunks with blocks are counted by blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkCacheCounts {
    /// Chunks that were in the cache.
    pub hits: u64,
    /// Chunks that were not in the cache, and were decoded.
    pub misses: u64,
    /// Decoded bytes of the hits.
    pub hit_bytes: u64,
    /// Entries that were evicted.
    pub evicted: u64,
    /// Cached entries.
    pub entries: u64,
    /// Memory of these entries, including their keys.
    pub bytes: u64,
}

/// Maximum bytes of the decoded-chunk cache of this process; 0 for no cache.
pub fn chunk_cache_bytes() -> usize {
    MAX_BYTES.load(Ordering::Relaxed)
}

/// Changes [`chunk_cache_bytes`], and empties the cache.
pub fn set_chunk_cache_bytes(bytes: usize) {
    MAX_BYTES.store(bytes, Ordering::Relaxed);
    CACHE.get().resize();
}

/// The counters of the cache of this process.
pub fn chunk_cache_counts() -> ChunkCacheCounts {
    CACHE.get().counts()
}

/// Whether there is a cache.
pub(crate) fn is_on() -> bool {
    MAX_BYTES.load(Ordering::Relaxed) > 0
}

/// The part of a stored value that an entry is made from, and the kind of entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartKey {
    /// Where the encoded bytes lie.
    pub begin: u64,
    pub end: u64,
    pub kind: PartKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PartKind {
    Index,
    Table,
    Chunk,
    Block(usize),
}

#[derive(Clone)]
pub(crate) enum CachedPart {
    Index(Arc<Index>),
    Table(Arc<BlockTable>),
    Decoded(Arc<Vec<u8>>),
}

impl CachedPart {
    fn bytes(&self) -> usize {
        match self {
            Self::Index(index) => index.bytes(),
            Self::Table(table) => size_of_val(table.extents()),
            Self::Decoded(bytes) => bytes.len(),
        }
    }
}

/// A stored value, parts of which are cached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    /// The store, and how the array decodes its values.
    pub array: &'a Arc<str>,
    pub key: &'a str,
}

struct Name {
    array: Arc<str>,
    key: Box<str>,
    part: PartKey,
}

/// A borrowed [`Name`].
struct Sought<'a>(Value<'a>, PartKey);

impl Name {
    fn sought(&self) -> Sought<'_> {
        Sought(Value { array: &self.array, key: &self.key }, self.part)
    }
}

impl Hash for Sought<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self(Value { array, key }, part) = self;
        (array, key, part).hash(state);
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sought().hash(state);
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.sought().equivalent(other)
    }
}

impl Eq for Name {}

impl Equivalent<Name> for Sought<'_> {
    fn equivalent(&self, name: &Name) -> bool {
        let Self(Value { array, key }, part) = self;
        *part == name.part && *key == &*name.key && **array == name.array
    }
}

struct Entry {
    generation: Generation,
    content: CachedPart,
}

#[derive(Clone)]
struct Weigh;

impl Weighter<Name, Entry> for Weigh {
    fn weight(&self, name: &Name, cached: &Entry) -> u64 {
        OVERHEAD_BYTES + (name.key.len() + cached.content.bytes()) as u64
    }
}

/// Collects evicted entries, which are freed after the lock is released.
#[derive(Clone)]
struct Collect;

impl Lifecycle<Name, Entry> for Collect {
    type RequestState = Vec<(Name, Entry)>;

    fn on_evict(&self, evicted: &mut Self::RequestState, name: Name, cached: Entry) {
        evicted.push((name, cached));
    }
}

type Entries = Cache<Name, Entry, Weigh, DefaultHashBuilder, Collect>;

struct ChunkCache {
    entries: Mutex<Entries>,
    hits: AtomicU64,
    misses: AtomicU64,
    hit_bytes: AtomicU64,
    evicted: AtomicU64,
}

impl ChunkCache {
    fn new() -> Self {
        let zero = || AtomicU64::new(0);
        let (hits, misses, hit_bytes, evicted) = (zero(), zero(), zero(), zero());
        Self { entries: Mutex::new(empty_cache()), hits, misses, hit_bytes, evicted }
    }

    fn with<R>(&self, section: impl FnOnce(&mut Entries) -> R) -> R {
        section(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn resize(&self) {
        // Everything is dropped: evicting entries one by one takes as long as decoding them again.
        drop(self.with(|entries| std::mem::replace(entries, empty_cache())));
    }

    fn counts(&self) -> ChunkCacheCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (entries, bytes) = self.with(|entries| (entries.len() as u64, entries.weight()));
        let Self { hits, misses, hit_bytes, evicted, .. } = self;
        ChunkCacheCounts {
            hits: of(hits),
            misses: of(misses),
            hit_bytes: of(hit_bytes),
            evicted: of(evicted),
            entries,
            bytes,
        }
    }
}

fn empty_cache() -> Entries {
    let bytes = chunk_cache_bytes();
    Cache::with(
        bytes / USUAL_BYTES + 1,
        bytes as u64,
        Weigh,
        DefaultHashBuilder::default(),
        Collect,
    )
}

impl Value<'_> {
    /// The generation of this cached entry.
    pub fn generation_of(self, part: PartKey) -> Option<Generation> {
        CACHE
            .get()
            .with(|entries| entries.peek(&Sought(self, part)).map(|cached| cached.generation))
    }

    /// An entry of a generation that the caller has seen to be current.
    pub fn get(self, generation: Generation, part: PartKey) -> Option<CachedPart> {
        let sought = Sought(self, part);
        let (content, old) = CACHE.get().with(|entries| match entries.get(&sought) {
            Some(cached) if cached.generation == generation => (Some(cached.content.clone()), None),
            Some(_) => (None, entries.remove(&sought)),
            None => (None, None),
        });
        drop(old);
        content
    }

    /// Caches an entry of a generation that was current before any of it was read.
    pub fn insert(self, generation: Generation, part: PartKey, content: CachedPart) {
        let cache = CACHE.get();
        let name = Name { array: Arc::clone(self.array), key: self.key.into(), part };
        let mut evicted = Vec::new();
        cache.with(|entries| {
            entries.insert_with_lifecycle(name, Entry { generation, content }, &mut evicted);
        });
        cache.evicted.fetch_add(evicted.len() as u64, Ordering::Relaxed);
    }
}

/// Counts hits, with their bytes, and misses.
pub(crate) fn count(hits: usize, hit_bytes: usize, misses: usize) {
    let cache = CACHE.get();
    cache.hits.fetch_add(hits as u64, Ordering::Relaxed);
    cache.hit_bytes.fetch_add(hit_bytes as u64, Ordering::Relaxed);
    cache.misses.fetch_add(misses as u64, Ordering::Relaxed);
}
