//! Points and windows: many small reads of one array as one call.
//!
//! They are sorted by chunk first, so that every chunk is fetched and decoded once however many
//! of them touch it, and nothing is as large as the grid.

use smallvec::smallvec;
use zarrix_store::Durability;

use crate::array::ArrayIO;
use crate::pool;
use crate::read::Job;
use crate::scratch;
use crate::selection::{AxisPlan, Part, PerAxis, plan_range};
use crate::view::{Source, Target, check_shape};
use crate::wanted::{Points, Wanted};
use crate::{EngineError, Interrupt, Result};

/// Points by chunk: their numbers, sorted by chunk, and where each chunk's run begins.
struct ByChunk {
    order: Vec<usize>,
    runs: Vec<(u64, usize, usize)>,
}

impl ArrayIO {
    /// Fills `target` with one element per point; `coords` has one list per axis.
    pub fn read_points(
        &self,
        coords: &[&[u64]],
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let count = self.check_points(coords, target.shape())?;
        let points = Points { coords, shape: target.shape(), strides: target.strides() };
        let grouped = self.by_chunk(coords, count)?;
        self.read_jobs(grouped.runs.len(), target, interrupt, &|run| {
            let (id, begin, end) = grouped.runs[run];
            let which = &grouped.order[begin..end];
            (self.coords_of(id), smallvec![Wanted::Points { points: &points, which }])
        })
    }

    /// Stores one element of `source` per point; of two that are one element, the last stays.
    pub fn write_points(
        &self,
        coords: &[&[u64]],
        source: Source<'_>,
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let count = self.check_points(coords, source.shape())?;
        let points = Points { coords, shape: source.shape(), strides: source.strides() };
        let grouped = self.by_chunk(coords, count)?;
        pool::run(grouped.runs.len(), interrupt, &|run| {
            let (id, begin, end) = grouped.runs[run];
            let wanted = [Wanted::Points { points: &points, which: &grouped.order[begin..end] }];
            scratch::with(|s| self.write_job(&self.coords_of(id), &wanted, source, durability, s))
        })
    }

    /// Fills `target`, of shape `(N, *shape)`, with the N windows of `shape` that begin at
    /// `starts`, which has one row of coordinates per window.
    pub fn read_windows(
        &self,
        starts: &[u64],
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let axes = self.layout.shape.len();
        let [windows, shape @ ..] = target.shape() else {
            return Err(EngineError::Selection("the buffer has no axis for the windows".into()));
        };
        if shape.len() != axes || starts.len() != windows * axes {
            return Err(EngineError::Selection(format!(
                "{} start coordinates for {windows} windows of {axes} axes",
                starts.len()
            )));
        }
        let mut plans: Vec<AxisPlan> = Vec::with_capacity(starts.len());
        for (position, start) in starts.iter().enumerate() {
            let axis = position % axes;
            let range = (*start, 1, shape[axis] as u64);
            let chunk = self.layout.chunk.shape[axis] as u64;
            let stride = target.strides()[axis + 1];
            plans.push(plan_range(axis, self.layout.shape[axis], chunk, range, stride)?);
        }
        let pieces = self.pieces(&plans, *windows)?;
        let runs: Vec<&[(u64, usize, usize)]> = pieces.chunk_by(|a, b| a.0 == b.0).collect();
        let stride = target.strides()[0];
        self.read_jobs(runs.len(), target, interrupt, &|run| {
            let wanted = runs[run].iter().map(|(_, window, task)| {
                let plans = &plans[window * axes..(window + 1) * axes];
                Wanted::Box { parts: parts_of(plans, *task), base: *window as isize * stride }
            });
            (self.coords_of(runs[run][0].0), wanted.collect()) as Job<'_>
        })
    }

    /// Every chunk that every window touches, as (chunk, window, task), sorted by chunk.
    fn pieces(&self, plans: &[AxisPlan], windows: usize) -> Result<Vec<(u64, usize, usize)>> {
        let axes = self.layout.shape.len();
        let grid = self.grid()?;
        let mut pieces = Vec::with_capacity(windows);
        for window in 0..windows {
            let plans = &plans[window * axes..(window + 1) * axes];
            let tasks = plans.iter().map(|plan| plan.len()).product::<usize>();
            for task in 0..tasks {
                let mut rest = task;
                let (mut id, mut unit) = (0, 1);
                for (plan, length) in plans.iter().zip(&grid).rev() {
                    id += plan[rest % plan.len()].chunk * unit;
                    rest /= plan.len();
                    unit *= length;
                }
                pieces.push((id, window, task));
            }
        }
        pieces.sort_unstable();
        Ok(pieces)
    }

    fn check_points(&self, coords: &[&[u64]], shape: &[usize]) -> Result<usize> {
        let axes = self.layout.shape.len();
        if coords.len() != axes || axes == 0 {
            return Err(EngineError::Selection(format!(
                "{} lists of coordinates for {axes} axes",
                coords.len()
            )));
        }
        let count = shape.iter().product();
        for (axis, list) in coords.iter().enumerate() {
            check_shape(&[count], &[list.len()], "a list of coordinates")?;
            let length = self.layout.shape[axis];
            if let Some(index) = list.iter().find(|index| **index >= length) {
                return Err(EngineError::Selection(format!(
                    "axis {axis}: index {index} leaves the length {length}"
                )));
            }
        }
        Ok(count)
    }

    /// Number of chunks along each axis; all of them must have numbers.
    fn grid(&self) -> Result<PerAxis<u64>> {
        let axes = self.layout.shape.iter().zip(&self.layout.chunk.shape);
        let grid: PerAxis<u64> =
            axes.map(|(length, chunk)| length.div_ceil(*chunk as u64).max(1)).collect();
        grid.iter()
            .try_fold(1u64, |count, length| count.checked_mul(*length))
            .map(|_| grid)
            .ok_or_else(|| EngineError::Selection("the array has more than 2^64 chunks".into()))
    }

    fn coords_of(&self, mut id: u64) -> PerAxis<u64> {
        let axes = self.layout.shape.iter().zip(&self.layout.chunk.shape);
        let mut coords: PerAxis<u64> = axes
            .rev()
            .map(|(length, chunk)| {
                let length = length.div_ceil(*chunk as u64).max(1);
                let coord = id % length;
                id /= length;
                coord
            })
            .collect();
        coords.reverse();
        coords
    }

    fn by_chunk(&self, coords: &[&[u64]], count: usize) -> Result<ByChunk> {
        let grid = self.grid()?;
        let mut keyed: Vec<(u64, usize)> = (0..count).map(|point| (0, point)).collect();
        for ((list, length), chunk) in coords.iter().zip(&grid).zip(&self.layout.chunk.shape) {
            let chunk = *chunk as u64;
            for (id, point) in &mut keyed {
                *id = *id * length + list[*point] / chunk;
            }
        }
        // The point's number as second key keeps the caller's order within a chunk.
        if !keyed.is_sorted() {
            keyed.sort_unstable();
        }
        let mut runs = Vec::new();
        let mut begin = 0;
        for run in keyed.chunk_by(|a, b| a.0 == b.0) {
            runs.push((run[0].0, begin, begin + run.len()));
            begin += run.len();
        }
        Ok(ByChunk { order: keyed.into_iter().map(|(_, point)| point).collect(), runs })
    }
}

/// The parts of task number `task` of one window's plans; the last axis varies fastest.
fn parts_of(plans: &[AxisPlan], mut task: usize) -> PerAxis<&Part> {
    let mut parts: PerAxis<&Part> = plans
        .iter()
        .rev()
        .map(|plan| {
            let part = &plan[task % plan.len()].part;
            task /= plan.len();
            part
        })
        .collect();
    parts.reverse();
    parts
}
