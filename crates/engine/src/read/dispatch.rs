//! The read path: chunk by chunk from the store into the caller's buffer.
//!
//! A selection, a list of points and a list of windows are all cut into chunks, each with what is
//! wanted of it; every chunk is fetched and decoded once. A shard gives up only the inner chunks
//! that are wanted, where the store reads ranges at once.

use smallvec::smallvec;

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Target, check_shape};
use crate::error::Result;
use crate::read::job::Job;
use crate::selection::chunk_selection::Wanted;
use crate::selection::plan::{AxisSelection, buffer_shape};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch;

/// Up to this many bytes, and for one chunk, the hand-over to the pool costs more than it gives.
pub(crate) const ALONE_BYTES: usize = 64 << 10;

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
}
