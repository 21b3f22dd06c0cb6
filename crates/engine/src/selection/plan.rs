//! The selection of a call, and its part in each chunk.
//!
//! Along one axis, a selection is a range or a list of indices. Both are divided at chunk borders
//! into segments in ascending chunk order, so that the cost depends on what is selected and never
//! on the size of the grid. The same division inside of a shard gives its inner chunks.

use smallvec::SmallVec;
use zarrix_codec::memory::{Refused, collected};

use crate::error::{EngineError, Result};
use crate::layout::axes::PerAxis;
use crate::layout::grid::{AxisGrid, Cuts, Extent};

/// Most chunks along an axis in a plan that is made at once, of about a GiB.
const MOST_PLANNED: usize = 1 << 24;

/// The selection along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisSelection {
    /// One index; the buffer does not have this axis.
    Index(u64),
    /// `count` indices from `start` on, `step` apart; the step may be negative, never 0.
    Range {
        /// First index.
        start: u64,
        /// Distance to the next.
        step: i64,
        /// Number of indices.
        count: u64,
    },
    /// These indices, in any order, repeated or not.
    List(Vec<u64>),
}

/// One [`AxisSelection`] per axis of the array.
pub type Selection = SmallVec<[AxisSelection; 6]>;

/// Positions in a chunk along one axis, and where each lies in the buffer, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `count` positions from `first` on, `step` (at least 1) apart.
    Strided { first: usize, step: usize, count: usize, offset: isize, stride: isize },
    /// Positions in the order in which they are copied: if one is written twice, the last write
    /// wins.
    Listed { positions: Vec<usize>, offsets: Vec<isize> },
}

impl Part {
    /// Whether these are the first `limit` positions, in order.
    pub fn covers(&self, limit: usize) -> bool {
        matches!(*self, Self::Strided { first: 0, step: 1, count, .. } if count == limit)
            || matches!(*self, Self::Strided { first: 0, count: 1, .. } if limit == 1)
    }

    /// How many positions there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Strided { count, .. } => *count,
            Self::Listed { positions, .. } => positions.len(),
        }
    }

    /// The lowest and the highest position; `None` if there is none.
    pub fn extent(&self) -> Option<(usize, usize)> {
        match self {
            Self::Strided { count: 0, .. } => None,
            Self::Strided { first, step, count, .. } => Some((*first, first + step * (count - 1))),
            Self::Listed { positions, .. } => {
                Some((*positions.iter().min()?, *positions.iter().max()?))
            }
        }
    }

    /// Where the first position lies in the buffer.
    pub fn begin(&self) -> isize {
        match self {
            Self::Strided { offset, .. } => *offset,
            Self::Listed { offsets, .. } => offsets.first().copied().unwrap_or(0),
        }
    }

    /// How many parts [`Self::cut`] makes.
    pub fn cuts(&self, length: usize) -> u64 {
        match self {
            &Self::Strided { first, step, count, .. } => {
                let (first, step, count) = (first as u64, step as u64, count as u64);
                let range = Progression { first, step, count, offset: 0, stride: 0 };
                range.chunks(&AxisGrid::Even(length as u64))
            }
            Self::Listed { positions, .. } => {
                positions.chunk_by(|a, b| a / length == b / length).count() as u64
            }
        }
    }

    /// Divides at multiples of `length`.
    pub fn cut(&self, length: usize) -> std::result::Result<AxisPlan, Refused> {
        match self {
            &Self::Strided { first, step, count, offset, stride } => {
                let (first, step, count) = (first as u64, step as u64, count as u64);
                let mut range = Progression { first, step, count, offset, stride };
                range.plan(&(length as u64), usize::MAX)
            }
            Self::Listed { positions, offsets } => {
                let pairs = positions.iter().zip(offsets);
                cut_list(pairs.map(|(at, offset)| (*at as u64, *offset)), &(length as u64))
            }
        }
    }
}

/// The part of an axis' selection that lies in one chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Index of the chunk along this axis.
    pub chunk: u64,
    /// What is selected in it.
    pub part: Part,
}

impl Segment {
    /// Each index as a segment of its own.
    pub fn singles(&self) -> Vec<Self> {
        let single = |first: usize, offset: isize| {
            let part = Part::Strided { first, step: 1, count: 1, offset, stride: 0 };
            Self { chunk: self.chunk, part }
        };
        match &self.part {
            Part::Strided { first, step, count, offset, stride } => (0..*count)
                .map(|i| single(first + i * step, offset + i as isize * stride))
                .collect(),
            Part::Listed { positions, offsets } => {
                positions.iter().zip(offsets).map(|(at, offset)| single(*at, *offset)).collect()
            }
        }
    }
}

/// One axis of a planned call: its segments in ascending chunk order.
pub(crate) type AxisPlan = SmallVec<[Segment; 1]>;

/// One segment of each axis: a chunk and the selection of it.
pub(crate) type Segments<'a> = PerAxis<&'a Segment>;

/// A planned call: its tasks are all combinations of the segments of the axes.
#[derive(Debug)]
pub(crate) struct Plan {
    axes: PerAxis<AxisPlan>,
    pub tasks: usize,
}

impl Plan {
    /// All combinations of segments.
    pub fn of(axes: PerAxis<AxisPlan>) -> Result<Self> {
        let tasks = axes.iter().try_fold(1usize, |tasks, plan| tasks.checked_mul(plan.len()));
        let tasks = tasks.ok_or_else(|| {
            EngineError::Selection("the selection touches more chunks than fit in memory".into())
        })?;
        Ok(Self { axes, tasks })
    }

    /// The inner chunks that `parts` of a chunk touch, at most as many as an index can have.
    pub fn inside<'a>(
        parts: impl Iterator<Item = &'a Part>,
        inner_shape: &[usize],
    ) -> std::result::Result<Self, Refused> {
        let axes = parts.zip(inner_shape).map(|(part, length)| part.cut(*length));
        let axes: PerAxis<AxisPlan> = axes.collect::<std::result::Result<_, Refused>>()?;
        let tasks = axes.iter().map(|plan| plan.len()).product();
        Ok(Self { axes, tasks })
    }

    /// Replaces the segments of an axis.
    pub fn set_axis(&mut self, axis: usize, plan: AxisPlan) {
        self.axes[axis] = plan;
        self.tasks = self.axes.iter().map(|plan| plan.len()).product();
    }

    /// The segments of each axis.
    pub fn axes(&self) -> &[AxisPlan] {
        &self.axes
    }

    /// The segments of task number `task`, one per axis; the last axis varies fastest.
    pub fn task(&self, mut task: usize) -> Segments<'_> {
        let mut segments: Segments<'_> = self
            .axes
            .iter()
            .rev()
            .map(|plan| {
                let segment = &plan[task % plan.len()];
                task /= plan.len();
                segment
            })
            .collect();
        segments.reverse();
        segments
    }
}

/// Shape of the buffer that `selection` fills.
pub(crate) fn buffer_shape(selection: &[AxisSelection]) -> PerAxis<usize> {
    selection
        .iter()
        .filter_map(|selected| match selected {
            AxisSelection::Index(_) => None,
            AxisSelection::Range { count, .. } => Some(*count as usize),
            AxisSelection::List(indices) => Some(indices.len()),
        })
        .collect()
}

/// The selection along one axis, divided by chunks; removes the stride of the axis from `strides`,
/// if the buffer has the axis.
pub(crate) fn plan_axis(
    axis: usize,
    length: u64,
    grid: &AxisGrid,
    selected: &AxisSelection,
    strides: &mut &[isize],
) -> Result<AxisPlan> {
    match divide(axis, length, grid, selected, strides)? {
        Division::Listed(plan) => Ok(plan),
        Division::Range(range) => range.plan_all(grid),
    }
}

/// The selection along one axis before it is divided, if that can be done part by part.
pub(crate) fn divide(
    axis: usize,
    length: u64,
    grid: &AxisGrid,
    selected: &AxisSelection,
    strides: &mut &[isize],
) -> Result<Division> {
    let mut stride = || strides.split_off_first().copied().unwrap_or(0);
    Ok(match selected {
        AxisSelection::Index(index) => {
            Division::Range(Progression::new(axis, length, (*index, 1, 1), 0)?)
        }
        AxisSelection::Range { start, step, count } => {
            Division::Range(Progression::new(axis, length, (*start, *step, *count), stride())?)
        }
        AxisSelection::List(indices) => {
            Division::Listed(plan_list(axis, length, grid, indices, stride())?)
        }
    })
}

/// Moves a plan by `bytes` in the buffer.
pub(crate) fn shift(plan: &mut AxisPlan, bytes: isize) {
    for segment in plan {
        match &mut segment.part {
            Part::Strided { offset, .. } => *offset += bytes,
            Part::Listed { offsets, .. } => offsets.iter_mut().for_each(|at| *at += bytes),
        }
    }
}

/// A range along an axis of `length`, divided by chunks; out of bounds is an error.
pub(crate) fn plan_range(
    axis: usize,
    length: u64,
    grid: &AxisGrid,
    range: (u64, i64, u64),
    stride: isize,
) -> Result<AxisPlan> {
    Progression::new(axis, length, range, stride)?.plan_all(grid)
}

/// The selection along one axis: divided, or a range that is divided part by part.
#[derive(Clone, Debug)]
pub(crate) enum Division {
    Listed(AxisPlan),
    Range(Progression),
}

/// Indices `step` apart in ascending order, and where each lies in the buffer, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progression {
    first: u64,
    step: u64,
    count: u64,
    offset: isize,
    stride: isize,
}

impl Progression {
    /// A range along an axis of `length`; out of bounds is an error.
    fn new(
        axis: usize,
        length: u64,
        (start, step, count): (u64, i64, u64),
        stride: isize,
    ) -> Result<Self> {
        if count == 0 {
            return Ok(Self { first: 0, step: 1, count: 0, offset: 0, stride: 0 });
        }
        let out_of_bounds = || {
            EngineError::Selection(format!(
                "axis {axis}: {count} indices from {start} on, {step} apart, exceed the length \
                 {length}"
            ))
        };
        if step == 0 || start >= length || count > isize::MAX as u64 {
            return Err(out_of_bounds());
        }
        let last = i128::from(start) + i128::from(step) * i128::from(count - 1);
        if last < 0 || last >= i128::from(length) {
            return Err(out_of_bounds());
        }
        // A negative step selects the same indices from the other end, in reversed order.
        Ok(match u64::try_from(step) {
            Ok(step) => Self { first: start, step, count, offset: 0, stride },
            Err(_) => {
                let (first, step) = (last as u64, step.unsigned_abs());
                let offset = stride.wrapping_mul(count as isize - 1);
                Self { first, step, count, offset, stride: -stride }
            }
        })
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many indices it has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many chunks it touches: exactly in an even grid, at most in another one.
    pub fn chunks(&self, grid: &AxisGrid) -> u64 {
        let Some(steps) = self.count.checked_sub(1) else { return 0 };
        let (low, high) = (self.first, self.first + self.step * steps);
        match grid {
            // Each index is in another chunk.
            AxisGrid::Even(length) if self.step >= *length => self.count,
            _ => (grid.find(high).chunk - grid.find(low).chunk).saturating_add(1).min(self.count),
        }
    }

    /// The chunk of an index by its number.
    pub fn chunk_of(&self, grid: &AxisGrid, number: u64) -> u64 {
        grid.find(self.first + self.step * number).chunk
    }

    /// The part in one chunk of the grid.
    pub fn within(&self, extent: Extent) -> Option<Segment> {
        let before = extent.begin.saturating_sub(self.first).div_ceil(self.step);
        let mut rest = *self;
        rest.skip(before.min(self.count));
        let inside = rest.count > 0 && rest.first - extent.begin < extent.length;
        inside.then(|| rest.take(extent))
    }

    fn skip(&mut self, indices: u64) {
        self.count -= indices;
        self.offset = self.offset.wrapping_add(self.stride.wrapping_mul(indices as isize));
        // Beyond the axis once none is left.
        self.first = self.first.wrapping_add(self.step.wrapping_mul(indices));
    }

    /// Takes the indices in the chunk that the first one lies in.
    fn take(&mut self, Extent { chunk, begin, length }: Extent) -> Segment {
        let first = self.first - begin;
        let inside = ((length - 1 - first) / self.step + 1).min(self.count);
        let part = Part::Strided {
            first: first as usize,
            step: self.step as usize,
            count: inside as usize,
            offset: self.offset,
            stride: self.stride,
        };
        self.skip(inside);
        Segment { chunk, part }
    }

    /// Takes the indices in the first `most` chunks.
    fn plan(&mut self, cuts: &impl Cuts, most: usize) -> std::result::Result<AxisPlan, Refused> {
        let mut plan = AxisPlan::new();
        while self.count > 0 && plan.len() < most {
            push(&mut plan, self.take(cuts.find(self.first)))?;
        }
        Ok(plan)
    }

    /// Takes the indices in the first `most` chunks of a grid.
    pub fn plan_some(&mut self, grid: &AxisGrid, most: usize) -> Result<AxisPlan> {
        Ok(match grid {
            AxisGrid::Even(length) => self.plan(length, most)?,
            AxisGrid::Runs(runs) => self.plan(runs, most)?,
        })
    }

    fn plan_all(mut self, grid: &AxisGrid) -> Result<AxisPlan> {
        let chunks = self.chunks(grid);
        let plan = self.plan_some(grid, MOST_PLANNED)?;
        if self.count > 0 {
            return Err(EngineError::TooManyChunks { chunks, most: MOST_PLANNED as u64 });
        }
        Ok(plan)
    }
}

/// Appends the segments of another plan.
pub(crate) fn append(plan: &mut AxisPlan, more: AxisPlan) -> Result<()> {
    for segment in more {
        if plan.len() == MOST_PLANNED {
            let most = MOST_PLANNED as u64;
            return Err(EngineError::TooManyChunks { chunks: most + 1, most });
        }
        push(plan, segment)?;
    }
    Ok(())
}

/// Appends a segment, as [`zarrix_codec::memory::push`] does to a vector.
fn push(plan: &mut AxisPlan, segment: Segment) -> std::result::Result<(), Refused> {
    if plan.len() == plan.capacity() {
        let bytes = plan.len().saturating_mul(2 * size_of::<Segment>());
        plan.try_reserve(1).map_err(|_| Refused { bytes })?;
    }
    plan.push(segment);
    Ok(())
}

/// A list of indices along an axis of `length`, divided by chunks; out of bounds is an error.
pub(crate) fn plan_list(
    axis: usize,
    length: u64,
    grid: &AxisGrid,
    indices: &[u64],
    stride: isize,
) -> Result<AxisPlan> {
    if let Some(index) = indices.iter().find(|index| **index >= length) {
        return Err(EngineError::Selection(format!(
            "axis {axis}: index {index} is out of bounds for the length {length}"
        )));
    }
    let pairs = indices.iter().enumerate().map(|(i, index)| (*index, i as isize * stride));
    Ok(match grid {
        AxisGrid::Even(length) => cut_list(pairs, length)?,
        AxisGrid::Runs(runs) => cut_list(pairs, runs)?,
    })
}

fn cut_list(
    pairs: impl Iterator<Item = (u64, isize)>,
    cuts: &impl Cuts,
) -> std::result::Result<AxisPlan, Refused> {
    let mut pairs: Vec<(u64, isize)> = collected(pairs)?;
    if !pairs.is_sorted_by_key(|(index, _)| *index) {
        // Stable: among equal indices, the order of the caller decides which write is the last.
        pairs.sort_by_key(|(index, _)| *index);
    }
    let mut plan = AxisPlan::new();
    let mut rest = pairs.as_slice();
    while let Some((index, _)) = rest.first() {
        let extent = cuts.find(*index);
        let behind = rest.iter().position(|(index, _)| index - extent.begin >= extent.length);
        let (group, behind) = rest.split_at(behind.unwrap_or(rest.len()));
        push(&mut plan, Segment { chunk: extent.chunk, part: listed(group, extent.begin)? })?;
        rest = behind;
    }
    Ok(plan)
}

/// Sorted indices of one chunk; strided if they are evenly spaced on both sides.
fn listed(group: &[(u64, isize)], begin: u64) -> std::result::Result<Part, Refused> {
    let first = (group[0].0 - begin) as usize;
    if group.len() == 1 {
        return Ok(Part::Strided { first, step: 1, count: 1, offset: group[0].1, stride: 0 });
    }
    let (step, stride) = (group[1].0 - group[0].0, group[1].1 - group[0].1);
    if step > 0 && group.windows(2).all(|w| w[1].0 - w[0].0 == step && w[1].1 - w[0].1 == stride) {
        let (step, count, offset) = (step as usize, group.len(), group[0].1);
        return Ok(Part::Strided { first, step, count, offset, stride });
    }
    Ok(Part::Listed {
        positions: collected(group.iter().map(|(index, _)| (index - begin) as usize))?,
        offsets: collected(group.iter().map(|(_, offset)| *offset))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(length: u64) -> AxisGrid {
        AxisGrid::Even(length)
    }

    /// Every (index, offset) that a plan reaches, ordered by offset.
    fn reached(plan: &AxisPlan, grid: &AxisGrid) -> Vec<(u64, isize)> {
        let mut pairs: Vec<(u64, isize)> = plan
            .iter()
            .flat_map(|segment| -> Vec<(u64, isize)> {
                let base = grid.chunk(segment.chunk).map_or(u64::MAX, |extent| extent.begin);
                match &segment.part {
                    Part::Strided { first, step, count, offset, stride } => (0..*count)
                        .map(|i| (base + (first + i * step) as u64, offset + stride * i as isize))
                        .collect(),
                    Part::Listed { positions, offsets } => positions
                        .iter()
                        .zip(offsets)
                        .map(|(at, offset)| (base + *at as u64, *offset))
                        .collect(),
                }
            })
            .collect();
        pairs.sort_by_key(|(_, offset)| *offset);
        pairs
    }

    #[test]
    fn every_range_reaches_the_indices_numpy_reaches() {
        for length in 1u64..12 {
            for chunk in 1u64..14 {
                for start in 0..length {
                    for step in [-5i64, -3, -2, -1, 1, 2, 3, 7] {
                        let mut count = 0u64;
                        loop {
                            let last = start as i64 + step * count as i64;
                            if last < 0 || last >= length as i64 {
                                break;
                            }
                            count += 1;
                            let plan = plan_range(0, length, &even(chunk), (start, step, count), 8)
                                .unwrap_or_default();
                            let expected: Vec<(u64, isize)> = (0..count)
                                .map(|i| ((start as i64 + step * i as i64) as u64, 8 * i as isize))
                                .collect();
                            assert_eq!(reached(&plan, &even(chunk)), expected);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_list_reaches_its_indices_in_any_order_and_repeated() {
        for list in [vec![5u64], vec![0, 1, 2, 3], vec![9, 1, 1, 4, 9, 0], vec![8, 6, 4, 2], vec![]]
        {
            for chunk in 1u64..12 {
                let plan = plan_list(0, 10, &even(chunk), &list, 4).unwrap_or_default();
                let expected: Vec<(u64, isize)> =
                    list.iter().enumerate().map(|(i, index)| (*index, 4 * i as isize)).collect();
                assert_eq!(reached(&plan, &even(chunk)), expected);
                assert!(plan.windows(2).all(|pair| pair[0].chunk < pair[1].chunk));
            }
        }
    }

    #[test]
    fn chunks_of_several_lengths_are_cut_where_they_meet() -> Result<()> {
        for runs in [vec![(3, 2), (1, 3), (4, 1)], vec![(13, 1)], vec![(1, 5), (8, 2)]] {
            let grid = AxisGrid::of_runs(&runs)?;
            for (start, step, count) in
                [(0, 1, 13), (12, -1, 13), (1, 3, 4), (11, -2, 6), (5, 7, 2)]
            {
                let plan = plan_range(0, 13, &grid, (start, step, count), 8)?;
                let expected: Vec<(u64, isize)> = (0..count)
                    .map(|i| ((start as i64 + step * i as i64) as u64, 8 * i as isize))
                    .collect();
                assert_eq!(reached(&plan, &grid), expected);
                let list: Vec<u64> = expected.iter().map(|(index, _)| *index).collect();
                assert_eq!(reached(&plan_list(0, 13, &grid, &list, 8)?, &grid), expected);
            }
        }
        Ok(())
    }

    #[test]
    fn what_lies_beyond_the_axis_is_refused() {
        assert!(plan_range(1, 10, &even(4), (8, 1, 3), 1).is_err());
        assert!(plan_range(1, 10, &even(4), (2, -1, 4), 1).is_err());
        assert!(plan_range(1, 10, &even(4), (u64::MAX, 1, 1), 1).is_err());
        assert!(plan_range(1, 10, &even(4), (0, i64::MAX, 2), 1).is_err());
        assert!(plan_list(1, 10, &even(4), &[3, 10], 1).is_err());
    }

    #[test]
    fn a_step_over_a_huge_axis_plans_only_what_it_touches() {
        let plan = plan_range(0, u64::MAX, &even(1), (0, 1 << 61, 7), 1).unwrap_or_default();
        assert_eq!(plan.len(), 7);
    }
}
