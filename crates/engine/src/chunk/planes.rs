//! The selected elements of a byte-shuffled Blosc frame, without unshuffling its other elements.
//!
//! A time series at one point selects one element of each chunk, and a crop selects a part of each
//! row. A block has to be decompressed completely for them, but not unshuffled: elements are put
//! together from the planes that the decompressor leaves.

use std::ops::Range;

use zarrix_codec::ChainScratch;
use zarrix_codec::blosc::{Frame, Planes};
use zarrix_codec::memory::zeros;

use crate::chunk::chunk_read::ChunkRead;
use crate::error::CodecResult;
use crate::layout::chunk::Elements;
use crate::memory::strides::Dim;
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::plan::Part;
use crate::selection::runs::walk;

/// If one of so many elements is selected, or fewer, taking them one by one from the planes is
/// faster than unshuffling all.
const FEW: usize = 64;
/// Shorter runs are not unshuffled faster than complete blocks.
const MIN_RUN_BYTES: usize = 2 << 10;
/// For shorter blocks, what is remembered of each would be longer than the block.
const MIN_BLOCK_BYTES: usize = 1 << 10;
/// Bytes that are unshuffled at once before they are copied to the buffer.
const PIECE_BYTES: usize = 8 << 10;

/// Whether [`decode_selected`] is the faster way to read a selection.
pub(crate) fn is_partial(frame: &Frame<'_>, read: &ChunkRead<'_, '_>, elements: &Elements) -> bool {
    let (selected, item) = (read.selected, read.item_bytes());
    let count = || selected.iter().map(ChunkSelection::count).fold(0, usize::saturating_add);
    let all = read.chunk.bytes / item;
    frame.has_planes()
        && frame.block_bytes() >= MIN_BLOCK_BYTES
        && frame.block_bytes().is_multiple_of(item)
        && item <= PIECE_BYTES
        && (count() <= all / FEW
            || count() <= all / 4 * 3
                && selected.iter().all(|one| has_long_runs(one, elements, item)))
}

fn has_long_runs(selected: &ChunkSelection<'_>, elements: &Elements, item: usize) -> bool {
    let ChunkSelection::Box { parts, .. } = selected else { return false };
    parts.iter().zip(&elements.strides).any(|(part, stride)| {
        *stride == item as isize
            && matches!(part, Part::Strided { step: 1, count, .. } if count * item >= MIN_RUN_BYTES)
    })
}

/// Copies the selection of a frame to the buffer.
///
/// With `extents`, only the extents of the selected blocks must be present, and nothing outside of
/// them is read. `memory` is as long as the decoded chunk.
pub(crate) fn decode_selected(
    frame: &Frame<'_>,
    extents: Option<&[Range<usize>]>,
    read: &ChunkRead<'_, '_>,
    elements: &Elements,
    (memory, chain): (&mut [u8], &mut ChainScratch),
) -> CodecResult<()> {
    let ChunkRead { chunk, selected, buffer } = *read;
    let (block, item) = (frame.block_bytes(), read.item_bytes());
    let in_order = matches!(selected, [ChunkSelection::Box { parts, .. }]
        if parts.iter().all(|part| matches!(part, Part::Strided { .. })));
    let decoded = zeros(frame.n_blocks())?;
    let mut blocks = Blocks { frame, extents, in_order, decoded, last: 0, memory, chain };
    let mut piece = [0; PIECE_BYTES];
    for selected in selected {
        walk(chunk, elements, selected, (block, item), &mut |bytes, dims, to| {
            let (outer, run) = match dims {
                [outer @ .., run] if run.src == item as isize => (outer, *run),
                _ => (dims, Dim { count: 1, dst: 0, src: 0 }),
            };
            each(outer, (bytes.start, to), &mut |from, to| {
                let plain = buffer.plain(selected, to).filter(|_| run.dst == item as isize);
                let most = if plain.is_some() { block } else { PIECE_BYTES } / item;
                let mut done = 0;
                while done < run.count {
                    let from = from + done * item;
                    let left = (block - from % block) / item;
                    let count = (run.count - done).min(most).min(left);
                    let bytes = count * item;
                    if let Some(to) = plain {
                        // SAFETY: elements of the buffer, one after the other, whose maker vouches
                        // for them; no other task of this call touches them.
                        let to =
                            unsafe { std::slice::from_raw_parts_mut(to.add(done * item), bytes) };
                        blocks.copy(from, to)?;
                    } else {
                        blocks.copy(from, &mut piece[..bytes])?;
                        let dims = [Dim { count, ..run }];
                        let dims = if count == 1 { &[][..] } else { &dims };
                        let to = to + done as isize * run.dst;
                        // SAFETY: the piece has these elements; the maker of the buffer vouches for
                        // the other side.
                        unsafe { buffer.copy(selected, to, piece.as_ptr(), dims) };
                    }
                    done += count;
                }
                Ok(())
            })
        })?;
    }
    Ok(())
}

/// The blocks of a frame, each decompressed when it is needed.
struct Blocks<'f, 'm> {
    frame: &'m Frame<'f>,
    extents: Option<&'m [Range<usize>]>,
    /// Whether one block is needed after the other, so that all of them are decompressed to the
    /// same memory, which stays in cache.
    in_order: bool,
    decoded: Vec<Option<Planes<'f>>>,
    /// The block that was decompressed last.
    last: usize,
    memory: &'m mut [u8],
    chain: &'m mut ChainScratch,
}

impl Blocks<'_, '_> {
    /// Copies the bytes of the chunk from `from` on to `to`; all of them are of one block.
    fn copy(&mut self, from: usize, to: &mut [u8]) -> CodecResult<()> {
        let block = self.frame.block_bytes();
        let (index, at) = (from / block, from % block);
        let begin = index * block;
        let room = if self.in_order { 0 } else { begin };
        let room = &mut self.memory[room..room + block.min(self.frame.decoded_bytes() - begin)];
        if self.decoded[index].is_none() {
            if self.in_order {
                self.decoded[self.last] = None;
                self.last = index;
            }
            let frame = self.extents.map_or(*self.frame, |all| self.frame.cut_at(all[index].end));
            self.decoded[index] = Some(frame.decode_planes(index, room, &mut self.chain.codec)?);
        }
        if let Some(planes) = &self.decoded[index] {
            planes.copy(room, at, to);
        }
        Ok(())
    }
}

/// Visits where each element of a box lies in chunk and buffer.
fn each(
    dims: &[Dim],
    (from, to): (usize, isize),
    visit: &mut dyn FnMut(usize, isize) -> CodecResult<()>,
) -> CodecResult<()> {
    let [outer, inner @ ..] = dims else { return visit(from, to) };
    (0..outer.count).try_for_each(|i| {
        each(inner, (from + i * outer.src as usize, to + i as isize * outer.dst), visit)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::chunk::buffer::ReadBuffer;
    use crate::layout::axes::PerAxis;
    use crate::layout::chunk::{ChunkLayout, Encoding};
    use crate::layout::document::Layout;
    use crate::memory::copy;
    use crate::selection::chunk_selection::{CopyPlan, Points};

    const ROWS: usize = 150;
    const COLUMNS: usize = 1000;

    fn layout(cname: &str, item: usize, order: &str) -> Layout {
        let transpose = r#"{"name": "transpose", "configuration": {"order": [1, 0]}},"#;
        let transpose = if order == "F" { transpose } else { "" };
        let document = format!(
            r#"{{"shape": [{ROWS}, {COLUMNS}], "chunk_grid": [{ROWS}, {COLUMNS}],
                "item_bytes": {item}, "fill_value": null, "metadata_key": "zarr.json",
                "chunk_key_encoding": {{"name": "v2"}}, "write_empty_chunks": false,
                "codecs": [{transpose} {{"name": "bytes"}}, {{"name": "blosc", "configuration":
                    {{"cname": "{cname}", "clevel": 5, "shuffle": "shuffle", "typesize": {item},
                      "blocksize": 8192}}}}]}}"#
        );
        Layout::parse(&document, &[], None).unwrap()
    }

    /// Elements some of whose bytes are noise, which Blosc stores as they are.
    fn elements(item: usize) -> Vec<u8> {
        let mut noise = 7u32;
        let byte = |at: usize| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if at.is_multiple_of(item) { (noise >> 24) as u8 } else { (at / 3000) as u8 }
        };
        (0..ROWS * COLUMNS * item).map(byte).collect()
    }

    #[test]
    fn selected_elements_are_those_of_the_decoded_chunk() {
        let range = |first, step, count, stride: usize, item| Part::Strided {
            first,
            step,
            count,
            offset: 0,
            stride: (stride * item) as isize,
        };
        for (cname, item, order) in
            [("lz4", 4, "C"), ("zstd", 4, "C"), ("lz4", 8, "F"), ("blosclz", 3, "C")]
        {
            let layout = layout(cname, item, order);
            let chunk = layout.only_chunk().unwrap();
            let Encoding::Elements(elements_of) = &chunk.encoding else { return };
            let mut chain = ChainScratch::default();
            let decoded = elements(item);
            let mut encoded = Vec::new();
            elements_of.chain.encode_into(&decoded, &mut encoded, &mut chain).unwrap();
            let frame = Frame::parse(&encoded, decoded.len()).unwrap();
            assert!(frame.n_blocks() > 3);
            // Along the axis that is contiguous in the chunk, and along the other one.
            let (long, short) = (range(1, 1, 990, 1, item), range(3, 1, 70, 990, item));
            let one = range(77, 1, 1, 1, item);
            let back = |count: usize| Part::Listed {
                positions: (0..count).rev().map(|i| 2 * i).collect(),
                offsets: (0..count).map(|i| (i * item) as isize).collect(),
            };
            let spread = range(0, 40, 4, 990, item);
            let few = range(5, 100, 9, 1, item);
            let listed = back(40);
            let boxes: [([&Part; 2], bool); 6] = [
                ([&short, &long], order == "C"),
                ([&spread, &few], true),
                ([&one, &one], true),
                ([&spread, &listed], true),
                ([&short, &range(0, 2, 400, 1, item)], false),
                ([&range(0, 1, 140, 990, item), &long], false),
            ];
            for (parts, is_wanted) in &boxes {
                let parts: PerAxis<&Part> = parts.iter().copied().collect();
                let selected = [ChunkSelection::Box { parts, base: 0, out: 0 }];
                compare(&layout, &frame, &decoded, &selected, *is_wanted);
            }
            let mut place = 1u64;
            let mut next = |limit: usize| {
                place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                (place >> 33) % limit as u64
            };
            let (rows, columns): (Vec<u64>, Vec<u64>) =
                (0..300).map(|_| (next(ROWS), next(COLUMNS))).unzip();
            let which: Vec<usize> = (0..300).collect();
            let (coords, strides) = ([rows.as_slice(), &columns], [item as isize]);
            let points = Points { coords: &coords, shape: &[300], strides: &strides };
            let selected = [ChunkSelection::Points { points: &points, which: &which }];
            compare(&layout, &frame, &decoded, &selected, true);
        }
    }

    fn compare(
        layout: &Layout,
        frame: &Frame<'_>,
        decoded: &[u8],
        selected: &[ChunkSelection<'_>],
        is_wanted: bool,
    ) {
        let (chunk, item) = (layout.only_chunk().unwrap(), layout.item_bytes);
        let Encoding::Elements(elements) = &chunk.encoding else { return };
        let (mut got, mut expected) = (vec![0; decoded.len()], vec![0; decoded.len()]);
        by_definition(decoded, chunk, elements, selected, &mut expected, item);
        let extents = frame.extents().unwrap();
        for extents in [None, Some(extents.as_slice())] {
            got.fill(0);
            let buffer = &ReadBuffer::over(&mut got, layout);
            let read = &ChunkRead { chunk, selected, buffer };
            assert_eq!(is_partial(frame, read, elements), is_wanted, "{selected:?}");
            let mut memory = vec![0xA5; decoded.len()];
            let scratch = (memory.as_mut_slice(), &mut ChainScratch::default());
            decode_selected(frame, extents, read, elements, scratch).unwrap();
            assert!(got == expected, "{selected:?}");
        }
    }
    /// Copies the selection out of a decoded chunk.
    fn by_definition(
        decoded: &[u8],
        chunk: &ChunkLayout,
        elements: &Elements,
        selected: &[ChunkSelection<'_>],
        expected: &mut [u8],
        item: usize,
    ) {
        for selected in selected {
            match selected {
                ChunkSelection::Box { parts, base, .. } => {
                    let placed = CopyPlan::new(parts, *base, &elements.strides);
                    let to = expected[placed.buffer_offset as usize..].as_mut_ptr();
                    let from = decoded[placed.chunk_offset..].as_ptr();
                    // SAFETY: the box lies in both vectors, which are as long as the chunk.
                    unsafe { copy::copy_grid(to, from, placed.grid, item) };
                }
                ChunkSelection::Points { points, which } => {
                    for point in *which {
                        let at = points.chunk_offset(*point, &chunk.shape, &elements.strides);
                        let to = points.buffer_offset(*point) as usize;
                        expected[to..to + item].copy_from_slice(&decoded[at..at + item]);
                    }
                }
            }
        }
    }
}
