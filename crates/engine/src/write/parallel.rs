//! Writes of a few large chunks, each encoded by all threads.
//!
//! With many chunks, each is encoded by one thread. With fewer chunks than threads, some threads
//! would be idle. Then the blocks of a chunk, or the inner chunks of a shard, are divided among the
//! threads; each part is encoded to memory of its own, and the caller assembles and stores the
//! chunk. The parts of a shard are stored one after the other, and not copied together. The lock of the chunk is taken after encoding. The stored bytes are the same as with one
//! thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use smallvec::SmallVec;
use zarrix_codec::blosc::BlockEncoder;
use zarrix_store::Durability;
use zarrix_store::trace::{self, Doing};

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Edit, Source};
use crate::chunk::encode::{Assembly, NewIndex, encode_chunk, inner_limits};
use crate::error::{CodecResult, Result, failed};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Elements, Encoding, Shard};
use crate::selection::chunk_selection::{ChunkSelection, ShardSplit, covered};
use crate::selection::plan::Plan;
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch::{self, Scratch};
use crate::write::gathered::Gathered;
use zarrix_codec::memory::{Grow, collected};

/// Encoding a smaller chunk takes less time than dividing it.
const MIN_BYTES: usize = 256 << 10;
/// Units of inner chunks for each thread.
const UNITS: usize = 4;

/// The parts of a chunk that are encoded separately.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    chunk: &'a ChunkLayout,
    division: Division<'a>,
}

#[derive(Clone, Copy)]
enum Division<'a> {
    Blocks(&'a Elements, BlockEncoder),
    Inner(&'a Shard),
}

/// One chunk of a call.
struct ChunkWrite<'a, 'w> {
    key: &'a str,
    chunk: &'a ChunkLayout,
    selected: &'a [ChunkSelection<'w>],
    limits: &'a [usize],
    source: Source<'a>,
}

/// Encodes the part of a number.
type Make<'a> = &'a (dyn Fn(usize, &mut Vec<u8>, &mut Scratch) -> Result<()> + Sync);

/// The buffers for encoded parts and for the chunk, reused between calls.
struct Memory {
    encoded: Vec<u8>,
    parts: Vec<Mutex<Vec<u8>>>,
}

impl Memory {
    fn take() -> Self {
        scratch::with(|s| {
            let (encoded, parts) = (std::mem::take(&mut s.update), std::mem::take(&mut s.parts));
            Self { encoded, parts: parts.into_iter().map(Mutex::new).collect() }
        })
    }

    fn give_back(self) {
        let parts = self.parts.into_iter();
        let parts = parts.map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        scratch::with(|s| (s.update, s.parts) = (self.encoded, parts.collect()));
    }

    /// Encodes `count` parts on all threads, each to an empty buffer.
    fn encode(&mut self, count: usize, interrupt: Interrupt<'_>, make: Make<'_>) -> Result<()> {
        self.parts.resize_with(count.max(self.parts.len()), Mutex::default);
        pool::run(count, interrupt, &|number| {
            // No other task uses this part.
            let mut part = self.parts[number].lock().unwrap_or_else(PoisonError::into_inner);
            part.clear();
            let _span = trace::span(Doing::Encode, "", "");
            scratch::with(|s| make(number, &mut part, s))
        })
    }

    /// The first `count` parts, and the buffer for the chunk that is assembled from them.
    fn made(&mut self, count: usize) -> (Vec<&[u8]>, &mut Vec<u8>) {
        let parts = self.parts[..count].iter_mut();
        let parts =
            parts.map(|part| part.get_mut().unwrap_or_else(PoisonError::into_inner).as_slice());
        (parts.collect(), &mut self.encoded)
    }
}

impl ArrayIO {
    /// How the chunks of a call that writes `count` of them are divided; `None` if they are not.
    pub(crate) fn parts(&self, count: usize, source: Source<'_>) -> Option<Parts<'_>> {
        let threads = pool::threads();
        // All threads have the same amount of work, or the difference is negligible.
        let even = count >= 2 * threads || count.is_multiple_of(threads);
        let chunk = self.layout.only_chunk()?;
        if threads == 1
            || even
            || (count > 1 && self.store.is_remote())
            || chunk.bytes < MIN_BYTES
            || source.source().is_some()
        {
            return None;
        }
        let division = match &chunk.encoding {
            Encoding::Elements(elements) => {
                let encoder = elements.chain.block_encoder()?;
                let item = self.layout.item_bytes;
                let apart = encoder.n_blocks() > 1 && encoder.range(0).len().is_multiple_of(item);
                apart.then_some(Division::Blocks(elements, encoder))?
            }
            Encoding::Shard(shard) if shard.count > 1 => Division::Inner(shard),
            Encoding::Shard(_) | Encoding::Variable(_) => return None,
        };
        Some(Parts { chunk, division })
    }

    /// Writes all chunks of `plan`, one after the other.
    pub(crate) fn write_in_parts(
        &self,
        plan: &Plan,
        Parts { chunk, division }: Parts<'_>,
        source: Source<'_>,
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.check_kind(false)?;
        let mut memory = Memory::take();
        let done = (0..plan.tasks).try_for_each(|task| {
            let segments = plan.task(task);
            let coords: PerAxis<u64> = segments.iter().map(|segment| segment.chunk).collect();
            let selected = [ChunkSelection::of(&segments, 0, 0)];
            if !covered(&selected, &chunk.shape) {
                return pool::run_alone(1, interrupt, &|_| {
                    scratch::with(|s| self.write_job(&coords, &selected, source, durability, s))
                });
            }
            let (key, limits) = (self.key_of(&coords), self.limits(&coords));
            let write =
                ChunkWrite { key: &key, chunk, selected: &selected, limits: &limits, source };
            let encoded = match division {
                Division::Blocks(elements, encoder) => {
                    self.encode_blocks(&write, elements, &encoder, interrupt, &mut memory)?
                }
                Division::Inner(shard) => {
                    self.encode_inner(&write, shard, interrupt, &mut memory)?
                }
            };
            pool::run_alone(1, interrupt, &|_| {
                let _lock = self.lock(&key)?;
                match encoded.as_deref() {
                    Some([whole]) => self.replace(&key, Some(whole), durability),
                    Some(parts) => Ok(self.store.put_parts(&key, parts, durability)?),
                    None => self.replace(&key, None, durability),
                }
            })
        });
        memory.give_back();
        done
    }

    /// Encodes the chunk; `None` if it is not to be stored.
    fn encode_blocks<'m>(
        &self,
        write: &ChunkWrite<'_, '_>,
        elements: &Elements,
        encoder: &BlockEncoder,
        interrupt: Interrupt<'_>,
        memory: &'m mut Memory,
    ) -> Result<Option<Vec<&'m [u8]>>> {
        let item = self.layout.item_bytes;
        let chunk = Gathered::new(write.chunk, elements, &write.selected[0], write.source, item);
        let keep = AtomicBool::new(false);
        memory.encode(encoder.n_blocks(), interrupt, &|index, streams, s| {
            let Scratch { chunk: memory, chain, .. } = s;
            let block = chunk.bytes(encoder.range(index), memory)?;
            if self.write_buffer(write.source).stores(block) {
                keep.store(true, Ordering::Relaxed);
            }
            let done = encoder.encode_block(block, streams, &mut chain.codec);
            done.map_err(|source| failed(write.key, source))
        })?;
        let (blocks, out) = memory.made(encoder.n_blocks());
        let assembled = encoder.assemble(&blocks, out).and_then(|done| match done {
            true => Ok(()),
            false => scratch::with(|s| {
                encoder.store(chunk.bytes(0..write.chunk.bytes, &mut s.chunk)?, out)
            }),
        });
        assembled.map_err(|source| failed(write.key, source))?;
        Ok(keep.into_inner().then(|| vec![out.as_slice()]))
    }

    /// Encodes the shard, to one part or more; `None` if it is not to be stored.
    fn encode_inner<'m>(
        &self,
        write: &ChunkWrite<'_, '_>,
        shard: &Shard,
        interrupt: Interrupt<'_>,
        memory: &'m mut Memory,
    ) -> Result<Option<Vec<&'m [u8]>>> {
        let cut = ShardSplit::new(shard, &write.chunk.shape, write.selected)?;
        let entries: Vec<(usize, SmallVec<[ChunkSelection<'_>; 1]>)> = collected(cut.entries())?;
        let per_unit = entries.len().div_ceil(UNITS * pool::threads()).max(1);
        let units: Vec<_> = entries.chunks(per_unit).collect();
        // Length of each inner chunk in its unit; `None` if it is not stored.
        let lengths: Vec<OnceLock<Vec<Option<usize>>>> =
            units.iter().map(|_| OnceLock::new()).collect();
        memory.encode(units.len(), interrupt, &|number, bytes, s| {
            let mut inner = Vec::new();
            let made = units[number].iter().map(|(entry, selected)| {
                let limits = inner_limits(write.chunk, shard, *entry, write.limits);
                let edit =
                    Edit { selected, limits: &limits, buffer: self.write_buffer(write.source) };
                s.chain.codec.poll_after(shard.inner.bytes)?;
                let keep = encode_chunk(&shard.inner, None, edit, s, &mut inner)?;
                if keep {
                    bytes.append_slice(&inner)?;
                }
                Ok(keep.then_some(inner.len()))
            });
            let made =
                made.collect::<CodecResult<_>>().map_err(|error| failed(write.key, error))?;
            // Each task sets only its own slot.
            let _ = lengths[number].set(made);
            Ok(())
        })?;
        let (bytes, out) = memory.made(units.len());
        let lengths = lengths.into_iter().map(|unit| unit.into_inner().unwrap_or_default());
        let keep_empty = self.layout.write_empty_chunks;
        let joined = scratch::with(|s| match shard.outer.is_empty() {
            true => beside_index(shard, bytes, lengths, keep_empty, s, out),
            false => joined(shard, &bytes, lengths, keep_empty, s, out),
        });
        joined.map_err(|source| failed(write.key, source))
    }
}

/// The shard as parts: what the units have encoded, and its index, which is put into `out`.
fn beside_index<'m>(
    shard: &Shard,
    mut units: Vec<&'m [u8]>,
    lengths: impl Iterator<Item = Vec<Option<usize>>>,
    keep_empty: bool,
    s: &mut Scratch,
    out: &'m mut Vec<u8>,
) -> CodecResult<Option<Vec<&'m [u8]>>> {
    let mut index = NewIndex::new(shard)?;
    lengths.flatten().for_each(|length| index.push(length));
    let Some(encoded) = index.finish(shard, keep_empty, s)? else { return Ok(None) };
    *out = encoded;
    units.insert(if shard.index_at_end { units.len() } else { 0 }, out);
    Ok(Some(units))
}

/// The shard in `out`, for codecs that encode all of it.
fn joined<'m>(
    shard: &Shard,
    units: &[&[u8]],
    lengths: impl Iterator<Item = Vec<Option<usize>>>,
    keep_empty: bool,
    s: &mut Scratch,
    out: &'m mut Vec<u8>,
) -> CodecResult<Option<Vec<&'m [u8]>>> {
    let mut body = Assembly::new(shard, std::mem::take(out))?;
    for (mut rest, lengths) in units.iter().copied().zip(lengths) {
        for length in lengths {
            let (inner, after) = rest.split_at(length.unwrap_or(0));
            body.push(length.map(|_| inner))?;
            rest = after;
        }
    }
    let keep = body.finish(shard, keep_empty, s, out)?;
    Ok(keep.then(|| vec![out.as_slice()]))
}
