//! Selections of many arrays in one call: the pieces of a virtual array.
//!
//! The chunks of all parts in local stores and in memory are one job of the thread pool. Those of
//! another store get batches of requests for all of its arrays, several servers at the same time. A
//! part that has many chunks, or that is read in a way of its own, is read as if it were alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use zarrix_codec::memory::push;

use crate::array::io::ArrayIO;
use crate::calls::servers::for_each_store;
use crate::chunk::buffer::{Target, check_shape};
use crate::error::{EngineError, Result};
use crate::read::batched::{ArrayJob, read_batches};
use crate::read::chunk_job::ChunkJob;
use crate::read::effort::is_little;
use crate::read::strategy::Strategy;
use crate::selection::blocks::Blocks;
use crate::selection::plan::{AxisSelection, Plan, buffer_shape};
use crate::threads::cancel::Interrupt;
use crate::threads::{pool, scratch};

/// A part with more chunks has work for all threads by itself.
const MOST_SHARED: u64 = 4096;

/// A selection of an array, and the buffer for it.
#[derive(Debug)]
pub struct ArrayPart<'a> {
    /// The array.
    pub array: &'a ArrayIO,
    /// What is read.
    pub selection: &'a [AxisSelection],
    /// The buffer, with an axis for each range of the selection.
    pub target: Target<'a>,
}

/// A part whose chunks are read together with those of others.
struct SharedPart<'a> {
    number: usize,
    part: &'a ArrayPart<'a>,
    blocks: Blocks<'a>,
    tasks: usize,
    absent: AtomicUsize,
}

/// The number of a part, and its error.
type Failed = (usize, EngineError);

/// Fills the targets of all parts.
///
/// # Errors
/// The number of a part that failed, and its error. The content of all targets is then unspecified.
pub fn read_parts(
    parts: &[ArrayPart<'_>],
    interrupt: Interrupt<'_>,
) -> std::result::Result<(), Failed> {
    let mut shared: Vec<SharedPart<'_>> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let failed = |error| (number, error);
        match SharedPart::of(number, part).map_err(failed)? {
            Some(one) => push(&mut shared, one).map_err(|refused| failed(refused.into()))?,
            None => part.array.read(part.selection, part.target, interrupt).map_err(failed)?,
        }
    }
    read_shared(&shared, interrupt)?;
    for one in &shared {
        one.check_document().map_err(|error| (one.number, error))?;
    }
    Ok(())
}

fn read_shared(
    shared: &[SharedPart<'_>],
    interrupt: Interrupt<'_>,
) -> std::result::Result<(), Failed> {
    let total = shared.iter().map(|one| one.tasks).sum();
    let mut chunks: Vec<(usize, usize)> = Vec::new();
    let mut batched: Vec<Vec<(usize, usize)>> = Vec::new();
    let (mut bytes, mut work) = (0usize, 0usize);
    for (index, one) in shared.iter().enumerate() {
        let Some(plan) = one.plan() else { continue };
        let array = one.part.array;
        let own_bytes = one.part.target.bytes(array.layout.item_bytes);
        let job = |task: usize| ChunkJob::of(&plan.task(task));
        match array.strategy(Some(plan), total, own_bytes, &job) {
            Strategy::Batched => {
                let same = batched.iter_mut().find(|of| {
                    of.first().is_some_and(|(first, _)| {
                        Arc::ptr_eq(&shared[*first].part.array.store, &array.store)
                    })
                });
                match same {
                    Some(same) => one.add_to(same, index)?,
                    None => {
                        let mut own = Vec::new();
                        one.add_to(&mut own, index)?;
                        push(&mut batched, own).map_err(|refused| (one.number, refused.into()))?;
                    }
                }
            }
            Strategy::Interleaved(_) | Strategy::ParallelShards(_) => {
                let ArrayPart { selection, target, .. } = *one.part;
                array.read(selection, target, interrupt).map_err(|error| (one.number, error))?;
            }
            Strategy::ByChunk => {
                one.add_to(&mut chunks, index)?;
                bytes = bytes.saturating_add(own_bytes);
                work = work.saturating_add(array.effort(one.tasks, job));
            }
        }
    }
    let store = |tasks: &Vec<(usize, usize)>| {
        tasks.first().map(|(first, _)| &*shared[*first].part.array.store)
    };
    for_each_store(&batched, store, interrupt, &|tasks, interrupt| {
        read_batched(shared, tasks, interrupt)
    })?;
    read_chunks(shared, &chunks, is_little(bytes, || work), interrupt)
}

/// Reads chunks of stores that are cheap to call.
fn read_chunks(
    shared: &[SharedPart<'_>],
    chunks: &[(usize, usize)],
    alone: bool,
    interrupt: Interrupt<'_>,
) -> std::result::Result<(), Failed> {
    let failed: Mutex<Option<Failed>> = Mutex::default();
    let task = |index: usize| {
        let (one, task) = chunks[index];
        let one = &shared[one];
        let Some(plan) = one.plan() else { return Ok(()) };
        let ChunkJob { coords, selected } = ChunkJob::of(&plan.task(task));
        let array = one.part.array;
        let done = scratch::with(|s| array.read_job(&coords, &selected, one.target(), s));
        done.map_err(|error| {
            if !matches!(error, EngineError::Interrupted) {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert((one.number, one.explained(error)));
            }
            // It stops the others, whose errors are only consequences.
            EngineError::Interrupted
        })
    };
    let done = match alone {
        true => pool::run_alone(chunks.len(), interrupt, &task),
        false => pool::run(chunks.len(), interrupt, &task),
    };
    match (failed.into_inner().unwrap_or_else(PoisonError::into_inner), done) {
        (Some(failed), _) => Err(failed),
        (None, Err(error)) => Err((0, error)),
        (None, Ok(())) => Ok(()),
    }
}

/// Reads chunks of one store that answers batches of requests: of all arrays at once, so that a
/// call takes as many round trips as one of them.
fn read_batched(
    shared: &[SharedPart<'_>],
    tasks: &[(usize, usize)],
    interrupt: Interrupt<'_>,
) -> std::result::Result<(), Failed> {
    let Some((first, _)) = tasks.first() else { return Ok(()) };
    let job = |index: usize| {
        let (one, task) = tasks[index];
        let one = &shared[one];
        let job = match one.plan() {
            Some(plan) => ChunkJob::of(&plan.task(task)),
            None => ChunkJob { coords: Default::default(), selected: Default::default() },
        };
        ArrayJob { array: one.part.array, target: one.target(), job }
    };
    let store = &*shared[*first].part.array.store;
    read_batches(store, tasks.len(), interrupt, &job, &|_| Ok(())).map_err(|error| {
        let key = error.key().unwrap_or_default();
        let owners = tasks.iter().map(|(one, _)| &shared[*one]);
        let owner = owners
            .filter(|one| key.starts_with(one.part.array.prefix.as_str()))
            .max_by_key(|one| one.part.array.prefix.len());
        let owner = owner.unwrap_or(&shared[*first]);
        (owner.number, owner.explained(error))
    })
}

impl<'a> SharedPart<'a> {
    /// The chunks of a part; `None` if it is read alone.
    fn of(number: usize, part: &'a ArrayPart<'a>) -> Result<Option<Self>> {
        let ArrayPart { array, selection, ref target } = *part;
        array.check_axes(selection)?;
        check_shape(&buffer_shape(selection), target.shape(), "the buffer")?;
        array.check_kind(target.sink().is_some())?;
        let mut blocks = array.blocks(selection, target.strides())?;
        if target.sink().is_some() || blocks.tasks() > MOST_SHARED {
            return Ok(None);
        }
        let tasks = blocks.next()?.map_or(0, |plan| plan.tasks);
        Ok(Some(Self { number, part, blocks, tasks, absent: AtomicUsize::new(0) }))
    }

    /// Adds its chunks to a list, under its index.
    fn add_to(
        &self,
        tasks: &mut Vec<(usize, usize)>,
        index: usize,
    ) -> std::result::Result<(), Failed> {
        for task in 0..self.tasks {
            push(tasks, (index, task)).map_err(|refused| (self.number, refused.into()))?;
        }
        Ok(())
    }

    fn plan(&self) -> Option<&Plan> {
        self.blocks.last()
    }

    fn target(&self) -> Target<'_> {
        let target = self.part.target;
        if self.part.array.document.is_some() { target.counting(&self.absent) } else { target }
    }

    fn explained(&self, error: EngineError) -> EngineError {
        match self.part.array.explained(Err::<(), _>(error), false) {
            Err(error) => error,
            Ok(()) => EngineError::Interrupted,
        }
    }

    /// Tells missing chunks from a missing array.
    fn check_document(&self) -> Result<()> {
        let absent = self.absent.load(Ordering::Relaxed);
        let array = self.part.array;
        let is_empty = absent > 0 && (absent >= self.tasks || array.store.is_inline());
        if is_empty { array.check_document() } else { Ok(()) }
    }
}
