//! The selection of a chunk, element by element.

use crate::layout::axes::PerAxis;
use crate::layout::chunk::ChunkLayout;
use crate::memory::strides::Grid;
use crate::selection::chunk_selection::{ChunkSelection, CopyPlan, covered};

/// The selection of one chunk, element by element.
#[derive(Debug)]
pub struct Picks<'a, 'w> {
    shape: &'a [usize],
    strides: PerAxis<isize>,
    selected: &'a [ChunkSelection<'w>],
}

impl<'a, 'w> Picks<'a, 'w> {
    /// `strides` are in elements; if they are empty, all elements count as the first one.
    pub(crate) fn new(
        chunk: &'a ChunkLayout,
        selected: &'a [ChunkSelection<'w>],
        strides: &[isize],
    ) -> Self {
        let mut strides = PerAxis::from_slice(strides);
        strides.resize(chunk.shape.len(), 0);
        Self { shape: &chunk.shape, strides, selected }
    }

    /// How many elements the chunk has.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether every element of the chunk is picked.
    pub fn is_whole(&self) -> bool {
        covered(self.selected, self.shape)
    }

    /// Calls `visit` with the number of each element in the chunk, in stored order, and its position
    /// in the caller's memory: its offset by the strides of the target or source.
    ///
    /// If two elements have one position, or one element two, the last call is the one that counts.
    pub fn each(&self, mut visit: impl FnMut(usize, isize)) {
        for selected in self.selected {
            match selected {
                ChunkSelection::Box { parts, base, .. } => {
                    let placed = CopyPlan::new(parts, *base, &self.strides);
                    let (element, place) = (placed.chunk_offset as isize, placed.buffer_offset);
                    walk(&placed.grid, 0, element, place, &mut visit);
                }
                ChunkSelection::Points { points, which } => {
                    for point in *which {
                        let element = points.chunk_offset(*point, self.shape, &self.strides);
                        visit(element, points.buffer_offset(*point));
                    }
                }
            }
        }
    }
}

/// Visits a grid from its `level` on: first its lists, then its axes.
fn walk(
    grid: &Grid,
    level: usize,
    element: isize,
    place: isize,
    visit: &mut impl FnMut(usize, isize),
) {
    let lists = grid.lists.len();
    if let Some(list) = grid.lists.get(level) {
        for (dst, src) in list.dst.iter().zip(&list.src) {
            walk(grid, level + 1, element + src, place + dst, visit);
        }
        return;
    }
    match grid.dims.get(level - lists) {
        None => visit(element as usize, place),
        Some(dim) if level + 1 == lists + grid.dims.len() => {
            for i in 0..dim.count as isize {
                visit((element + i * dim.src) as usize, place + i * dim.dst);
            }
        }
        Some(dim) => {
            for i in 0..dim.count as isize {
                walk(grid, level + 1, element + i * dim.src, place + i * dim.dst, visit);
            }
        }
    }
}
