//! The elements of a chunk, copied out of the caller's buffer range by range.

use std::ops::Range;

use zarrix_store::trace::{self, Doing};

use crate::chunk::buffer::Source;
use crate::error::CodecResult;
use crate::layout::chunk::{ChunkLayout, Elements};
use crate::memory::copy;
use crate::memory::strides::Dim;
use crate::selection::chunk_selection::{ChunkSelection, CopyPlan};
use crate::selection::runs::{clip, in_memory_order};
use crate::threads::scratch::Scratch;

/// The box of a chunk that is written, whose elements lie anywhere in the caller's buffer.
pub(crate) struct Gathered<'a> {
    /// The complete chunk, if its elements lie in the buffer as in the chunk.
    straight: Option<&'a [u8]>,
    placed: CopyPlan,
    source: Source<'a>,
    item: usize,
}

impl<'a> Gathered<'a> {
    /// `selected` has no lists; points are not gathered.
    pub fn new(
        chunk: &ChunkLayout,
        elements: &Elements,
        selected: &ChunkSelection<'_>,
        source: Source<'a>,
        item: usize,
    ) -> Self {
        let mut placed = match selected {
            ChunkSelection::Box { parts, base, .. } => {
                CopyPlan::new(parts, *base, &elements.strides)
            }
            ChunkSelection::Points { .. } => CopyPlan::new(&[], 0, &[]),
        };
        let from = source.base().wrapping_offset(placed.buffer_offset);
        let is_straight = selected.covers(&chunk.shape) && placed.is_contiguous();
        // SAFETY: the box is the whole chunk and its elements lie in the buffer one after the
        // other: as many contiguous readable bytes, for as long as the call lasts. Other threads
        // may change them meanwhile: the encoder of a block reads each byte once.
        let straight =
            is_straight.then(|| unsafe { std::slice::from_raw_parts(from, chunk.bytes) });
        placed.grid.dims = in_memory_order(placed.grid.dims);
        Self { straight, placed, source, item }
    }

    /// A range of bytes of the decoded chunk, complete elements of the box: in the buffer, or
    /// copied to `memory`.
    pub fn bytes<'b>(&self, range: Range<usize>, memory: &'b mut Vec<u8>) -> CodecResult<&'b [u8]>
    where
        'a: 'b,
    {
        if let Some(all) = self.straight {
            return Ok(&all[range]);
        }
        let memory = Scratch::chunk_of(memory, range.len())?;
        let _span = trace::span(Doing::Copy, "", "");
        self.copy(range, memory);
        Ok(memory)
    }

    /// Copies the elements of the box that lie in a range of bytes of the decoded chunk to `to`,
    /// which is that range.
    pub fn copy(&self, range: Range<usize>, to: &mut [u8]) {
        assert_eq!(range.len(), to.len());
        let CopyPlan { grid, chunk_offset, buffer_offset } = &self.placed;
        clip(&grid.dims, self.item, (*chunk_offset, *buffer_offset), &range, &mut |dims, at| {
            let to = to[at.0 - range.start..].as_mut_ptr();
            let from = self.source.base().wrapping_offset(at.1);
            let back = |dim: &Dim| Dim { count: dim.count, dst: dim.src, src: dim.dst };
            // SAFETY: the clipped box lies in the range, for which `to` has room; the plan reaches
            // only elements of the buffer, whose maker vouches for them.
            unsafe { copy::copy(to, from, dims.iter().map(back).collect(), self.item) }
        });
    }
}
