//! Stored values of one array from those of another, whose chunks are encoded alike: chunks become
//! shards, shards other shards or chunks, and nothing is decoded.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarrix_codec::memory::{Grow, with_room, zeros};
use zarrix_store::{Durability, Generation, StoreError, UNKNOWN_LENGTH};

use crate::array::fetch::from_store;
use crate::array::io::ArrayIO;
use crate::array::values::fetch_all;
use crate::chunk::encode::Assembly;
use crate::chunk::lengths::check_max_length;
use crate::chunk::shard_index::{GAP_BYTES, Index, damaged};
use crate::error::{EngineError, Result, corrupt, failed};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Encoding, Shard};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch::{self, Scratch};

/// Takes encoded chunks, one after the other; `None` for a missing one.
type Sink<'a> = dyn FnMut(Option<&[u8]>) -> Result<()> + 'a;

impl ChunkLayout {
    /// The shard, and the layout of the chunks that are encoded one by one.
    fn inside(&self) -> (Option<&Shard>, &ChunkLayout) {
        match &self.encoding {
            Encoding::Shard(shard) => (Some(shard), &shard.inner),
            _ => (None, self),
        }
    }
}

impl ArrayIO {
    /// Stores the values (chunks or shards) at these coordinates, of encoded chunks of `source`;
    /// returns their bytes.
    ///
    /// No lock is taken, and a value without any chunk is not stored. The caller vouches that the
    /// chunks of both arrays are encoded alike.
    ///
    /// # Errors
    /// [`EngineError::Selection`] if their grids differ, or shards lie within other codecs.
    pub fn regroup(
        &self,
        source: &Self,
        values: &[Vec<u64>],
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<u64> {
        let (from, to) = (source.regular()?, self.regular()?);
        if from.inside().1.shape != to.inside().1.shape || source.layout.shape != self.layout.shape
        {
            return Err(EngineError::Selection("the chunks of the arrays differ".into()));
        }
        if let Some(coords) = values.iter().find(|one| one.len() != to.shape.len()) {
            let reason = format!("the coordinates {coords:?} for {} axes", to.shape.len());
            return Err(EngineError::Selection(reason));
        }
        let moved = AtomicU64::new(0);
        let task = |number: usize| {
            let bytes = scratch::with(|s| {
                let mut out = std::mem::take(&mut s.update);
                let done = self.regroup_one(source, &values[number], durability, s, &mut out);
                s.update = out;
                done
            })?;
            moved.fetch_add(bytes as u64, Ordering::Relaxed);
            Ok(())
        };
        match self.store.is_remote() || source.store.is_remote() {
            true => pool::run_waiting(values.len(), interrupt, &task)?,
            false => pool::run(values.len(), interrupt, &task)?,
        }
        Ok(moved.into_inner())
    }

    fn regular(&self) -> Result<&ChunkLayout> {
        let chunk = self.layout.only_chunk();
        let chunk = chunk.filter(|chunk| match &chunk.encoding {
            Encoding::Shard(shard) => shard.outer.is_empty(),
            _ => true,
        });
        chunk.ok_or_else(|| {
            let reason = "a rectilinear grid, or shards within other codecs, cannot be regrouped";
            EngineError::Selection(reason.into())
        })
    }

    fn regroup_one(
        &self,
        source: &Self,
        coords: &[u64],
        durability: Durability,
        s: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        let chunk = self.regular()?;
        let (shard, inner) = chunk.inside();
        let places = self.inner_places(coords, chunk, shard, inner)?;
        let key = self.key_of(coords);
        let of_chunk = |source| failed(&key, source);
        let Some(shard) = shard else {
            let mut stored = 0;
            source.each_encoded(&places, s, &mut |found| {
                stored = found.map_or(0, <[u8]>::len);
                found.map_or(Ok(()), |value| Ok(self.store.put(&key, value, durability)?))
            })?;
            return Ok(stored);
        };
        let mut body = Assembly::new(shard, std::mem::take(out)).map_err(of_chunk)?;
        source.each_encoded(&places, s, &mut |found| body.push(found).map_err(of_chunk))?;
        if !body.finish(shard, false, s, out).map_err(of_chunk)? {
            return Ok(0);
        }
        self.store.put(&key, out, durability)?;
        Ok(out.len())
    }

    /// The coordinates of the chunks of a value, in the order of its index; `None` for those
    /// outside of the array.
    fn inner_places(
        &self,
        coords: &[u64],
        chunk: &ChunkLayout,
        shard: Option<&Shard>,
        inner: &ChunkLayout,
    ) -> Result<Vec<Option<PerAxis<u64>>>> {
        let count = shard.map_or(1, |shard| shard.count);
        let place = |entry: usize| {
            (0..coords.len())
                .map(|axis| {
                    let per_value = chunk.shape[axis] / inner.shape[axis];
                    let at = shard.map_or(0, |shard| entry / shard.index_strides[axis] % per_value);
                    let number = coords[axis].checked_mul(per_value as u64)? + at as u64;
                    let begin = number.checked_mul(inner.shape[axis] as u64)?;
                    (begin < self.layout.shape[axis]).then_some(number)
                })
                .collect()
        };
        let mut places = with_room(count)?;
        places.extend((0..count).map(place));
        Ok(places)
    }

    /// Hands the encoded chunk at each of `places` to `sink`, in order; `None` for a missing one.
    fn each_encoded(
        &self,
        places: &[Option<PerAxis<u64>>],
        s: &mut Scratch,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let chunk = self.regular()?;
        if let Encoding::Shard(shard) = &chunk.encoding {
            return self.each_of_shards(chunk, shard, places, s, sink);
        }
        let max = chunk.max_stored_bytes;
        if self.store.is_inline() {
            return places.iter().try_for_each(|place| {
                let Some(coords) = place else { return sink(None) };
                let (key, value) = (self.key_of(coords), &mut s.encoded);
                let found = self.store.get_at_most_into(&key, max as u64, value);
                let found = found.map_err(|error| from_store(&key, error))?;
                sink(found.map(|_| check_max_length(&key, value, max)).transpose()?)
            });
        }
        let keys: Vec<String> = places.iter().flatten().map(|one| self.key_of(one)).collect();
        let values = fetch_all(self.store.as_ref(), &keys, max as u64)?;
        let mut answers = keys.iter().zip(&values);
        places.iter().try_for_each(|place| {
            let answer = place.as_ref().and_then(|_| answers.next());
            let value = answer.and_then(|(key, value)| Some((key, value.as_deref()?)));
            sink(value.map(|(key, value)| check_max_length(key, value, max)).transpose()?)
        })
    }

    /// [`each_encoded`](Self::each_encoded) of chunks in shards, each of which is read once.
    fn each_of_shards(
        &self,
        chunk: &ChunkLayout,
        shard: &Shard,
        places: &[Option<PerAxis<u64>>],
        s: &mut Scratch,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let mut wanted: BTreeMap<PerAxis<u64>, Vec<(usize, usize)>> = BTreeMap::new();
        for (number, coords) in places.iter().enumerate() {
            let Some(coords) = coords else { continue };
            let mut entry = 0;
            let outer = (0..coords.len()).map(|axis| {
                let per_value = (chunk.shape[axis] / shard.inner.shape[axis]) as u64;
                entry += (coords[axis] % per_value) as usize * shard.index_strides[axis];
                coords[axis] / per_value
            });
            let outer = outer.collect();
            wanted.entry(outer).or_default().push((number, entry));
        }
        let mut bytes = std::mem::take(&mut s.encoded);
        bytes.clear();
        let mut pieces = zeros(places.len())?;
        let gathered = wanted.into_iter().try_for_each(|(coords, entries)| {
            let key = self.key_of(&coords);
            // A shard may have been replaced since its index was read.
            let read = self.gather(&key, shard, &entries, &mut bytes, s, &mut pieces)?
                || self.gather(&key, shard, &entries, &mut bytes, s, &mut pieces)?;
            let replaced = || corrupt(&key, 0, damaged("it was replaced while it was read"));
            if read { Ok(()) } else { Err(replaced()) }
        });
        let handed = gathered.and_then(|()| {
            pieces
                .into_iter()
                .try_for_each(|piece| sink(piece.map(|(begin, end)| &bytes[begin..end])))
        });
        s.encoded = bytes;
        handed
    }

    /// Appends the chunks of some entries of a shard to `bytes`; false if the shard is another one
    /// than its index.
    fn gather(
        &self,
        key: &str,
        shard: &Shard,
        entries: &[(usize, usize)],
        bytes: &mut Vec<u8>,
        s: &mut Scratch,
        pieces: &mut [Option<(usize, usize)>],
    ) -> Result<bool> {
        let Some((index, generation)) = self.index_of(key, shard, s)? else { return Ok(true) };
        let damage = |source| corrupt(key, index.stored_bytes(), source);
        // What is not decoded is not checked, except that it lies beside the index.
        let (total, own) = (index.stored_bytes() as u64, shard.index_bytes as u64);
        let beside = if shard.index_at_end { 0..total.saturating_sub(own) } else { own..total };
        let mut spans = Vec::new();
        for (number, entry) in entries {
            let Some((begin, end)) = index.bounded_range(shard, *entry).map_err(damage)? else {
                continue;
            };
            if begin < beside.start || end > beside.end {
                let reason = format!("inner chunk {entry}: bytes {begin} to {end} are the index");
                return Err(damage(damaged(reason)));
            }
            spans.push((begin, end, *number));
        }
        spans.sort_unstable();
        let gap = self.store.gap().unwrap_or(GAP_BYTES);
        let mut runs: Vec<Range<u64>> = Vec::new();
        let mut inside = Vec::new();
        // Where the run begins in `bytes`.
        let mut first = bytes.len() as u64;
        for (begin, end, number) in spans {
            match runs.last_mut() {
                Some(run) if begin <= run.end.saturating_add(gap) => run.end = run.end.max(end),
                last => {
                    first += last.map_or(0, |run| run.end - run.start);
                    runs.push(begin..end);
                }
            }
            let at = first + (begin - runs[runs.len() - 1].start);
            inside.push((number, (at as usize, (at + end - begin) as usize)));
        }
        let found = self.store.get_ranges_into(key, &runs, &mut s.chunk);
        let found = match found {
            // The new shard is shorter.
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::UnexpectedEof => None,
            found => found.map_err(|error| from_store(key, error))?,
        };
        if found != Some(generation) {
            self.indexes.forget(key);
            return Ok(false);
        }
        bytes.append_slice(&s.chunk)?;
        for (number, piece) in inside {
            pieces[number] = Some(piece);
        }
        Ok(true)
    }

    /// The index of a stored shard and its version; it is kept for the next value that needs it.
    fn index_of(
        &self,
        key: &str,
        shard: &Shard,
        s: &mut Scratch,
    ) -> Result<Option<(Arc<Index>, Generation)>> {
        let known = self.indexes.get(key);
        if known.is_some() {
            return Ok(known);
        }
        let found = self.store.get_edge_into(key, shard.index_edge(), &mut s.chunk);
        let Some((generation, total)) = found.map_err(|error| from_store(key, error))? else {
            return Ok(None);
        };
        let total = match total {
            UNKNOWN_LENGTH => self.store.size(key)?.unwrap_or(0),
            total => total,
        };
        let index = Index::from_edge(shard, &s.chunk, total, &mut s.chain)
            .map_err(|source| corrupt(key, total as usize, source))?;
        let index = Arc::new(index);
        self.indexes.insert(key, &index, generation);
        Ok(Some((index, generation)))
    }
}
