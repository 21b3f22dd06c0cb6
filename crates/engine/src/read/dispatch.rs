//! The read path: from the store to the buffer of the caller, chunk by chunk.
//!
//! Selections, points and windows are all divided by chunks, and every chunk is fetched and decoded
//! once. If the store reads ranges, only the selected inner chunks of a shard are read.

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Target, check_shape};
use crate::error::Result;
use crate::read::batched::{ArrayJob, read_batches};
use crate::read::chunk_job::ChunkJob;
use crate::read::effort::is_little;
use crate::read::strategy::Strategy;
use crate::selection::plan::{AxisSelection, Plan, buffer_shape};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch;

impl ArrayIO {
    /// Fills `target` with the elements of `selection`; missing chunks read as the fill value.
    ///
    /// # Errors
    /// [`EngineError::CorruptChunk`](crate::error::EngineError::CorruptChunk) names the first chunk
    /// whose bytes do not decode to what the layout declares; the content of `target` is then
    /// unspecified.
    pub fn read(
        &self,
        selection: &[AxisSelection],
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.check_axes(selection)?;
        check_shape(&buffer_shape(selection), target.shape(), "the buffer")?;
        let mut blocks = self.blocks(selection, target.strides())?;
        self.check_kind(target.sink().is_some())?;
        if let Some(stored) = self.listed(&blocks) {
            return self.read_listed(&blocks, &stored, selection, target, interrupt);
        }
        while let Some(plan) = blocks.next()? {
            self.read_block(plan, target, interrupt)?;
        }
        Ok(())
    }

    fn read_block(&self, plan: &Plan, target: Target<'_>, interrupt: Interrupt<'_>) -> Result<()> {
        let bytes = target.bytes(self.layout.item_bytes);
        let job = |task| ChunkJob::of(&plan.task(task));
        let strategy = self.strategy(Some(plan), plan.tasks, bytes, &job);
        self.reading(plan.tasks, target, |target| match strategy {
            Strategy::Interleaved(chunks) => self.read_interleaved(plan, chunks, target, interrupt),
            strategy => self.read_by(strategy, plan.tasks, target, interrupt, &job),
        })
    }

    /// Reads `count` chunks; `job` gives each chunk and its selection.
    pub(crate) fn read_jobs<'a>(
        &self,
        count: usize,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> ChunkJob<'a> + Sync),
    ) -> Result<()> {
        self.check_kind(target.sink().is_some())?;
        let strategy = self.strategy(None, count, target.bytes(self.layout.item_bytes), job);
        self.reading(count, target, |target| self.read_by(strategy, count, target, interrupt, job))
    }

    /// Reads as `strategy` says.
    pub(crate) fn read_by<'a>(
        &self,
        strategy: Strategy<'_>,
        count: usize,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
        job: &(dyn Fn(usize) -> ChunkJob<'a> + Sync),
    ) -> Result<()> {
        match strategy {
            Strategy::Batched => {
                let job = |index| ArrayJob { array: self, target, job: job(index) };
                return read_batches(&*self.store, count, interrupt, &job, &|_| Ok(()));
            }
            Strategy::ParallelShards(shards) => {
                return self.read_shared(count, shards, target, interrupt, job);
            }
            Strategy::ByChunk | Strategy::Interleaved(_) => {}
        }
        let task = |index: usize| {
            let ChunkJob { coords, selected } = job(index);
            scratch::with(|scratch| self.read_job(&coords, &selected, target, scratch))
        };
        let bytes = target.bytes(self.layout.item_bytes);
        match count {
            0 => Ok(()),
            1 => pool::run_alone(1, interrupt, &task),
            _ => match self.choices.alone {
                Some(true) => pool::run_alone(count, interrupt, &task),
                None if is_little(bytes, || self.effort(count, job)) => {
                    (0..count).try_for_each(task)
                }
                _ => pool::run(count, interrupt, &task),
            },
        }
    }
}
