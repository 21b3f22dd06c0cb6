//! The read path: chunk by chunk from the store into the caller's buffer.
//!
//! A selection, a list of points and a list of windows are all cut into chunks, each with what is
//! wanted of it; every chunk is fetched and decoded once. A shard gives up only the inner chunks
//! that are wanted, where the store reads ranges at once.

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Target, check_shape};
use crate::error::Result;
use crate::read::job::{ALONE_BYTES, Job};
use crate::read::strategy::Strategy;
use crate::selection::plan::{AxisSelection, buffer_shape};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch;

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
        let bytes = target.bytes(self.layout.item_bytes);
        let strategy = self.strategy(Some(&plan), plan.tasks, bytes);
        self.reading(plan.tasks, target, |target| match strategy {
            Strategy::Interleaved(chunks) => {
                self.read_interleaved(&plan, chunks, target, interrupt)
            }
            strategy => self.read_by(strategy, plan.tasks, target, interrupt, &|task| {
                Job::of(&plan.task(task))
            }),
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
        let strategy = self.strategy(None, count, target.bytes(self.layout.item_bytes));
        self.reading(count, target, |target| self.read_by(strategy, count, target, interrupt, job))
    }

    fn read_by<'a>(
        &self,
        strategy: Strategy<'_>,
        count: usize,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> Job<'a> + Sync),
    ) -> Result<()> {
        match strategy {
            Strategy::Batched => return self.read_batches(count, target, interrupt, job),
            Strategy::ParallelShards(shards) => {
                return self.read_shared(count, shards, target, interrupt, job);
            }
            Strategy::ByChunk | Strategy::Interleaved(_) => {}
        }
        let task = |index: usize| {
            let Job { coords, selected } = job(index);
            scratch::with(|scratch| self.read_job(&coords, &selected, target, scratch))
        };
        match count {
            0 => Ok(()),
            1 => pool::run_alone(1, interrupt, &task),
            _ if target.bytes(self.layout.item_bytes) <= ALONE_BYTES => {
                (0..count).try_for_each(task)
            }
            _ => pool::run(count, interrupt, &task),
        }
    }
}
