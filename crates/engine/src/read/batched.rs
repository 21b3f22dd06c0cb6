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
use crate::chunk::buffer::{DecodeScratch, ReadBuffer, Target};
use crate::chunk::decode::{decode_chunk, scatter};
use crate::chunk::lengths::{check_length, check_max_length};
use crate::chunk::shard_index::Index;
use crate::error::{CodecResult, EngineError, Result, corrupt};
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::layout::chunk_shapes::ChunkRef;
use crate::read::cached::{ALL, CachedVersion, Lookup, is_cacheable};
use crate::read::job::Job;
use crate::read::parts::selected_pages;
use crate::read::strategy::ChunkStrategy;
use crate::selection::chunk_selection::{ChunkSelection, ShardSplit};
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
    /// Inner chunks of a shard, in ascending order: entry of the index, and where its bytes lie;
    /// and the cached ones, which count if the shard still has that generation.
    Inner {
        index: Arc<Index>,
        generation: Generation,
        found: Vec<(usize, Range<u64>)>,
        cached: HashMap<usize, Lookup>,
    },
    /// Only the generation of a chunk, all of whose selection is cached.
    Cached(CachedVersion, Lookup),
    /// Some bytes of a chunk without a codec.
    Pages(Vec<Range<usize>>),
}

impl Step {
    fn ranges(&self) -> Vec<Range<u64>> {
        match self {
            Self::Whole | Self::Index | Self::Cached(..) => Vec::new(),
            Self::Inner { found, .. } => found.iter().map(|(_, range)| range.clone()).collect(),
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
    pub job: Job<'a>,
}

impl<'t> ArrayJob<'t, '_> {
    fn buffer(&self) -> ReadBuffer<'t> {
        ReadBuffer::new(self.target, &self.array.layout)
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
            let (chunk, buffer) = (&chunks[index], one.buffer());
            let first = scratch::with(|s| one.array.first_step(chunk, &one.job, key, buffer, s))?;
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
        chunk: &ChunkLayout,
        Job { coords, selected }: &Job<'_>,
        key: &str,
        buffer: ReadBuffer<'_>,
        s: &mut Scratch,
    ) -> Result<Option<Step>> {
        match self.chunk_strategy(chunk, coords, selected) {
            ChunkStrategy::Cached(elements) => {
                let Some(version) = self.known_version(chunk, key) else {
                    return Ok(Some(Step::Whole));
                };
                let cached = version.look(chunk, elements, ALL, selected, buffer);
                let cached = cached.map_err(|source| corrupt(key, 0, source))?;
                Ok(Some(if cached.is_all() { Step::Cached(version, cached) } else { Step::Whole }))
            }
            ChunkStrategy::ShardRanges(shard) => match self.indexes.get(key) {
                None if self.is_read_in_one(chunk) => Ok(Some(Step::Whole)),
                None => Ok(Some(Step::Index)),
                Some((index, generation)) => {
                    s.key.clear();
                    s.key.push_str(key);
                    self.inner_step(chunk, shard, selected, index, generation, buffer, s)
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
    ///
    /// It is long because each pair of a request and an answer is one arm.
    fn decode_answer(
        &self,
        chunk: &ChunkLayout,
        step: &Step,
        answer: &Fetched,
        selected: &[ChunkSelection<'_>],
        buffer: ReadBuffer<'_>,
        s: &mut Scratch,
    ) -> Result<Option<Step>> {
        match (step, answer, &chunk.encoding) {
            (Step::Inner { .. }, Fetched::Absent, _) => {
                self.indexes.forget(&s.key);
                Ok(Some(Step::Index))
            }
            (_, Fetched::Absent, _) => {
                self.decode_whole(chunk, None, selected, buffer, s).map(|()| None)
            }
            (Step::Index, Fetched::Bytes(stored, generation, total), Encoding::Shard(shard)) => {
                let index = Index::from_edge(shard, stored, *total, &mut s.chain)
                    .map_err(|source| corrupt(&s.key, *total as usize, source))?;
                let index = Arc::new(index);
                self.indexes.insert(&s.key, &index, *generation);
                self.inner_step(chunk, shard, selected, index, *generation, buffer, s)
            }
            (
                Step::Inner { index, generation, found, cached },
                Fetched::Bytes(bytes, now, _),
                Encoding::Shard(shard),
            ) => {
                if now != generation {
                    self.indexes.forget(&s.key);
                    return Ok(Some(Step::Index));
                }
                let version = self.cached_generation(*generation, &s.key);
                let fetched = FetchedInner { found, bytes, cached, version: version.as_ref() };
                decode_inner(chunk, shard, selected, &fetched, buffer, s)
                    .map_err(|source| corrupt(&s.key, index.stored_bytes(), source))?;
                Ok(None)
            }
            (
                Step::Cached(version, cached),
                Fetched::Bytes(_, now, _),
                Encoding::Elements(elements),
            ) => {
                if *now != version.generation() {
                    return Ok(Some(Step::Whole));
                }
                cached
                    .scatter(chunk, elements, selected, buffer, s)
                    .map_err(|source| corrupt(&s.key, 0, source))?;
                Ok(None)
            }
            (Step::Pages(runs), Fetched::Bytes(bytes, _, total), Encoding::Elements(elements)) => {
                scatter_pages(chunk, elements, selected, (runs, bytes, *total), buffer, s)
                    .map_err(|source| corrupt(&s.key, *total as usize, source))?;
                Ok(None)
            }
            (_, Fetched::Bytes(bytes, generation, _), encoding) => {
                check_max_length(&s.key, bytes, chunk.max_stored_bytes)?;
                if let Encoding::Shard(shard) = encoding
                    && shard.outer.is_empty()
                    && self.store.is_remote()
                {
                    let index = Index::of(shard, bytes, &mut s.chain)
                        .map_err(|source| corrupt(&s.key, bytes.len(), source))?;
                    self.indexes.insert(&s.key, &Arc::new(index), *generation);
                }
                if self.store.is_remote()
                    && let Some(version) = self.cached_generation(*generation, &s.key)
                {
                    version
                        .decode_encoded(chunk, ALL, bytes, selected, buffer, s)
                        .map_err(|source| corrupt(&s.key, bytes.len(), source))?;
                    return Ok(None);
                }
                self.decode_whole(chunk, Some(bytes), selected, buffer, s).map(|()| None)
            }
        }
    }

    /// The request for a shard whose index is known; missing inner chunks are filled.
    #[expect(clippy::too_many_arguments, reason = "a shard, its index, and what is selected of it")]
    fn inner_step(
        &self,
        chunk: &ChunkLayout,
        shard: &Shard,
        selected: &[ChunkSelection<'_>],
        index: Arc<Index>,
        generation: Generation,
        buffer: ReadBuffer<'_>,
        s: &mut Scratch,
    ) -> Result<Option<Step>> {
        let (mut found, mut cached) = (Vec::new(), HashMap::new());
        let version = self.cached_generation(generation, &s.key);
        let version = version.as_ref().zip(is_cacheable(&shard.inner));
        for (entry, selected) in ShardSplit::new(shard, &chunk.shape, selected)?.entries() {
            let failed = |source| corrupt(&s.key, index.stored_bytes(), source);
            let Some((begin, end)) = index.bounded_range(shard, entry).map_err(failed)? else {
                self.decode_whole(&shard.inner, None, &selected, buffer, s)?;
                continue;
            };
            if let Some((version, elements)) = version {
                let here = version.look(&shard.inner, elements, begin..end, &selected, buffer);
                let here = here.map_err(failed)?;
                if here.is_all() {
                    cached.insert(entry, here);
                    continue;
                }
            }
            push(&mut found, (entry, begin..end))?;
        }
        found.sort_by_key(|(_, range)| range.start);
        let none = found.is_empty() && cached.is_empty();
        Ok((!none).then_some(Step::Inner { index, generation, found, cached }))
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
                    Step::Inner { .. } | Step::Pages(_) | Step::Cached(..) => Part::Ranges(ranges),
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
                let (chunk, one) = (&self.chunks[*job], &self.jobs[*job]);
                let selected = &one.job.selected;
                one.array.decode_answer(chunk, step, answer, selected, one.buffer(), s)
            })?;
            match after {
                Some(after) => locked(next).push((*job, after)),
                None => (self.has_read)(*job)?,
            }
            Ok(())
        })
    }
}

/// Inner chunks: those whose bytes were fetched, in the order of `found`, and the cached ones.
struct FetchedInner<'a> {
    found: &'a [(usize, Range<u64>)],
    bytes: &'a [u8],
    cached: &'a HashMap<usize, Lookup>,
    version: Option<&'a CachedVersion>,
}

fn decode_inner(
    chunk: &ChunkLayout,
    shard: &Shard,
    selected: &[ChunkSelection<'_>],
    fetched: &FetchedInner<'_>,
    buffer: ReadBuffer<'_>,
    s: &mut Scratch,
) -> CodecResult<()> {
    let mut begin = 0;
    let encoded: HashMap<usize, (Range<usize>, &Range<u64>)> = fetched
        .found
        .iter()
        .map(|(entry, range)| {
            let own = begin..begin + (range.end - range.start) as usize;
            begin = own.end;
            (*entry, (own, range))
        })
        .collect();
    check_length(fetched.bytes.len(), begin)?;
    for (entry, selected) in ShardSplit::new(shard, &chunk.shape, selected)?.entries() {
        if let Some((own, range)) = encoded.get(&entry) {
            s.chain.codec.poll_after(shard.inner.bytes)?;
            let bytes = &fetched.bytes[own.clone()];
            if let Some(version) = fetched.version {
                version.decode_encoded(
                    &shard.inner,
                    (*range).clone(),
                    bytes,
                    &selected,
                    buffer,
                    s,
                )?;
                continue;
            }
            let scratch = &mut DecodeScratch { chunk: &mut s.chunk, chain: &mut s.chain };
            decode_chunk(&shard.inner, Some(bytes), &selected, buffer, scratch)?;
        } else if let Some((cached, elements)) =
            fetched.cached.get(&entry).zip(is_cacheable(&shard.inner))
        {
            cached.scatter(&shard.inner, elements, &selected, buffer, s)?;
        }
    }
    Ok(())
}

/// Copies the selection of a chunk without a codec, of which `runs` were fetched.
fn scatter_pages(
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &[ChunkSelection<'_>],
    (runs, bytes, total): (&[Range<usize>], &[u8], u64),
    buffer: ReadBuffer<'_>,
    s: &mut Scratch,
) -> CodecResult<()> {
    check_length(usize::try_from(total).unwrap_or(usize::MAX), chunk.bytes)?;
    check_length(bytes.len(), runs.iter().map(Range::len).sum())?;
    let sparse = Scratch::chunk_of(&mut s.sparse, chunk.bytes)?;
    let mut rest = bytes;
    for run in runs {
        let (own, after) = rest.split_at(run.len());
        sparse[run.clone()].copy_from_slice(own);
        rest = after;
    }
    scatter(sparse, chunk, elements, selected, buffer);
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
