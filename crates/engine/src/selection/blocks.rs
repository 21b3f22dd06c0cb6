//! A selection of any number of chunks, planned block by block.
//!
//! A plan has a segment for each chunk along an axis. A selection of a huge axis with small chunks
//! would need more memory for its plan than for its result, so that a range is divided only as far
//! as a block needs it. A selection of nothing has no block.

use crate::error::Result;
use crate::layout::axes::PerAxis;
use crate::layout::grid::AxisGrid;
use crate::selection::plan::{
    AxisPlan, AxisSelection, Division, Plan, Progression, Segment, divide,
};

/// Chunks along an axis in a block; 64 bytes for each.
const BLOCK_BITS: usize = 16;
/// The chunks of a block are counted by as many bits at most.
const TASK_BITS: usize = 60;

/// The blocks of a selection, in turn.
pub(crate) struct Blocks<'g> {
    grid: &'g [AxisGrid],
    axes: PerAxis<Axis>,
    /// Chunks along an axis in a block.
    most: usize,
    /// The block that was returned last.
    plan: Option<Plan>,
    is_over: bool,
}

struct Axis {
    all: Division,
    /// What the blocks so far have left of a range.
    left: Option<Progression>,
}

impl<'g> Blocks<'g> {
    /// Divides `selection` by the chunks of an array of `shape` and `grid`, for a buffer of
    /// `buffer_strides`.
    pub fn new(
        selection: &[AxisSelection],
        shape: &[u64],
        grid: &'g [AxisGrid],
        buffer_strides: &[isize],
    ) -> Result<Self> {
        let mut strides = buffer_strides;
        let axes = selection.iter().enumerate().map(|(axis, selected)| {
            let all = divide(axis, shape[axis], &grid[axis], selected, &mut strides)?;
            Ok(Axis { all, left: None })
        });
        let axes: PerAxis<Axis> = axes.collect::<Result<_>>()?;
        let most = 1 << (TASK_BITS / axes.len().max(1)).min(BLOCK_BITS);
        let is_over = axes.iter().any(|axis| match &axis.all {
            Division::Listed(plan) => plan.is_empty(),
            Division::Range(range) => range.is_empty(),
        });
        Ok(Self { grid, axes, most, plan: None, is_over })
    }

    /// The next block; the last axis varies fastest.
    pub fn next(&mut self) -> Result<Option<&Plan>> {
        // After an error, there is no next one.
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(None);
        }
        let next = match self.plan.take() {
            None => {
                let all = 0..self.axes.len();
                let plans = all.map(|axis| self.begin(axis)).collect::<Result<_>>()?;
                Some(Plan::of(plans)?)
            }
            Some(plan) => self.after(plan)?,
        };
        self.is_over = next.is_none();
        self.plan = next;
        Ok(self.plan.as_ref())
    }

    /// The block that was returned last.
    pub fn last(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// The block after another one.
    fn after(&mut self, mut plan: Plan) -> Result<Option<Plan>> {
        for axis in (0..self.axes.len()).rev() {
            if let Some(next) = self.go_on(axis)? {
                plan.set_axis(axis, next);
                return Ok(Some(plan));
            }
            if self.is_divided(axis) {
                plan.set_axis(axis, self.begin(axis)?);
            }
        }
        Ok(None)
    }

    /// The first segments of an axis.
    fn begin(&mut self, axis: usize) -> Result<AxisPlan> {
        let Axis { all, left } = &mut self.axes[axis];
        match all {
            Division::Listed(plan) => Ok(plan.clone()),
            Division::Range(range) => left.insert(*range).plan_some(&self.grid[axis], self.most),
        }
    }

    /// The next segments of an axis, if it has more.
    fn go_on(&mut self, axis: usize) -> Result<Option<AxisPlan>> {
        match &mut self.axes[axis].left {
            Some(left) if !left.is_empty() => left.plan_some(&self.grid[axis], self.most).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether an axis is in several blocks.
    fn is_divided(&self, axis: usize) -> bool {
        match &self.axes[axis].all {
            Division::Listed(_) => false,
            Division::Range(range) => range.chunks(&self.grid[axis]) > self.most as u64,
        }
    }

    /// How many chunks all blocks have along each axis: exactly in an even grid, at most in another
    /// one. `None` if nothing is selected.
    pub fn lengths(&self) -> Option<PerAxis<u64>> {
        let lengths: PerAxis<u64> = self.lengths_by(self.grid);
        (!lengths.contains(&0)).then_some(lengths)
    }

    /// [`Self::lengths`] in another grid.
    pub fn lengths_by(&self, grid: &[AxisGrid]) -> PerAxis<u64> {
        let along = |(axis, grid): (&Axis, &AxisGrid)| match &axis.all {
            Division::Listed(plan) => plan.len() as u64,
            Division::Range(range) => range.chunks(grid),
        };
        self.axes.iter().zip(grid).map(along).collect()
    }

    /// How many chunks all blocks have.
    pub fn tasks(&self) -> u64 {
        self.lengths().map_or(0, |all| all.iter().copied().fold(1, u64::saturating_mul))
    }

    /// The chunk at a part of the way along each axis, out of `parts`.
    pub fn chunk_at(&self, part: PerAxis<u64>, parts: u64) -> PerAxis<u64> {
        let along = self.axes.iter().zip(self.grid).zip(part);
        let at = |count: u64, part: u64| {
            (u128::from(count) * u128::from(part) / u128::from(parts)) as u64
        };
        along
            .map(|((axis, grid), part)| match &axis.all {
                Division::Listed(plan) => plan[at(plan.len() as u64, part) as usize].chunk,
                Division::Range(range) => range.chunk_of(grid, at(range.count(), part)),
            })
            .collect()
    }

    /// What is selected of a chunk of the grid.
    pub fn within(&self, coords: &[u64]) -> Option<PerAxis<Segment>> {
        let along = self.axes.iter().zip(self.grid).zip(coords);
        along
            .map(|((axis, grid), coord)| match &axis.all {
                Division::Listed(plan) => {
                    let found = plan.binary_search_by_key(coord, |segment| segment.chunk);
                    found.ok().map(|index| plan[index].clone())
                }
                Division::Range(range) => range.within(grid.chunk(*coord)?),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(start: u64, step: i64, count: u64) -> AxisSelection {
        AxisSelection::Range { start, step, count }
    }

    /// All chunks and parts that the blocks have, and how many blocks there are.
    fn all(mut blocks: Blocks<'_>, most: usize) -> Result<(Vec<Vec<Segment>>, usize)> {
        blocks.most = most;
        let (mut found, mut count) = (Vec::new(), 0);
        while let Some(plan) = blocks.next()? {
            assert!(plan.axes().iter().all(|axis| axis.len() <= most.max(4)));
            count += 1;
            for task in 0..plan.tasks {
                let segments = plan.task(task);
                found.push(segments.iter().map(|one| (*one).clone()).collect::<Vec<_>>());
            }
        }
        Ok((found, count))
    }

    #[test]
    fn blocks_have_each_chunk_once_with_the_same_part() -> Result<()> {
        let list = AxisSelection::List(vec![5, 1, 9, 1]);
        for selection in [
            [axis(0, 1, 30), axis(29, -1, 30), AxisSelection::Index(4)],
            [axis(1, 7, 4), list.clone(), axis(28, -3, 9)],
            [list, axis(3, 1, 1), axis(2, 2, 14)],
        ] {
            for grid in [AxisGrid::Even(3), AxisGrid::of_runs(&[(2, 3), (5, 1), (1, 19)])?] {
                let of_runs = matches!(grid, AxisGrid::Runs(_));
                let grids = [AxisGrid::Even(1), grid, AxisGrid::Even(4)];
                let new = || Blocks::new(&selection, &[30; 3], &grids, &[900, 30, 1]);
                let tasks = new()?.tasks() as usize;
                let (mut whole, one) = all(new()?, 100)?;
                assert_eq!(one, 1);
                assert!(whole.len() == tasks || of_runs && whole.len() < tasks);
                for segments in &whole {
                    let coords: Vec<u64> = segments.iter().map(|one| one.chunk).collect();
                    let within = new()?.within(&coords).map(|all| all.to_vec());
                    assert_eq!(within.as_ref(), Some(segments));
                }
                let coords = |segments: &Vec<Segment>| -> Vec<u64> {
                    segments.iter().map(|one| one.chunk).collect()
                };
                whole.sort_by_key(coords);
                for most in [1, 2, 5] {
                    let (mut parts, _) = all(new()?, most)?;
                    parts.sort_by_key(coords);
                    assert_eq!(parts, whole);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn what_is_not_selected_is_within_no_chunk() -> Result<()> {
        let grids = [AxisGrid::Even(4)];
        let blocks = Blocks::new(&[axis(5, 9, 2)], &[100], &grids, &[1])?;
        let found: Vec<u64> = (0..25).filter(|chunk| blocks.within(&[*chunk]).is_some()).collect();
        assert_eq!(found, [1, 3]);
        Ok(())
    }

    #[test]
    fn nothing_of_a_huge_axis_has_no_block_and_a_huge_one_has_many() -> Result<()> {
        let grids = [AxisGrid::Even(1), AxisGrid::Even(1)];
        let shape = [1 << 60, 1 << 60];
        let mut none = Blocks::new(&[axis(0, 1, 1 << 60), axis(0, 1, 0)], &shape, &grids, &[0, 0])?;
        assert!(none.next()?.is_none());
        assert_eq!(none.tasks(), 0);
        let all = [axis(0, 1, 1 << 60), axis((1 << 60) - 1, -1, 1 << 60)];
        let mut blocks = Blocks::new(&all, &shape, &grids, &[0, 0])?;
        assert_eq!(blocks.tasks(), u64::MAX);
        for _ in 0..2 {
            assert_eq!(blocks.next()?.map(|plan| plan.tasks), Some(1 << 32));
        }
        let beyond = [axis(0, 1, (1 << 60) + 1), axis(0, 1, 0)];
        assert!(Blocks::new(&beyond, &shape, &grids, &[0, 0]).is_err());
        Ok(())
    }
}
