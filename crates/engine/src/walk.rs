//! What is wanted of a chunk, visited in parts that lie close together in the decoded chunk.
//!
//! Whoever decodes or fetches a chunk in blocks wants to know which of them a box or a point
//! needs, and to copy a part out while its blocks are in cache.

use std::ops::Range;

use crate::copy::{Dim, Grid};
use crate::encoding::{ChunkLayout, Elements};
use crate::place::CodecResult;
use crate::wanted::{Placed, Wanted};

/// Called with the bytes of the decoded chunk that hold a part, its axes, and where in the buffer
/// it begins.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(Range<usize>, &[Dim], isize) -> CodecResult<()>;

/// Visits all of `wanted`, a box in the order of the chunk's memory, in parts whose bytes span
/// about `block_bytes` or that cannot be divided.
pub(crate) fn walk(
    chunk: &ChunkLayout,
    elements: &Elements,
    wanted: &Wanted<'_>,
    (block_bytes, item): (usize, usize),
    visit: Visit<'_>,
) -> CodecResult<()> {
    match wanted {
        Wanted::Points { points, which } => which.iter().try_for_each(|point| {
            let at = points.chunk_offset(*point, &chunk.shape, &elements.strides);
            visit(at..at + item, &[], points.buffer_offset(*point))
        }),
        Wanted::Box { parts, base } => {
            let mut placed = Placed::new(parts, *base, &elements.strides);
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
            for i in 0..outer.count {
                self.axes(inner, (offset + i * outer.src as usize, to + i as isize * outer.dst))?;
            }
            return Ok(());
        }
        (self.visit)(offset..offset + span, dims, to)
    }
}
