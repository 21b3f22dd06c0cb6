//! Reading from stores that answer many requests at once, in any order.
//!
//! A round requests something of every chunk: all of it, some bytes whose position is known, or the
//! index of a shard; after an index, the next round requests inner chunks. Remote stores are asked
//! only for the selection, and answers are decoded while other requests are in flight. Stores that
//! call Python answer while they hold the GIL, so their answers are collected first.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarrix_codec::memory::push;
use zarrix_store::{Edge, Fetched, Generation, Part, READ_ATTEMPTS, Request, Store, StoreError};

use crate::array::fetch::from_store;
use crate::array::io::ArrayIO;
use crate::chunk::buffer::{ReadBuffer, Target};
use crate::chunk::chunk_read::{ChunkRead, DecodeScratch};
use crate::chunk::decode::{decode_chunk, scatter};
use crate::chunk::lengths::{check_length, check_max_length};
use crate::chunk::shard_index::Index;
use crate::error::{CodecResult, EngineError, Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::layout::chunk_shapes::ChunkRef;
use crate::read::cached::{ALL, CachedVersion, Lookup, is_cacheable};
use crate::read::chunk_job::ChunkJob;
use crate::read::parts::selected_pages;
use crate::read::strategy::ChunkStrategy;
use crate::selection::chunk_selection::ShardSplit;
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch::{self, Scratch};

/// Chunks of one round, if answers are collected first.
const BATCH: usize = 256;
/// Chunks of one round of a remote store, where the end of a round is a pause.
const REMOTE_BATCH: usize = 1024;
/// Handing chunks up to this length to the pool costs more than it gains.
const SMALL_CHUNK_BYTES: usize = 64 << 10;

/// What is requested for one chunk.
enum Step {
    Whole,
    Index,
    Inner(InnerChunks),
    /// Only the generation of a chunk, all of whose selection is cached.
    Cached(CachedVersion, Lookup),
    /// Some bytes of a chunk without a codec.
    Pages(Vec<Range<usize>>),
}

/// The selected inner chunks of a shard of one generation, by their entries in its index.
struct InnerChunks {
    index: Arc<Index>,
    generation: Generation,
    /// Where the bytes of those lie that are requested, ascending.
    ranges: Vec<(usize, Range<u64>)>,
    /// Those that are cached, which count if the shard still has that generation.
    cached: HashMap<usize, Lookup>,
}

impl Step {
    fn ranges(&self) -> Vec<Range<u64>> {
        match self {
            Self::Whole | Self::Index | Self::Cached(..) => Vec::new(),
            Self::Inner(inner) => inner.ranges.iter().map(|(_, range)| range.clone()).collect(),
            Self::Pages(runs) => runs.iter().map(|run| run.start as u64..run.end as u64).collect(),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A chunk of an array, the selections of it, and the buffer for them.
pub(crate) struct ArrayJob<'t, 'a> {
    pub array: &'t ArrayIO,
    pub target: Target<'t>,
    pub job: ChunkJob<'a>,
}

impl<'t, 'a> ArrayJob<'t, 'a> {
    fn buffer(&self) -> ReadBuffer<'t> {
        ReadBuffer::new(self.target, &self.array.layout)
    }

    fn read<'b>(&'b self, chunk: &'b ChunkLayout, buffer: &'b ReadBuffer<'b>) -> ChunkRead<'b, 'a> {
        ChunkRead { chunk, selected: &self.job.selected, buffer }
    }
}

/// The requests of one round, and the destination of the answers.
struct Round<'a, 'j> {
    store: &'a dyn Store,
    jobs: &'a [ArrayJob<'a, 'j>],
    chunks: &'a [ChunkRef<'a>],
    keys: &'a [String],
    steps: Vec<(usize, Step)>,
    has_read: &'a (dyn Fn(usize) -> Result<()> + Sync),
}

/// Reads `count` chunks of arrays in `store`; `job` gives each chunk and its selection, and
/// `has_read` is called when it is in its buffer.
pub(crate) fn read_batches<'t, 'a>(
    store: &dyn Store,
    count: usize,
    interrupt: Interrupt<'_>,
    job: &dyn Fn(usize) -> ArrayJob<'t, 'a>,
    has_read: &(dyn Fn(usize) -> Result<()> + Sync),
) -> Result<()> {
    let batch = if store.is_remote() { REMOTE_BATCH } else { BATCH };
    for begin in (0..count).step_by(batch) {
        let jobs: Vec<ArrayJob<'t, 'a>> = (begin..(begin + batch).min(count)).map(job).collect();
        let chunks = jobs.iter().map(|one| one.array.layout.chunk(&one.job.coords));
        let chunks: Vec<ChunkRef<'_>> = chunks.collect::<Result<_>>()?;
        let keys = jobs.iter().map(|one| one.array.key_of(&one.job.coords));
        let keys: Vec<String> = keys.collect();
        let mut steps = Vec::with_capacity(jobs.len());
        for (index, (one, key)) in jobs.iter().zip(&keys).enumerate() {
            let buffer = one.buffer();
            let (read, coords) = (one.read(&chunks[index], &buffer), &one.job.coords);
            let first = scratch::with(|s| one.array.first_step(&read, coords, key, s))?;
            match first {
                Some(step) => steps.push((index, step)),
                None => has_read(begin + index)?,
            }
        }
        let has_read = |index: usize| has_read(begin + index);
        for _ in 0..READ_ATTEMPTS {
            if steps.is_empty() {
                break;
            }
            let has_read = &has_read;
            let round = Round { store, jobs: &jobs, chunks: &chunks, keys: &keys, steps, has_read };
            steps = round.ask(interrupt)?;
        }
        if let Some((index, _)) = steps.first() {
            return Err(StoreError::replaced(keys[*index].clone()).into());
        }
    }
    Ok(())
}

impl ArrayIO {
    /// The first request for a chunk; `None` if nothing needs to be requested.
    fn first_step(
        &self,
        read: &ChunkRead<'_, '_>,
        coords: &[u64],
        key: &str,
        s: &mut Scratch,
    ) -> Result<Option<Step>> {
        let ChunkRead { chunk, selected, .. } = *read;
        match self.chunk_strategy(chunk, coords, selected) {
            ChunkStrategy::Cached(elements) => {
                let Some(version) = self.known_version(chunk, key) else {
                    return Ok(Some(Step::Whole));
                };
                let cached = version.look(read, elements, ALL);
                let cached = cached.map_err(|source| corrupt(key, 0, source))?;
                Ok(Some(if cached.is_all() { Step::Cached(version, cached) } else { Step::Whole }))
            }
            ChunkStrategy::ShardRanges(shard) => match self.indexes.get(key) {
                None if self.is_read_in_one(chunk) => Ok(Some(Step::Whole)),
                None => Ok(Some(Step::Index)),
                Some((index, generation)) => {
                    s.key.clear();
                    s.key.push_str(key);
                    self.inner_step(read, shard, index, generation, s)
                }
            },
            ChunkStrategy::ByteRanges(elements) => {
                let pages = selected_pages(chunk, elements, selected, self.layout.item_bytes);
                Ok(Some(Step::Pages(pages.map_err(|source| corrupt(key, 0, source))?)))
            }
            ChunkStrategy::Whole => Ok(Some(Step::Whole)),
        }
    }

    /// Whether a remote shard is read completely for a part of it: reading it takes no longer than
    /// a second round trip after that of the index.
    pub(in crate::read) fn is_read_in_one(&self, chunk: &ChunkLayout) -> bool {
        self.store.gap().is_some_and(|gap| chunk.bytes as u64 <= gap)
    }

    /// Decodes the answer for the chunk at `s.key`; returns the next request, if any.
    fn decode_answer(
        &self,
        read: &ChunkRead<'_, '_>,
        step: &Step,
        answer: &Fetched,
        s: &mut Scratch,
    ) -> Result<Option<Step>> {
        let Fetched::Bytes(bytes, generation, total) = answer else {
            return self.decode_absent(read, step, s);
        };
        match (step, &read.chunk.encoding) {
            (Step::Index, Encoding::Shard(shard)) => {
                let index = Index::from_edge(shard, bytes, *total, &mut s.chain)
                    .map_err(|source| corrupt(&s.key, *total as usize, source))?;
                let index = Arc::new(index);
                self.indexes.insert(&s.key, &index, *generation);
                self.inner_step(read, shard, index, *generation, s)
            }
            (Step::Inner(inner), Encoding::Shard(shard)) => {
                if *generation != inner.generation {
                    self.indexes.forget(&s.key);
                    return Ok(Some(Step::Index));
                }
                let version = self.cached_generation(*generation, &s.key);
                decode_inner(read, shard, inner, bytes, version.as_ref(), s)
                    .map_err(|source| corrupt(&s.key, inner.index.stored_bytes(), source))?;
                Ok(None)
            }
            (Step::Cached(version, cached), Encoding::Elements(elements)) => {
                if *generation != version.generation() {
                    return Ok(Some(Step::Whole));
                }
                cached.scatter(read, elements, s).map_err(|source| corrupt(&s.key, 0, source))?;
                Ok(None)
            }
            (Step::Pages(runs), Encoding::Elements(elements)) => {
                scatter_pages(read, elements, (runs, bytes, *total), s)
                    .map_err(|source| corrupt(&s.key, *total as usize, source))?;
                Ok(None)
            }
            _ => self.decode_fetched(read, bytes, *generation, s).map(|()| None),
        }
    }

    /// What follows if the chunk at `s.key` is missing.
    fn decode_absent(
        &self,
        read: &ChunkRead<'_, '_>,
        step: &Step,
        s: &mut Scratch,
    ) -> Result<Option<Step>> {
        if let Step::Inner(_) = step {
            self.indexes.forget(&s.key);
            return Ok(Some(Step::Index));
        }
        self.decode_whole(read, None, s).map(|()| None)
    }

    /// Decodes the chunk at `s.key`, all of whose bytes were fetched; those of a remote store are
    /// cached.
    fn decode_fetched(
        &self,
        read: &ChunkRead<'_, '_>,
        bytes: &[u8],
        generation: Generation,
        s: &mut Scratch,
    ) -> Result<()> {
        check_max_length(&s.key, bytes, read.chunk.max_stored_bytes)?;
        if !self.store.is_remote() {
            return self.decode_whole(read, Some(bytes), s);
        }
        if let Encoding::Shard(shard) = &read.chunk.encoding
            && shard.outer.is_empty()
        {
            let index = Index::of(shard, bytes, &mut s.chain)
                .map_err(|source| corrupt(&s.key, bytes.len(), source))?;
            self.indexes.insert(&s.key, &Arc::new(index), generation);
        }
        match self.cached_generation(generation, &s.key) {
            Some(version) => version
                .decode_encoded(read, ALL, bytes, s)
                .map_err(|source| corrupt(&s.key, bytes.len(), source)),
            None => self.decode_whole(read, Some(bytes), s),
        }
    }

    /// The request for a shard whose index is known; missing inner chunks are filled.
    fn inner_step(
        &self,
        read: &ChunkRead<'_, '_>,
        shard: &Shard,
        index: Arc<Index>,
        generation: Generation,
        s: &mut Scratch,
    ) -> Result<Option<Step>> {
        let (mut ranges, mut cached) = (Vec::new(), HashMap::new());
        let version = self.cached_generation(generation, &s.key);
        let version = version.as_ref().zip(is_cacheable(&shard.inner));
        let split = ShardSplit::new(shard, &read.chunk.shape, read.selected)?;
        for (entry, selected) in split.entries() {
            let read = read.inner(&shard.inner, &selected);
            let failed = |source| corrupt(&s.key, index.stored_bytes(), source);
            let Some((begin, end)) = index.bounded_range(shard, entry).map_err(failed)? else {
                self.decode_whole(&read, None, s)?;
                continue;
            };
            if let Some((version, elements)) = version {
                let here = version.look(&read, elements, begin..end).map_err(failed)?;
                if here.is_all() {
                    cached.insert(entry, here);
                    continue;
                }
            }
            push(&mut ranges, (entry, begin..end))?;
        }
        ranges.sort_by_key(|(_, range)| range.start);
        let none = ranges.is_empty() && cached.is_empty();
        let inner = InnerChunks { index, generation, ranges, cached };
        Ok((!none).then_some(Step::Inner(inner)))
    }
}

impl Round<'_, '_> {
    /// Sends the requests of a round and decodes the answers; returns what to request next.
    ///
    /// It is long because the callback of the store shares all of its state.
    fn ask(&self, interrupt: Interrupt<'_>) -> Result<Vec<(usize, Step)>> {
        let ranges: Vec<_> = self.steps.iter().map(|(_, step)| step.ranges()).collect();
        let requests: Vec<Request<'_>> = self
            .steps
            .iter()
            .zip(&ranges)
            .map(|((job, step), ranges)| Request {
                key: &self.keys[*job],
                part: match step {
                    Step::Whole => Part::AtMost(self.chunks[*job].max_stored_bytes as u64),
                    Step::Index => Part::Edge(self.chunks[*job].index_edge()),
                    Step::Inner(_) | Step::Pages(_) | Step::Cached(..) => Part::Ranges(ranges),
                },
            })
            .collect();
        let is_small = self.chunks.iter().all(|chunk| chunk.bytes <= SMALL_CHUNK_BYTES);
        let at_once = if is_small { 1 } else { pool::threads() };
        let next = Mutex::new(Vec::new());
        let (mut ready, mut failed, mut answered) = (Vec::new(), None, 0);
        self.store.fetch(&requests, &mut |position, answer| {
            answered += 1;
            let (job, step) = &self.steps[position];
            match answer {
                // The value that the ranges were made for was replaced.
                Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::UnexpectedEof => {
                    self.jobs[*job].array.indexes.forget(&self.keys[*job]);
                    let again = if let Step::Pages(_) = step { Step::Whole } else { Step::Index };
                    locked(&next).push((*job, again));
                }
                // Only the first failure is reported.
                Err(error) if failed.is_none() => {
                    failed = Some(from_store(&self.keys[*job], error));
                }
                Ok(fetched) if failed.is_none() => ready.push((position, fetched)),
                _ => {}
            }
            if self.store.is_remote() && failed.is_none() && ready.len() >= at_once {
                let answers = std::mem::take(&mut ready);
                failed = self.decode_answers(&answers, &next, interrupt).err();
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if answered < requests.len() {
            let (all, key) = (requests.len(), requests[0].key);
            let problem = format!("the store gave {answered} answers of {all}, from {key:?} on");
            return Err(EngineError::Panicked(problem));
        }
        self.decode_answers(&ready, &next, interrupt)?;
        Ok(next.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn decode_answers(
        &self,
        answers: &[(usize, Fetched)],
        next: &Mutex<Vec<(usize, Step)>>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        pool::run(answers.len(), interrupt, &|index| {
            let (position, answer) = &answers[index];
            let (job, step) = &self.steps[*position];
            let after = scratch::with(|s| {
                s.key.clone_from(&self.keys[*job]);
                let one = &self.jobs[*job];
                let buffer = one.buffer();
                one.array.decode_answer(&one.read(&self.chunks[*job], &buffer), step, answer, s)
            })?;
            match after {
                Some(after) => locked(next).push((*job, after)),
                None => (self.has_read)(*job)?,
            }
            Ok(())
        })
    }
}

/// Copies the selection of inner chunks: of those whose `bytes` were fetched, in the order of their
/// ranges, and of the cached ones.
fn decode_inner(
    read: &ChunkRead<'_, '_>,
    shard: &Shard,
    inner: &InnerChunks,
    bytes: &[u8],
    version: Option<&CachedVersion>,
    s: &mut Scratch,
) -> CodecResult<()> {
    let mut begin = 0;
    let fetched: HashMap<usize, (Range<usize>, &Range<u64>)> = inner
        .ranges
        .iter()
        .map(|(entry, range)| {
            let own = begin..begin + (range.end - range.start) as usize;
            begin = own.end;
            (*entry, (own, range))
        })
        .collect();
    check_length(bytes.len(), begin)?;
    let split = ShardSplit::new(shard, &read.chunk.shape, read.selected)?;
    for (entry, selected) in split.entries() {
        let read = read.inner(&shard.inner, &selected);
        if let Some((own, range)) = fetched.get(&entry) {
            s.chain.codec.poll_after(shard.inner.bytes)?;
            let encoded = &bytes[own.clone()];
            match version {
                Some(version) => version.decode_encoded(&read, (*range).clone(), encoded, s)?,
                None => decode_chunk(&read, Some(encoded), &mut DecodeScratch::of(s))?,
            }
        } else if let Some((cached, elements)) =
            inner.cached.get(&entry).zip(is_cacheable(&shard.inner))
        {
            cached.scatter(&read, elements, s)?;
        }
    }
    Ok(())
}

/// Copies the selection of a chunk without a codec, of which `runs` were fetched.
fn scatter_pages(
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    (runs, bytes, total): (&[Range<usize>], &[u8], u64),
    s: &mut Scratch,
) -> CodecResult<()> {
    let chunk = read.chunk;
    check_length(usize::try_from(total).unwrap_or(usize::MAX), chunk.bytes)?;
    check_length(bytes.len(), runs.iter().map(Range::len).sum())?;
    let sparse = Scratch::chunk_of(&mut s.sparse, chunk.bytes)?;
    let mut rest = bytes;
    for run in runs {
        let (own, after) = rest.split_at(run.len());
        sparse[run.clone()].copy_from_slice(own);
        rest = after;
    }
    scatter(sparse, read, elements);
    Ok(())
}

impl ChunkLayout {
    /// Where the index of a shard lies; empty for other chunks.
    fn index_edge(&self) -> Edge {
        match &self.encoding {
            Encoding::Shard(shard) => shard.index_edge(),
            _ => Edge::First(0),
        }
    }
}
