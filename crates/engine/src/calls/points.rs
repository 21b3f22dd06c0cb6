//! Points: many elements of one array in one call.
//!
//! They are sorted by chunk first, so that every chunk is fetched and decoded once, and no
//! allocation has the size of the grid.

use smallvec::smallvec;
use zarrix_store::Durability;

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Source, Target, check_shape};
use crate::error::{EngineError, Result};
use crate::layout::axes::PerAxis;
use crate::layout::grid::{AxisGrid, Cuts};
use crate::read::chunk_job::ChunkJob;
use crate::selection::chunk_selection::{ChunkSelection, Points};
use crate::threads::cancel::Interrupt;
use crate::threads::scratch;
use zarrix_codec::memory::{self, with_room, zeros};

/// Points by chunk: their numbers, sorted by chunk, and where each chunk's run begins.
struct ByChunk {
    order: Vec<usize>,
    runs: Vec<(u64, usize, usize)>,
    /// Along axes with several chunk lengths, the position of each point in its chunk.
    inside: PerAxis<Option<Vec<u64>>>,
}

impl ByChunk {
    /// Coordinates that are correct modulo the length of the chunk of a point.
    fn coords<'a>(&'a self, given: &[&'a [u64]]) -> PerAxis<&'a [u64]> {
        let axes = self.inside.iter().zip(given);
        axes.map(|(inside, given)| inside.as_deref().unwrap_or(given)).collect()
    }

    /// The runs of points of one chunk, in sorted pairs of chunk and point.
    fn of(
        sorted: impl ExactSizeIterator<Item = (u64, usize)>,
        inside: PerAxis<Option<Vec<u64>>>,
    ) -> Result<Self> {
        let mut order = with_room(sorted.len())?;
        let mut runs: Vec<(u64, usize, usize)> = Vec::new();
        for (at, (chunk, point)) in sorted.enumerate() {
            order.push(point);
            match runs.last_mut() {
                Some((last, _, end)) if *last == chunk => *end = at + 1,
                _ => memory::push(&mut runs, (chunk, at, at + 1))?,
            }
        }
        Ok(Self { order, runs, inside })
    }
}

fn sort<T: Ord>(values: &mut [T]) {
    if !values.is_sorted() {
        values.sort_unstable();
    }
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
        let grouped = self.by_chunk(coords, count)?;
        let coords = &grouped.coords(coords);
        let points = Points { coords, shape: target.shape(), strides: target.strides() };
        self.read_jobs(grouped.runs.len(), target, interrupt, &|run| {
            let (id, begin, end) = grouped.runs[run];
            let which = &grouped.order[begin..end];
            ChunkJob {
                coords: self.coords_of(id),
                selected: smallvec![ChunkSelection::Points { points: &points, which }],
            }
        })
    }

    /// Stores one element of `source` per point; if two points are one element, the last one wins.
    pub fn write_points(
        &self,
        coords: &[&[u64]],
        source: Source<'_>,
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let count = self.check_points(coords, source.shape())?;
        self.check_before_writing()?;
        let grouped = self.by_chunk(coords, count)?;
        let coords = &grouped.coords(coords);
        let points = Points { coords, shape: source.shape(), strides: source.strides() };
        self.run(grouped.runs.len(), interrupt, &|run| {
            let (id, begin, end) = grouped.runs[run];
            let selected =
                [ChunkSelection::Points { points: &points, which: &grouped.order[begin..end] }];
            scratch::with(|s| self.write_job(&self.coords_of(id), &selected, source, durability, s))
        })
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
                    "axis {axis}: index {index} is out of bounds for the length {length}"
                )));
            }
        }
        Ok(count)
    }

    /// Number of chunks along each axis; their product must fit into 64 bits.
    pub(crate) fn grid(&self) -> Result<PerAxis<u64>> {
        let axes = self.layout.shape.iter().zip(&self.layout.grid);
        let grid: PerAxis<u64> = axes.map(|(size, axis)| axis.count(*size)).collect();
        grid.iter()
            .try_fold(1u64, |count, length| count.checked_mul(*length))
            .map(|_| grid)
            .ok_or_else(|| EngineError::Selection("the array has more than 2^64 chunks".into()))
    }

    pub(crate) fn coords_of(&self, mut id: u64) -> PerAxis<u64> {
        let axes = self.layout.shape.iter().zip(&self.layout.grid);
        let mut coords: PerAxis<u64> = axes
            .rev()
            .map(|(size, axis)| {
                let length = axis.count(*size);
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
        let mut ids = zeros::<u64>(count)?;
        let mut inside = PerAxis::new();
        for ((list, length), axis) in coords.iter().zip(&grid).zip(&self.layout.grid) {
            let runs = match axis {
                AxisGrid::Even(chunk) => {
                    for (id, index) in ids.iter_mut().zip(*list) {
                        *id = *id * length + index / chunk;
                    }
                    inside.push(None);
                    continue;
                }
                AxisGrid::Runs(runs) => runs,
            };
            let mut positions = with_room(count)?;
            for (id, index) in ids.iter_mut().zip(*list) {
                let extent = runs.find(*index);
                *id = *id * length + extent.chunk;
                positions.push(index - extent.begin);
            }
            inside.push(Some(positions));
        }
        // The number of the point as second key preserves the caller's order within a chunk. In
        // most arrays, both fit into one word, which sorts twice as fast as two.
        let bits = usize::BITS - count.leading_zeros();
        let largest = grid.iter().product::<u64>();
        if largest.leading_zeros() >= bits {
            let mut packed: Vec<u64> = with_room(count)?;
            packed.extend((0..).zip(&ids).map(|(point, id): (u64, _)| id << bits | point));
            sort(&mut packed);
            let pairs = packed.iter().map(|one| (one >> bits, (one & !(!0 << bits)) as usize));
            ByChunk::of(pairs, inside)
        } else {
            let mut pairs: Vec<(u64, usize)> = with_room(count)?;
            pairs.extend(ids.into_iter().zip(0..));
            sort(&mut pairs);
            ByChunk::of(pairs.into_iter(), inside)
        }
    }
}
