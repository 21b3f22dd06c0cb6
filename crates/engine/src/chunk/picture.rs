//! The parts of a picture that a selection touches, decoded alone.
//!
//! A codec of pictures decodes whole rows, or a part of each, for less than all of them. The axes
//! of an array are axes of the picture: each either steps over rows, or lies in one.

use std::ops::Range;

use zarrix_codec::{ChainScratch, Picture};

use crate::chunk::chunk_read::ChunkRead;
use crate::error::CodecResult;
use crate::layout::chunk::Elements;
use crate::selection::chunk_selection::ChunkSelection;

/// Rows that a part costs beside its own: those around it, and the header.
const ROWS_AROUND: usize = 32;

/// Rows of a picture, and the bytes of each.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PictureBox {
    rows: Range<usize>,
    bytes: Range<usize>,
}

impl PictureBox {
    fn joined(self, other: &Self) -> Self {
        let join = |a: &Range<usize>, b: &Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        Self { rows: join(&self.rows, &other.rows), bytes: join(&self.bytes, &other.bytes) }
    }

    fn cost(&self) -> usize {
        self.rows.len() + ROWS_AROUND
    }

    /// The box around elements of `item` bytes at `lowest` and `highest` along each axis.
    fn around(
        extents: impl Iterator<Item = (usize, usize)>,
        strides: &[isize],
        (row, item): (usize, usize),
    ) -> Self {
        let mut found = Self { rows: 0..1, bytes: 0..item };
        for ((lowest, highest), stride) in extents.zip(strides) {
            let stride = stride.unsigned_abs();
            let (into, unit) = match stride >= row {
                true => (&mut found.rows, stride / row),
                false => (&mut found.bytes, stride),
            };
            into.start += lowest * unit;
            into.end += highest * unit;
        }
        found
    }
}

/// The box that a selection touches; `None` if it is empty.
fn touched(
    selected: &ChunkSelection<'_>,
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    row: usize,
) -> Option<PictureBox> {
    let strides = &elements.strides;
    let sizes = (row, read.item_bytes());
    match selected {
        ChunkSelection::Box { parts, .. } => {
            let extents: Option<Vec<_>> = parts.iter().map(|part| part.extent()).collect();
            Some(PictureBox::around(extents?.into_iter(), strides, sizes))
        }
        ChunkSelection::Points { points, which } => {
            let boxes = which.iter().map(|point| {
                let at = points.chunk_offset(*point, &read.chunk.shape, strides);
                let byte = at % row;
                PictureBox { rows: at / row..at / row + 1, bytes: byte..byte + sizes.1 }
            });
            boxes.reduce(|all, one| all.joined(&one))
        }
    }
}

/// Decodes to `memory`, which is as long as the decoded chunk, all that the selections touch.
pub(crate) fn decode_touched(
    picture: &dyn Picture,
    stream: &[u8],
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    (memory, chain): (&mut [u8], &mut ChainScratch),
) -> CodecResult<()> {
    let row = picture.row_bytes();
    let boxes = || read.selected.iter().filter_map(|one| touched(one, read, elements, row));
    let Some(union) = boxes().reduce(|all, one| all.joined(&one)) else { return Ok(()) };
    let mut decode = |part: PictureBox| {
        picture.decode_part(stream, part.rows, part.bytes, memory, &mut chain.codec)
    };
    if boxes().map(|one| one.cost()).sum::<usize>() < union.cost() {
        return boxes().try_for_each(decode);
    }
    decode(union)
}
