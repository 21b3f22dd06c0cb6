//! Many boxes of one size in one call: windows, and coordinates along some axes only.
//!
//! A box has its own start along some axes, and shares the selection along the others. The parts of
//! all boxes are sorted by chunk first, so that every chunk is fetched and decoded once, even if
//! many boxes touch it. Each distinct start along an axis is divided once: a million boxes over an
//! axis of a thousand indices need a thousand plans.

use smallvec::smallvec;
use zarrix_store::Durability;

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Source, Target, check_shape};
use crate::error::{EngineError, Result};
use crate::layout::axes::PerAxis;
use crate::layout::grid::AxisGrid;
use crate::memory::turns::Turns;
use crate::read::chunk_job::ChunkJob;
use crate::read::cost::Cost;
use crate::selection::chunk_selection::{ChunkSelection, offset_of};
use crate::selection::plan::{
    AxisPlan, AxisSelection, Part, Segment, append, buffer_shape, plan_axis, plan_list, plan_range,
    shift,
};
use crate::threads::cancel::Interrupt;
use crate::threads::scratch;
use zarrix_codec::memory::{collected, push, with_room};

/// Most chunks of all windows of a call together, of about 2 GiB.
const MOST_PIECES: usize = 1 << 26;

/// What happens to a window that leaves the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It is an error, detected before anything is read.
    Refuse,
    /// The outer part of the buffer is left unchanged; starts are signed.
    Skip,
    /// The outer part repeats the element at the edge; starts are signed.
    Edge,
    /// The outer part mirrors the array, without its edge; starts are signed.
    Reflect,
}

/// The selection of boxes along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Along<'a> {
    /// Every box has its own index; the buffer does not have this axis.
    Each(&'a [u64]),
    /// All boxes share this selection.
    Shared(AxisSelection),
}

/// The boxes of a call, divided at chunk borders.
pub(crate) struct Boxes<'a> {
    axes: PerAxis<Axis>,
    /// Lengths and byte strides of the axes of the buffer that count boxes.
    counts: &'a [usize],
    strides: &'a [isize],
    /// The number of their destination, in a call that has several.
    pub out: u32,
    /// The axis that has a destination for each of its indices, and its stride in the buffer.
    apart: Option<(usize, isize)>,
}

/// The plans along one axis, and the one of each box; if `which` is empty, all boxes have the first
/// one.
struct Axis {
    plans: Vec<AxisPlan>,
    which: Vec<u32>,
}

impl Axis {
    fn shared(plan: AxisPlan) -> Self {
        Self { plans: vec![plan], which: Vec::new() }
    }

    /// One plan for each distinct start, and its turn if there is one.
    fn each<S: Copy + Ord>(
        starts: impl Iterator<Item = S> + Clone,
        plan: impl FnMut(S) -> Result<AxisPlan>,
    ) -> Result<Self> {
        let mut known: Vec<S> = collected(starts.clone())?;
        known.sort_unstable();
        known.dedup();
        if u32::try_from(known.len()).is_err() {
            return Err(EngineError::Selection(format!(
                "{} distinct starts are too many",
                known.len()
            )));
        }
        let which = starts.map(|start| known.binary_search(&start).unwrap_or(0) as u32);
        let which = collected(which)?;
        let (mut plans, mut segments) = (with_room(known.len())?, 0);
        for plan in known.into_iter().map(plan) {
            let plan = plan?;
            segments += plan.len();
            if segments > MOST_PIECES {
                let chunks = segments as u64;
                return Err(EngineError::TooManyChunks { chunks, most: MOST_PIECES as u64 });
            }
            plans.push(plan);
        }
        Ok(Self { plans, which })
    }

    fn plan(&self, number: usize) -> &AxisPlan {
        &self.plans[self.which.get(number).map_or(0, |which| *which as usize)]
    }
}

impl Boxes<'_> {
    /// Gives each index of `axis` its own destination; `stride` is that of the axis in the buffer.
    pub fn set_apart(&mut self, axis: usize, stride: isize) {
        for plan in &mut self.axes[axis].plans {
            *plan = plan.iter().flat_map(Segment::singles).collect();
        }
        self.apart = Some((axis, stride));
    }

    fn count(&self) -> usize {
        self.counts.iter().product()
    }

    /// The selection of box `number` in its chunk number `task`; the last axis varies fastest.
    pub fn selection(&self, number: usize, mut task: usize) -> ChunkSelection<'_> {
        let mut parts: PerAxis<&Part> = PerAxis::new();
        for axis in self.axes.iter().rev() {
            parts.push(&next_segment(axis.plan(number), &mut task).part);
        }
        parts.reverse();
        let base = offset_of(number, self.counts, self.strides);
        let index = self.apart.map_or(0, |(axis, stride)| parts[axis].begin() / stride);
        ChunkSelection::Box { parts, base, out: self.out + index as u32 }
    }
}

/// The segment of a plan that task number `task` has; `task` becomes that of the other axes.
fn next_segment<'a>(plan: &'a AxisPlan, task: &mut usize) -> &'a Segment {
    if let [only] = &plan[..] {
        return only;
    }
    let segment = &plan[*task % plan.len()];
    *task /= plan.len();
    segment
}

/// A chunk by its number in the grid, a box, and the number of the chunk in that box.
pub(crate) type Piece = (u64, usize, usize);

impl ArrayIO {
    /// Fills `target`, of shape `(N, *shape)`, with the N windows of `shape` that begin at
    /// `starts`, which has one row of coordinates per window.
    pub fn read_windows(
        &self,
        starts: &[u64],
        outside: Outside,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let boxes = self.windows(starts, outside, target.shape(), target.strides(), None)?;
        let pieces = self.pieces(&boxes)?;
        self.read_pieces(&boxes, &pieces, target, interrupt)
    }

    /// Fills `target`, of shape `(*counts, *shape)`, with boxes of `shape`; the lists of indices
    /// along the axes that have them are as long as the product of `counts`.
    pub fn read_boxes(
        &self,
        along: &[Along<'_>],
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let boxes = self.boxes(along, target.shape(), target.strides())?;
        let pieces = self.pieces(&boxes)?;
        self.read_pieces(&boxes, &pieces, target, interrupt)
    }

    /// Stores `source` as boxes, as [`Self::read_boxes`] reads them; if boxes overlap, the last one
    /// wins.
    pub fn write_boxes(
        &self,
        along: &[Along<'_>],
        source: Source<'_>,
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.check_before_writing()?;
        let boxes = self.boxes(along, source.shape(), source.strides())?;
        let pieces = self.pieces(&boxes)?;
        let runs: Vec<&[Piece]> = collected(pieces.chunk_by(|a, b| a.0 == b.0))?;
        self.run(runs.len(), interrupt, &|run| {
            let ChunkJob { coords, selected } = self.job(&boxes, runs[run]);
            scratch::with(|s| self.write_job(&coords, &selected, source, durability, s))
        })
    }

    /// What [`Self::read_boxes`] of `count` boxes would fetch.
    pub fn cost_of_boxes(
        &self,
        along: &[Along<'_>],
        count: usize,
        interrupt: Interrupt<'_>,
    ) -> Result<Cost> {
        let shape = shape_of(along, count);
        let strides: PerAxis<isize> = shape.iter().map(|_| 0).collect();
        let boxes = self.boxes(along, &shape, &strides)?;
        let pieces = self.pieces(&boxes)?;
        let runs: Vec<&[Piece]> = collected(pieces.chunk_by(|a, b| a.0 == b.0))?;
        self.cost_of_jobs(runs.len(), interrupt, &|run| self.job(&boxes, runs[run]))
    }

    /// How [`Self::read_boxes`] of `count` boxes is done, as [`Self::strategy_of`] says it.
    pub fn strategy_of_boxes(&self, along: &[Along<'_>], count: usize) -> Result<&'static str> {
        let shape = shape_of(along, count);
        let strides: PerAxis<isize> = shape.iter().map(|_| 0).collect();
        let boxes = self.boxes(along, &shape, &strides)?;
        let pieces = self.pieces(&boxes)?;
        let runs: Vec<&[Piece]> = collected(pieces.chunk_by(|a, b| a.0 == b.0))?;
        let bytes = shape.iter().copied().fold(self.layout.item_bytes, usize::saturating_mul);
        self.word_of(None, runs.len(), bytes, |run| self.job(&boxes, runs[run]))
    }

    fn read_pieces(
        &self,
        boxes: &Boxes<'_>,
        pieces: &[Piece],
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let runs: Vec<&[Piece]> = collected(pieces.chunk_by(|a, b| a.0 == b.0))?;
        self.read_jobs(runs.len(), target, interrupt, &|run| self.job(boxes, runs[run]))
    }

    fn job<'a>(&self, boxes: &'a Boxes<'_>, run: &[Piece]) -> ChunkJob<'a> {
        let selected = run.iter().map(|(_, number, task)| boxes.selection(*number, *task));
        ChunkJob { coords: self.coords_of(run[0].0), selected: selected.collect() }
    }

    /// The windows of a buffer of shape `(N, *shape)`, turned as `turns` says.
    pub(crate) fn windows<'a>(
        &self,
        starts: &[u64],
        outside: Outside,
        target: &'a [usize],
        strides: &'a [isize],
        turns: Option<Turns<'_>>,
    ) -> Result<Boxes<'a>> {
        let lengths = &self.layout.shape;
        let axes = lengths.len();
        let [windows, shape @ ..] = target else {
            return Err(EngineError::Selection("the buffer has no axis for the windows".into()));
        };
        if shape.len() != axes || starts.len() != windows * axes {
            return Err(EngineError::Selection(format!(
                "{} start coordinates for {windows} windows of {axes} axes",
                starts.len()
            )));
        }
        turns.map_or(Ok(()), |turns| turns.check(*windows, shape))?;
        let along = |axis: usize| {
            let (length, chunk) = (lengths[axis], &self.layout.grid[axis]);
            let count = shape[axis] as u64;
            let starts = starts.iter().copied().skip(axis).step_by(axes);
            let plan =
                |start, stride| plan_window(axis, length, chunk, (start, count), outside, stride);
            let Some(turns) = turns else {
                return Axis::each(starts, |start| plan(start, strides[axis + 1]));
            };
            Axis::each(starts.zip(turns.along(axis, axes)), |(start, turn)| {
                let (begin, stride) = turn.place(shape, &strides[1..]);
                let mut turned = plan(start, stride)?;
                shift(&mut turned, begin);
                Ok(turned)
            })
        };
        let axes = (0..axes).map(along).collect::<Result<_>>()?;
        Ok(Boxes { axes, counts: &target[..1], strides: &strides[..1], out: 0, apart: None })
    }

    fn boxes<'a>(
        &self,
        along: &[Along<'_>],
        shape: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Boxes<'a>> {
        let layout = &self.layout;
        let mut selection: Vec<AxisSelection> = Vec::new();
        for along in along {
            selection.push(match along {
                Along::Each(_) => AxisSelection::Index(0),
                Along::Shared(shared) => shared.clone(),
            });
        }
        self.check_axes(&selection)?;
        let ranges = selection.iter().filter(|one| !matches!(one, AxisSelection::Index(_))).count();
        let leading = shape.len().checked_sub(ranges).ok_or_else(|| {
            EngineError::Selection(format!(
                "a buffer of {} axes for a selection of {ranges}",
                shape.len()
            ))
        })?;
        let (counts, boxed) = shape.split_at(leading);
        check_shape(&buffer_shape(&selection), boxed, "the buffer of a box")?;
        let (counted, mut inner) = strides.split_at(leading);
        let mut axes: PerAxis<Axis> = smallvec![];
        for (axis, along) in along.iter().enumerate() {
            let (length, chunk) = (layout.shape[axis], &layout.grid[axis]);
            axes.push(match along {
                Along::Each(indices) => {
                    check_shape(&[counts.iter().product()], &[indices.len()], "a list of indices")?;
                    Axis::each(indices.iter().copied(), |index| {
                        plan_range(axis, length, chunk, (index, 1, 1), 0)
                    })?
                }
                Along::Shared(shared) => {
                    Axis::shared(plan_axis(axis, length, chunk, shared, &mut inner)?)
                }
            });
        }
        Ok(Boxes { axes, counts, strides: counted, out: 0, apart: None })
    }

    /// Every chunk that every box touches, sorted by chunk.
    fn pieces(&self, boxes: &Boxes<'_>) -> Result<Vec<Piece>> {
        let mut pieces = with_room(boxes.count())?;
        self.each_piece(boxes, |piece| add_piece(&mut pieces, piece))?;
        pieces.sort_unstable();
        Ok(pieces)
    }

    /// Visits every chunk that every box touches.
    pub(crate) fn each_piece(
        &self,
        boxes: &Boxes<'_>,
        mut visit: impl FnMut(Piece) -> Result<()>,
    ) -> Result<()> {
        let grid = self.grid()?;
        for number in 0..boxes.count() {
            let plans = || boxes.axes.iter().map(|axis| axis.plan(number));
            let tasks = plans().map(|plan| plan.len()).fold(1, usize::saturating_mul);
            for task in 0..tasks {
                let mut rest = task;
                let (mut id, mut unit) = (0, 1);
                for (plan, length) in plans().zip(&grid).rev() {
                    id += next_segment(plan, &mut rest).chunk * unit;
                    unit *= length;
                }
                visit((id, number, task))?;
            }
        }
        Ok(())
    }
}

/// Appends a piece of a call.
pub(crate) fn add_piece<T>(pieces: &mut Vec<T>, piece: T) -> Result<()> {
    if pieces.len() >= MOST_PIECES {
        let chunks = pieces.len() as u64 + 1;
        return Err(EngineError::TooManyChunks { chunks, most: MOST_PIECES as u64 });
    }
    Ok(push(pieces, piece)?)
}

/// The part of a window along one axis, divided by chunks.
fn plan_window(
    axis: usize,
    length: u64,
    grid: &AxisGrid,
    (start, count): (u64, u64),
    outside: Outside,
    stride: isize,
) -> Result<AxisPlan> {
    if outside == Outside::Refuse {
        return plan_range(axis, length, grid, (start, 1, count), stride);
    }
    let begin = i128::from(start as i64);
    let low = begin.clamp(0, i128::from(length));
    let high = (begin + i128::from(count)).clamp(low, i128::from(length));
    let before = (low - begin).clamp(0, i128::from(count));
    if outside != Outside::Skip && length == 0 && count > 0 {
        let reason = format!("axis {axis} has length 0: it has no edge to repeat or reflect");
        return Err(EngineError::Selection(reason));
    }
    let mut plan = AxisPlan::new();
    // Every distance is shorter than the window, whose length is a usize.
    let mut add = |distance: i128, mut part: AxisPlan| {
        shift(&mut part, distance as isize * stride);
        append(&mut plan, part)
    };
    let inside = high - low;
    let part = plan_range(axis, length, grid, (low as u64, 1, inside as u64), stride)?;
    add(before, part)?;
    let after = i128::from(count) - before - inside;
    let outer = [(0, before), (before + inside, after)];
    for (distance, count) in outer.into_iter().filter(|(_, count)| *count > 0) {
        match outside {
            Outside::Refuse | Outside::Skip => {}
            Outside::Edge => {
                let index = (begin + distance).clamp(0, i128::from(length) - 1) as u64;
                let mut repeated = with_room(count as usize)?;
                repeated.extend(std::iter::repeat_n(index, count as usize));
                add(distance, plan_list(axis, length, grid, &repeated, stride)?)?;
            }
            Outside::Reflect => {
                let mut done = 0;
                while done < count {
                    let (first, step, run) =
                        reflected(begin + distance + done, i128::from(length), count - done);
                    let range = (first as u64, step, run as u64);
                    add(distance + done, plan_range(axis, length, grid, range, stride)?)?;
                    done += run;
                }
            }
        }
    }
    Ok(plan)
}

/// The first indices, at most `count`, that an axis of `length` has at `position` and after, if it
/// is mirrored at its first and last index: first index, step, and number.
fn reflected(position: i128, length: i128, count: i128) -> (i128, i64, i128) {
    let period = (2 * (length - 1)).max(1);
    let index = position.rem_euclid(period);
    if index < length {
        (index, 1, count.min(length - index))
    } else {
        (period - index, -1, count.min(period - index))
    }
}

/// The shape of the buffer for `count` boxes.
fn shape_of(along: &[Along<'_>], count: usize) -> PerAxis<usize> {
    let mut shape: PerAxis<usize> = smallvec![count];
    for along in along {
        if let Along::Shared(shared) = along {
            shape.extend(buffer_shape(std::slice::from_ref(shared)));
        }
    }
    shape
}
