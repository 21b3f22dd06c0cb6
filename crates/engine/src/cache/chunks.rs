//! Decoded chunks in memory, kept by this process for all of its arrays.
//!
//! What is kept is a piece of one version of one stored value: a decoded chunk, a decoded block of
//! one, or what says where those lie (the index of a shard, the table of a frame). It is found by the
//! array's layout, the key and the piece's place in the value, and given out only to who has just
//! seen that version: a value that was replaced is another value. Large chunks whose format has
//! blocks are kept by blocks, so that a crop decodes no more than it does without a cache.
//!
//! Which pieces stay is decided by `quick_cache` (S3-FIFO): what is read once, as in a scan, gives
//! way to what was read twice. It is used without its own locks, behind one of the standard library
//! that is held for a lookup only; a forked child begins with an empty cache.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::unsync::Cache;
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, Weighter};
use zarrix_codec::blosc::BlockTable;
use zarrix_store::Generation;
use zarrix_store::process::PerProcess;

use crate::chunk::shard_index::Index;

/// What a piece takes beside its bytes and its key: its places in the tables, and allocations.
const OVERHEAD_BYTES: u64 = 256;
/// A guess at how long pieces are, for tables that grow where it is wrong.
const USUAL_BYTES: usize = 64 << 10;

static MAX_BYTES: AtomicUsize = AtomicUsize::new(0);
static CACHE: PerProcess<ChunkCache> = PerProcess::new(ChunkCache::new);

/// What the cache of decoded chunks has done for this process, and what it holds.
///
/// Large chunks with blocks are counted by blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkCacheCounts {
    /// Chunks that were here.
    pub hits: u64,
    /// Chunks that were not, and were decoded.
    pub misses: u64,
    /// Decoded bytes of the hits.
    pub hit_bytes: u64,
    /// Pieces that were dropped to make room.
    pub evicted: u64,
    /// Pieces that are kept.
    pub entries: u64,
    /// Bytes that these take, with what it takes to find them.
    pub bytes: u64,
}

/// Most bytes of decoded chunks that this process keeps; 0 for no cache.
pub fn chunk_cache_bytes() -> usize {
    MAX_BYTES.load(Ordering::Relaxed)
}

/// Changes [`chunk_cache_bytes`]; what is then too much is dropped.
pub fn set_chunk_cache_bytes(bytes: usize) {
    MAX_BYTES.store(bytes, Ordering::Relaxed);
    CACHE.get().resize();
}

/// What the cache of this process has done.
pub fn chunk_cache_counts() -> ChunkCacheCounts {
    CACHE.get().counts()
}

/// Whether there is a cache.
pub(crate) fn is_on() -> bool {
    MAX_BYTES.load(Ordering::Relaxed) > 0
}

/// Which part of a stored value a piece is made of, and what of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Where the encoded bytes lie.
    pub begin: u64,
    pub end: u64,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Index,
    Table,
    Chunk,
    Block(usize),
}

#[derive(Clone)]
pub(crate) enum Piece {
    Index(Arc<Index>),
    Table(Arc<BlockTable>),
    Decoded(Arc<Vec<u8>>),
}

impl Piece {
    fn bytes(&self) -> usize {
        match self {
            Self::Index(index) => index.bytes(),
            Self::Table(table) => size_of_val(table.extents()),
            Self::Decoded(bytes) => bytes.len(),
        }
    }
}

/// A stored value, of which pieces are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    /// The store, and how the array reads what is in it.
    pub array: &'a Arc<str>,
    pub key: &'a str,
}

struct Name {
    array: Arc<str>,
    key: Box<str>,
    place: Place,
}

/// A [`Name`] that owns nothing.
struct Sought<'a>(Value<'a>, Place);

impl Name {
    fn sought(&self) -> Sought<'_> {
        Sought(Value { array: &self.array, key: &self.key }, self.place)
    }
}

impl Hash for Sought<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self(Value { array, key }, place) = self;
        (array, key, place).hash(state);
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
        let Self(Value { array, key }, place) = self;
        *place == name.place && *key == &*name.key && **array == name.array
    }
}

struct Entry {
    generation: Generation,
    piece: Piece,
}

#[derive(Clone)]
struct Weigh;

impl Weighter<Name, Entry> for Weigh {
    fn weight(&self, name: &Name, cached: &Entry) -> u64 {
        OVERHEAD_BYTES + (name.key.len() + cached.piece.bytes()) as u64
    }
}

/// Collects what is evicted, to be freed when nobody waits for it.
#[derive(Clone)]
struct Collect;

impl Lifecycle<Name, Entry> for Collect {
    type RequestState = Vec<(Name, Entry)>;

    fn on_evict(&self, evicted: &mut Self::RequestState, name: Name, cached: Entry) {
        evicted.push((name, cached));
    }
}

type Pieces = Cache<Name, Entry, Weigh, DefaultHashBuilder, Collect>;

struct ChunkCache {
    pieces: Mutex<Pieces>,
    hits: AtomicU64,
    misses: AtomicU64,
    hit_bytes: AtomicU64,
    evicted: AtomicU64,
}

impl ChunkCache {
    fn new() -> Self {
        let zero = || AtomicU64::new(0);
        let (hits, misses, hit_bytes, evicted) = (zero(), zero(), zero(), zero());
        Self { pieces: Mutex::new(empty_cache()), hits, misses, hit_bytes, evicted }
    }

    fn with<R>(&self, section: impl FnOnce(&mut Pieces) -> R) -> R {
        section(&mut self.pieces.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn resize(&self) {
        // All of it goes: what would have to be evicted one by one is as soon decoded again.
        drop(self.with(|pieces| std::mem::replace(pieces, empty_cache())));
    }

    fn counts(&self) -> ChunkCacheCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (entries, bytes) = self.with(|pieces| (pieces.len() as u64, pieces.weight()));
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

fn empty_cache() -> Pieces {
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
    /// The version of which this piece is kept.
    pub fn generation_of(self, place: Place) -> Option<Generation> {
        CACHE.get().with(|pieces| pieces.peek(&Sought(self, place)).map(|cached| cached.generation))
    }

    /// A piece of the version that the caller has seen to be the present one.
    pub fn get(self, generation: Generation, place: Place) -> Option<Piece> {
        let sought = Sought(self, place);
        let (piece, old) = CACHE.get().with(|pieces| match pieces.get(&sought) {
            Some(cached) if cached.generation == generation => (Some(cached.piece.clone()), None),
            Some(_) => (None, pieces.remove(&sought)),
            None => (None, None),
        });
        drop(old);
        piece
    }

    /// Keeps a piece of a version that was seen to be the present one before any of it was read.
    pub fn insert(self, generation: Generation, place: Place, piece: Piece) {
        let cache = CACHE.get();
        let name = Name { array: Arc::clone(self.array), key: self.key.into(), place };
        let mut evicted = Vec::new();
        cache.with(|pieces| {
            pieces.insert_with_lifecycle(name, Entry { generation, piece }, &mut evicted);
        });
        cache.evicted.fetch_add(evicted.len() as u64, Ordering::Relaxed);
    }
}

/// Counts chunks that were wanted: those that were here, of so many bytes, and those that were not.
pub(crate) fn count(hits: usize, hit_bytes: usize, misses: usize) {
    let cache = CACHE.get();
    cache.hits.fetch_add(hits as u64, Ordering::Relaxed);
    cache.hit_bytes.fetch_add(hit_bytes as u64, Ordering::Relaxed);
    cache.misses.fetch_add(misses as u64, Ordering::Relaxed);
}
