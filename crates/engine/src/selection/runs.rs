//! The selection of a chunk, visited in runs that lie close together in the decoded chunk.
//!
//! Code that decodes or fetches a chunk by blocks needs to know which blocks a box or a point
//! touches, and to copy a run while its blocks are in cache.

use std::ops::Range;

use crate::error::CodecResult;
use crate::layout::chunk::{ChunkLayout, Elements};
use crate::memory::strides::{Dim, Dims, Grid, continues};
use crate::selection::chunk_selection::{ChunkSelection, CopyPlan};

/// Called with the bytes of the decoded chunk that hold a run, its axes, and where it begins in the
/// buffer.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(Range<usize>, &[Dim], isize) -> CodecResult<()>;

/// Called with the axes of a box, and where in chunk and buffer it begins.
pub(crate) type VisitBox<'a> = &'a mut dyn FnMut(&[Dim], (usize, isize));

/// Visits all of a selection, a box in the order of the memory of the chunk, in runs whose bytes
/// span about `block_bytes` or that cannot be divided.
pub(crate) fn walk(
    chunk: &ChunkLayout,
    elements: &Elements,
    selected: &ChunkSelection<'_>,
    (block_bytes, item): (usize, usize),
    visit: Visit<'_>,
) -> CodecResult<()> {
    match selected {
        ChunkSelection::Points { points, which } => which.iter().try_for_each(|point| {
            let at = points.chunk_offset(*point, &chunk.shape, &elements.strides);
            visit(at..at + item, &[], points.buffer_offset(*point))
        }),
        ChunkSelection::Box { parts, base, .. } => {
            let mut placed = CopyPlan::new(parts, *base, &elements.strides);
            placed.grid.dims.retain(|dim| dim.count > 1);
            placed.grid.dims.sort_by_key(|dim| std::cmp::Reverse(dim.src));
            let from = (placed.chunk_offset, placed.buffer_offset);
            Walk { block_bytes, item, visit }.lists(&placed.grid, 0, from)
        }
    }
}

struct Walk<'a> {
    block_bytes: usize,
    item: usize,
    visit: Visit<'a>,
}

impl Walk<'_> {
    /// Every combination of the lists from number `list` on, at an offset in chunk and buffer.
    fn lists(&mut self, grid: &Grid, list: usize, at: (usize, isize)) -> CodecResult<()> {
        let Some(offsets) = grid.lists.get(list) else {
            return self.axes(&grid.dims, at);
        };
        for (dst, src) in offsets.dst.iter().zip(&offsets.src) {
            self.lists(grid, list + 1, (at.0 + *src as usize, at.1 + dst))?;
        }
        Ok(())
    }

    fn axes(&mut self, dims: &[Dim], (offset, to): (usize, isize)) -> CodecResult<()> {
        let steps = dims.iter().map(|dim| (dim.count - 1) * dim.src as usize);
        let span = self.item + steps.sum::<usize>();
        if let [outer, inner @ ..] = dims
            && span > self.block_bytes
        {
            let step = outer.src as usize;
            let inner_span = span - (outer.count - 1) * step;
            // The first and the last byte of these steps are selected, and they span at most a
            // block: no other block lies between.
            let at_once =
                self.block_bytes.checked_sub(inner_span).map_or(1, |rest| rest / step + 1);
            for first in (0..outer.count).step_by(at_once) {
                let count = at_once.min(outer.count - first);
                let (offset, to) = (offset + first * step, to + first as isize * outer.dst);
                if count == 1 {
                    self.axes(inner, (offset, to))?;
                    continue;
                }
                let mut dims = Dims::from_slice(dims);
                dims[0].count = count;
                (self.visit)(offset..offset + inner_span + (count - 1) * step, &dims, to)?;
            }
            return Ok(());
        }
        (self.visit)(offset..offset + span, dims, to)
    }
}

/// Axes from the slowest to the fastest in the decoded chunk; contiguous ones are merged.
pub(crate) fn in_memory_order(mut dims: Dims) -> Dims {
    dims.retain(|dim| dim.count != 1);
    dims.sort_by_key(|dim| std::cmp::Reverse(dim.src));
    let mut merged = Dims::new();
    for dim in dims {
        match merged.last_mut() {
            Some(outer) if continues(outer, &dim) => {
                *outer = Dim { count: outer.count * dim.count, ..dim };
            }
            _ => merged.push(dim),
        }
    }
    merged
}

/// Visits the elements of a box that lie in `bytes` of the decoded chunk.
///
/// The box begins at an offset in chunk and buffer. Its axes are in memory order, and neither
/// elements nor axes overlap in that order.
pub(crate) fn clip(
    dims: &[Dim],
    item: usize,
    (offset, to): (usize, isize),
    bytes: &Range<usize>,
    visit: VisitBox<'_>,
) {
    let span = |dims: &[Dim]| {
        item + dims.iter().map(|dim| (dim.count - 1) * dim.src as usize).sum::<usize>()
    };
    if offset >= bytes.end || offset + span(dims) <= bytes.start {
        return;
    }
    if bytes.start <= offset && offset + span(dims) <= bytes.end {
        return visit(dims, (offset, to));
    }
    let [outer, inner @ ..] = dims else { return };
    let (step, inner_span) = (outer.src as usize, span(inner));
    let at = |i: usize| (offset + i * step, to + i as isize * outer.dst);
    // The range of steps that overlap the bytes, and within it the steps that lie completely
    // inside.
    let first = (bytes.start + 1).saturating_sub(offset + inner_span).div_ceil(step);
    let end = (bytes.end - offset).div_ceil(step).min(outer.count);
    if first >= end {
        return;
    }
    let whole = bytes.start.saturating_sub(offset).div_ceil(step).clamp(first, end);
    let whole_end = match (bytes.end - offset).checked_sub(inner_span) {
        Some(last) => (last / step + 1).clamp(whole, end),
        None => whole,
    };
    for i in (first..whole).chain(whole_end..end) {
        clip(inner, item, at(i), bytes, visit);
    }
    if whole < whole_end {
        let mut dims = Dims::from_slice(dims);
        dims[0].count = whole_end - whole;
        visit(&dims, at(whole));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(dims: &[Dim], at: (usize, isize), found: &mut Vec<(usize, isize)>) {
        match dims {
            [] => found.push(at),
            [outer, inner @ ..] => (0..outer.count).for_each(|i| {
                let next = (at.0 + i * outer.src as usize, at.1 + i as isize * outer.dst);
                elements(inner, next, found);
            }),
        }
    }

    #[test]
    fn a_walk_visits_each_element_once_in_runs_that_span_a_block() {
        let row = |count, step: isize| Dim { count, dst: 70 * step, src: 2 * step };
        let plane = |count, step: isize| Dim { count, dst: -3 * step, src: 20 * step };
        let whole = |count| Dim { count, dst: 1000, src: 100 };
        // What is selected, blocks, and the visits that they take.
        for (dims, block_bytes, most) in [
            (vec![row(10, 1)], 2, 10),
            (vec![row(10, 1)], 7, 4),
            (vec![row(1000, 1)], 512, 4),
            (vec![row(3, 3)], 4, 3),
            (vec![plane(5, 1), row(10, 1)], 20, 5),
            (vec![plane(5, 1), row(10, 1)], 45, 3),
            (vec![plane(5, 1), row(10, 1)], 19, 10),
            (vec![whole(3), plane(4, 1), row(7, 1)], 40, 6),
            (vec![whole(2)], 99, 2),
        ] {
            let (mut all, mut found, mut visits) = (Vec::new(), Vec::new(), 0);
            elements(&dims, (6, 1), &mut all);
            let mut visit = |bytes: Range<usize>, dims: &[Dim], to: isize| {
                let before = found.len();
                elements(dims, (bytes.start, to), &mut found);
                visits += 1;
                let last = found[before..].iter().map(|(at, _)| at + 2).max();
                assert_eq!(last, Some(bytes.end));
                assert!(bytes.len() <= block_bytes.max(2), "{bytes:?} in {block_bytes}");
                Ok(())
            };
            let done = Walk { block_bytes, item: 2, visit: &mut visit }.axes(&dims, (6, 1));
            assert!(done.is_ok());
            found.sort_unstable();
            all.sort_unstable();
            assert_eq!(found, all, "{dims:?} by {block_bytes}");
            assert!(visits <= most, "{visits} visits of {dims:?} by {block_bytes}");
        }
    }

    #[test]
    fn clipped_boxes_have_the_elements_of_their_bytes_each_once() {
        let item = 2;
        let row = |count, step: isize| Dim { count, dst: 70 * step, src: 2 * step };
        let plane = |count, step: isize| Dim { count, dst: -3 * step, src: 20 * step };
        let whole = |count| Dim { count, dst: 1000, src: 100 };
        for dims in [
            vec![],
            vec![row(10, 1)],
            vec![row(3, 3)],
            vec![plane(5, 1), row(10, 1)],
            vec![plane(2, 2), row(2, 4)],
            vec![whole(3), plane(4, 1), row(7, 1)],
            vec![whole(2), row(1, 1)],
        ] {
            let mut all = Vec::new();
            elements(&dims, (6, 1), &mut all);
            for begin in (0..330).step_by(2) {
                for bytes in [2usize, 4, 14, 34, 110, 400].map(|length| begin..begin + length) {
                    let mut found = Vec::new();
                    clip(&dims, item, (6, 1), &bytes, &mut |dims, at| {
                        elements(dims, at, &mut found);
                    });
                    found.sort_unstable();
                    let mut expected = all.clone();
                    expected.retain(|(offset, _)| bytes.contains(offset));
                    expected.sort_unstable();
                    assert_eq!(found, expected, "{dims:?} in {bytes:?}");
                }
            }
        }
    }
}
