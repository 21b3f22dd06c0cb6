//! The read path: chunk by chunk from the store into the caller's buffer.
//!
//! A selection, a list of points and a list of windows are all cut into chunks, each with what is
//! wanted of it; every chunk is fetched and decoded once. A shard gives up only the inner chunks
//! that are wanted, where the store reads ranges at once.

use smallvec::{SmallVec, smallvec};

use crate::array::ArrayIO;
use crate::axes::PerAxis;
use crate::chunks::write_key;
use crate::encoding::{ChunkLayout, Encoding};
use crate::error::{EngineError, Result, corrupt};
use crate::partial::is_worth_it;
use crate::patience::Interrupt;
use crate::place::{PlaceScratch, Sink, place};
use crate::pool;
use crate::scratch::{self, Scratch};
use crate::selection::{AxisSelection, buffer_shape};
use crate::view::{Target, check_shape};
use crate::wanted::Wanted;

/// Up to this many bytes, and for one chunk, the hand-over to the pool costs more than it gives.
pub(crate) const ALONE_BYTES: usize = 64 << 10;

/// A chunk's coordinates and what is wanted of it.
pub(crate) type Job<'a> = (PerAxis<u64>, SmallVec<[Wanted<'a>; 1]>);

impl ArrayIO {
    /// Fills `target` with the elements of `selection`; chunks that are not stored give the fill
    /// value.
    ///
    /// # Errors
    /// [`EngineError::CorruptChunk`] names the first chunk whose bytes do not decode to what the
    /// layout declares; what `target` then holds is unspecified.
    pub fn read(
        &self,
        selection: &[AxisSelection],
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.check_axes(selection)?;
        check_shape(&buffer_shape(selection), target.shape(), "the buffer")?;
        let plan = self.plan(selection, target.strides())?;
        self.check_kind(target.sink().is_some())?;
        if let Some(together) = self.together(&plan, target) {
            return self.reading(plan.tasks, target, |target| {
                self.read_together(&plan, together, target, interrupt)
            });
        }
        self.read_jobs(plan.tasks, target, interrupt, &|task| {
            let segments = plan.task(task);
            let coords = segments.iter().map(|segment| segment.chunk).collect();
            (coords, smallvec![Wanted::of(&segments, 0)])
        })
    }

    /// Reads `count` chunks; `job` tells which, and what is wanted of each.
    pub(crate) fn read_jobs<'a>(
        &self,
        count: usize,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> Job<'a> + Sync),
    ) -> Result<()> {
        self.check_kind(target.sink().is_some())?;
        self.reading(count, target, |target| self.read_chunks(count, target, interrupt, job))
    }

    fn read_chunks<'a>(
        &self,
        count: usize,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> Job<'a> + Sync),
    ) -> Result<()> {
        if !self.store.is_inline() {
            return self.read_batches(count, target, interrupt, job);
        }
        if let Some(shared) = self.shared(count, target) {
            return self.read_shared(count, shared, target, interrupt, job);
        }
        let task = |index: usize| {
            let (coords, wanted) = job(index);
            scratch::with(|scratch| self.read_job(&coords, &wanted, target, scratch))
        };
        let elements = target.shape().iter().copied().fold(1, usize::saturating_mul);
        match count {
            0 => Ok(()),
            1 => pool::run_alone(1, interrupt, &task),
            _ if elements.saturating_mul(self.layout.item_bytes) <= ALONE_BYTES => {
                (0..count).try_for_each(task)
            }
            _ => pool::run(count, interrupt, &task),
        }
    }

    pub(crate) fn read_job(
        &self,
        coords: &[u64],
        wanted: &[Wanted<'_>],
        target: Target<'_>,
        s: &mut Scratch,
    ) -> Result<()> {
        let chunk = &*self.layout.chunk(coords)?;
        let sink = Sink::new(target, &self.layout);
        write_key(&mut s.key, &self.prefix, &self.layout, coords.iter().copied());
        let keeps = self.keeps();
        if let Encoding::Shard(shard) = &chunk.encoding
            && shard.outer.is_empty()
            && (keeps || !matches!(wanted, [only] if only.covers(&self.limits(coords))))
        {
            return self.read_shard(chunk, shard, wanted, sink, s);
        }
        if keeps && self.read_kept(chunk, wanted, sink, s)? {
            return Ok(());
        }
        if let Encoding::Elements(elements) = &chunk.encoding
            && self.store.reads_parts()
            && is_worth_it(chunk, elements, wanted)
            && !(self.store.checks_whole_values()
                && matches!(wanted, [only] if only.covers(&self.limits(coords))))
        {
            return self.read_parts(chunk, elements, wanted, sink, s);
        }
        let encoded = self.fetch_stored(chunk, s)?.then(|| std::mem::take(&mut s.encoded));
        let placed = self.place_whole(chunk, encoded.as_deref(), wanted, sink, s);
        s.encoded = encoded.unwrap_or_default();
        placed
    }

    /// Places what is wanted of one chunk whose stored bytes are in memory; `None` is one that is
    /// not stored: an error, where the layout says that chunks of the array are.
    pub(crate) fn place_whole(
        &self,
        chunk: &ChunkLayout,
        encoded: Option<&[u8]>,
        wanted: &[Wanted<'_>],
        sink: Sink<'_>,
        s: &mut Scratch,
    ) -> Result<()> {
        if encoded.is_none() && chunk.has_key {
            sink.count_absent();
            if !self.layout.read_missing_chunks {
                return Err(EngineError::MissingChunk { key: s.key.clone() });
            }
        }
        let scratch = &mut PlaceScratch { chunk: &mut s.chunk, chain: &mut s.chain };
        place(chunk, encoded, wanted, sink, scratch)
            .map_err(|source| corrupt(&s.key, encoded.map_or(0, <[u8]>::len), source))
    }
}
