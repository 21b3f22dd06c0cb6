//! The part of a selection that lies in one chunk: boxes of it, or points.
//!
//! All selections, windows and coordinates, of reads and of writes, become this, and so does the
//! selection of an inner chunk after a shard has divided its own.

use smallvec::SmallVec;
use zarrix_codec::memory::{Refused, collected, push};

use crate::layout::axes::PerAxis;
use crate::layout::chunk::Shard;
use crate::memory::strides::{Dim, Grid, List};
use crate::selection::plan::{Part, Plan, Segments};

/// Elements of one chunk, and where each lies in the buffer.
#[derive(Clone, Debug)]
pub(crate) enum ChunkSelection<'a> {
    /// All combinations of one part per axis; `base` is added to the parts' buffer offsets. `out`
    /// is the number of the destination, in a call that has several.
    Box { parts: PerAxis<&'a Part>, base: isize, out: u32 },
    /// Points by their number; two of them may be the same element.
    Points { points: &'a Points<'a>, which: &'a [usize] },
}

/// Coordinates in the array, one list per axis, and the buffer that has one element for each.
#[derive(Debug)]
pub(crate) struct Points<'a> {
    pub coords: &'a [&'a [u64]],
    /// Shape and byte strides of the buffer; the points fill it in C order.
    pub shape: &'a [usize],
    pub strides: &'a [isize],
}

/// Bytes from a buffer's base to its element number `number`, in C order.
pub(crate) fn offset_of(mut number: usize, shape: &[usize], strides: &[isize]) -> isize {
    if let &[stride] = strides {
        return number as isize * stride;
    }
    let mut offset = 0;
    for (length, stride) in shape.iter().zip(strides).rev() {
        offset += (number % length) as isize * stride;
        number /= length;
    }
    offset
}

impl Points<'_> {
    /// Bytes from the buffer's base to the element of `point`.
    pub fn buffer_offset(&self, point: usize) -> isize {
        offset_of(point, self.shape, self.strides)
    }

    /// Bytes from the start of a decoded chunk of `shape` and `strides` to the element of `point`.
    pub fn chunk_offset(&self, point: usize, shape: &[usize], strides: &[isize]) -> usize {
        let coords = self.coords.iter().zip(shape).zip(strides);
        coords
            .map(|((list, length), stride)| {
                (list[point] % *length as u64) as usize * *stride as usize
            })
            .sum()
    }
}

/// A box as copies between a decoded chunk (`src`) and the buffer (`dst`).
#[derive(Debug)]
pub(crate) struct CopyPlan {
    pub grid: Grid,
    /// Bytes from the chunk's start to where the grid begins.
    pub chunk_offset: usize,
    /// Bytes from the buffer's base to where the grid begins.
    pub buffer_offset: isize,
}

impl CopyPlan {
    pub fn new(parts: &[&Part], base: isize, strides: &[isize]) -> Self {
        let mut placed = Self { grid: Grid::default(), chunk_offset: 0, buffer_offset: base };
        for (part, in_chunk) in parts.iter().zip(strides) {
            match part {
                Part::Strided { first, step, count, offset, stride } => {
                    let src = in_chunk * *step as isize;
                    placed.grid.dims.push(Dim { count: *count, dst: *stride, src });
                    placed.chunk_offset += first * *in_chunk as usize;
                    placed.buffer_offset += offset;
                }
                Part::Listed { positions, offsets } => placed.grid.lists.push(List {
                    dst: offsets.iter().copied().collect(),
                    src: positions.iter().map(|at| *at as isize * in_chunk).collect(),
                }),
            }
        }
        placed
    }

    /// Whether the elements lie in the buffer as in the decoded chunk, one after the other.
    pub fn is_contiguous(&self) -> bool {
        self.grid.lists.is_empty()
            && self.grid.dims.iter().all(|dim| dim.count == 1 || dim.dst == dim.src)
    }
}

/// A box that is consecutive bytes, of a decoded chunk and of the buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Bytes from the chunk's start to the run.
    pub chunk_offset: usize,
    /// Bytes from the buffer's base to the run.
    pub buffer_offset: isize,
    pub bytes: usize,
}

impl Run {
    /// The box of `parts` of elements of `item` bytes, if it is a run. This is what many small
    /// windows are, whose [`CopyPlan`] would take longer than the copy.
    pub fn of(parts: &[&Part], base: isize, strides: &[isize], item: usize) -> Option<Self> {
        let mut run = Self { chunk_offset: 0, buffer_offset: base, bytes: item };
        for (part, in_chunk) in parts.iter().zip(strides).rev() {
            let Part::Strided { first, step, count, offset, stride } = part else { return None };
            if *count != 1 {
                let next = run.bytes as isize;
                if *count == 0 || *stride != next || in_chunk * *step as isize != next {
                    return None;
                }
                run.bytes *= count;
            }
            run.chunk_offset += first * *in_chunk as usize;
            run.buffer_offset += offset;
        }
        Some(run)
    }
}

impl<'a> ChunkSelection<'a> {
    /// The box that `segments` of a plan are.
    pub fn of(segments: &Segments<'a>, base: isize, out: u32) -> Self {
        Self::Box { parts: segments.iter().map(|segment| &segment.part).collect(), base, out }
    }

    /// The number of the destination.
    pub fn out(&self) -> usize {
        match self {
            Self::Box { out, .. } => *out as usize,
            Self::Points { .. } => 0,
        }
    }

    /// How many elements are selected.
    pub fn count(&self) -> usize {
        match self {
            Self::Points { which, .. } => which.len(),
            Self::Box { parts, .. } => {
                parts.iter().map(|part| part.count()).fold(1, usize::saturating_mul)
            }
        }
    }

    /// Whether this selects all of a chunk's first `limits` elements along each axis, in order.
    pub fn covers(&self, limits: &[usize]) -> bool {
        matches!(self, Self::Box { parts, .. }
            if parts.iter().zip(limits).all(|(part, limit)| part.covers(*limit)))
    }
}

/// Whether these select all of a chunk's first `limits` elements along each axis.
pub(crate) fn covered(selected: &[ChunkSelection<'_>], limits: &[usize]) -> bool {
    matches!(selected, [only] if only.covers(limits))
}

/// The selection of a shard, divided into those of its inner chunks.
pub(crate) struct ShardSplit<'a> {
    /// Plan, base and destination of each box.
    plans: SmallVec<[(Plan, isize, u32); 1]>,
    /// Points, ordered by index entry, with the bounds of each entry's run.
    points: Vec<(&'a Points<'a>, Vec<usize>)>,
    /// Index entry, and the source of its `ChunkSelection`; ordered by entry.
    pieces: Vec<(usize, Piece)>,
}

#[derive(Clone, Copy)]
enum Piece {
    Task { plan: usize, task: usize },
    Points { set: usize, begin: usize, end: usize },
}

impl<'a> ShardSplit<'a> {
    pub fn new(
        shard: &Shard,
        shard_shape: &[usize],
        selected: &[ChunkSelection<'a>],
    ) -> Result<Self, Refused> {
        let mut cut = Self { plans: SmallVec::new(), points: Vec::new(), pieces: Vec::new() };
        for selected in selected {
            match selected {
                ChunkSelection::Box { parts, base, out } => {
                    let plan = Plan::inside(parts.iter().copied(), &shard.inner.shape)?;
                    for task in 0..plan.tasks {
                        let coords = plan.task(task).into_iter().map(|segment| segment.chunk);
                        let piece = Piece::Task { plan: cut.plans.len(), task };
                        push(&mut cut.pieces, (shard.entry(coords), piece))?;
                    }
                    cut.plans.push((plan, *base, *out));
                }
                ChunkSelection::Points { points, which } => {
                    cut.add_points(shard, shard_shape, points, which)?;
                }
            }
        }
        // Stable: if two writes have one element, the last one must win.
        cut.pieces.sort_by_key(|(entry, _)| *entry);
        Ok(cut)
    }

    fn add_points(
        &mut self,
        shard: &Shard,
        shard_shape: &[usize],
        points: &'a Points<'a>,
        which: &[usize],
    ) -> Result<(), Refused> {
        let entry_of = |point: usize| {
            let inner = shard.inner.shape.iter().zip(shard_shape);
            let coords = points.coords.iter().zip(inner);
            shard.entry(
                coords.map(|(list, (inner, outer))| list[point] % *outer as u64 / *inner as u64),
            )
        };
        let mut entries: Vec<(usize, usize)> =
            collected(which.iter().map(|point| (entry_of(*point), *point)))?;
        entries.sort_by_key(|(entry, _)| *entry);
        let mut begin = 0;
        for run in entries.chunk_by(|a, b| a.0 == b.0) {
            let end = begin + run.len();
            let piece = Piece::Points { set: self.points.len(), begin, end };
            push(&mut self.pieces, (run[0].0, piece))?;
            begin = end;
        }
        self.points.push((points, collected(entries.into_iter().map(|(_, point)| point))?));
        Ok(())
    }

    /// Every touched index entry with the selection of its inner chunk, in ascending order.
    pub fn entries(&self) -> impl Iterator<Item = (usize, SmallVec<[ChunkSelection<'_>; 1]>)> {
        self.pieces.chunk_by(|a, b| a.0 == b.0).map(|run| {
            let selected = run.iter().map(|(_, piece)| match *piece {
                Piece::Task { plan, task } => {
                    let (plan, base, out) = &self.plans[plan];
                    ChunkSelection::of(&plan.task(task), *base, *out)
                }
                Piece::Points { set, begin, end } => {
                    let (points, which) = &self.points[set];
                    ChunkSelection::Points { points, which: &which[begin..end] }
                }
            });
            (run[0].0, selected.collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::copy::normalize;

    /// Parts of an axis with chunks of 4: all, some, every second, one, none.
    fn parts_along(stride: isize) -> Vec<Part> {
        let counts = [(0, 1, 4), (1, 1, 2), (0, 2, 2), (3, 1, 1), (2, 1, 0)];
        let strided = counts.map(|(first, step, count)| {
            let offset = first as isize * stride;
            Part::Strided { first, step, count, offset, stride }
        });
        let listed = Part::Listed { positions: vec![0, 1], offsets: vec![0, stride] };
        [strided.to_vec(), vec![listed]].concat()
    }

    #[test]
    fn a_run_is_a_box_that_one_copy_moves() {
        let item = 2;
        let mut runs = 0;
        // Strides of the buffer: packed as the chunk, as its rows, reversed, and of another order.
        for to in [[32, 8, 2], [8, 4, 2], [32, 8, -2], [2, 8, 32], [0, 0, 2]] {
            let [x, y, z] = to.map(parts_along);
            let boxes: Vec<[&Part; 3]> = (0..x.len() * y.len() * z.len())
                .map(|n| [&x[n / z.len() / y.len()], &y[n / z.len() % y.len()], &z[n % z.len()]])
                .collect();
            for in_chunk in [[32, 8, 2], [2, 8, 32]] {
                for parts in &boxes {
                    let Some(run) = Run::of(parts, 7, &in_chunk, item) else { continue };
                    let plan = CopyPlan::new(parts, 7, &in_chunk);
                    let dims = normalize(plan.grid.dims, item).unwrap_or_default();
                    let packed = item as isize;
                    assert!(plan.grid.lists.is_empty() && dims.len() <= 1, "{parts:?}");
                    assert!(dims.iter().all(|dim| (dim.dst, dim.src) == (packed, packed)));
                    let wanted = Run {
                        chunk_offset: plan.chunk_offset,
                        buffer_offset: plan.buffer_offset,
                        bytes: dims.iter().map(|dim| dim.count).product::<usize>() * item,
                    };
                    assert_eq!(run, wanted);
                    assert!(
                        parts.iter().all(|part| !matches!(part, Part::Strided { count: 0, .. }))
                    );
                    runs += 1;
                }
            }
        }
        assert!(runs > 20, "{runs}");
    }
}
