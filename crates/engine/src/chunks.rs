//! One chunk of a task: its key, and boxes between its memory and the caller's.

use std::fmt::Write;

use crate::copy::{Dim, Dims};
use crate::layout::Layout;
use crate::selection::Segment;

/// Replaces `key` by the key of the chunk that `segments` lie in, below `prefix`.
pub(crate) fn write_key(
    key: &mut String,
    prefix: &str,
    layout: &Layout,
    coords: impl Iterator<Item = u64>,
) {
    key.clear();
    key.push_str(prefix);
    key.push_str(layout.key_prefix);
    let mut first = layout.key_prefix.is_empty();
    let mut any = false;
    for coord in coords {
        if !first {
            key.push(layout.separator);
        }
        first = false;
        any = true;
        push_number(key, coord);
    }
    if !any && layout.key_prefix.is_empty() {
        key.push('0');
    }
}

fn push_number(key: &mut String, number: u64) {
    if number < 10 {
        key.push((b'0' + number as u8) as char);
    } else {
        // Writing to a String cannot fail.
        let _ = write!(key, "{number}");
    }
}

/// The chunk coordinates in `key`, if it is the key of a chunk of this grid.
pub(crate) fn parse_key(key: &str, layout: &Layout) -> Option<Vec<u64>> {
    let axes = layout.shape.len();
    let rest = key.strip_prefix(layout.key_prefix)?;
    if axes == 0 {
        let whole = if layout.key_prefix.is_empty() { "0" } else { "" };
        return (rest == whole).then(Vec::new);
    }
    let rest =
        if layout.key_prefix.is_empty() { rest } else { rest.strip_prefix(layout.separator)? };
    let coords: Option<Vec<u64>> = rest
        .split(layout.separator)
        .map(|part| {
            let canonical = part.bytes().all(|byte| byte.is_ascii_digit())
                && (part.len() == 1 || !part.starts_with('0'));
            if canonical { part.parse().ok() } else { None }
        })
        .collect();
    coords.filter(|coords| coords.len() == axes)
}

/// The part of a chunk that a task is about, as seen from the chunk's memory.
#[derive(Debug)]
pub(crate) struct Region {
    /// Per axis: elements, bytes between them in the buffer (`dst`) and in the chunk (`src`).
    pub dims: Dims,
    /// Bytes from the chunk's start to the first element.
    pub chunk_offset: usize,
    /// Bytes from the buffer's base to the first element.
    pub buffer_offset: isize,
    /// Every element of the chunk is in the region, in order.
    pub whole_chunk: bool,
    /// Every element of the chunk that lies inside the array is in the region.
    pub whole_in_bounds: bool,
}

impl Region {
    pub fn new(layout: &Layout, segments: &[Segment]) -> Self {
        let mut region = Self {
            dims: Dims::with_capacity(segments.len()),
            chunk_offset: 0,
            buffer_offset: 0,
            whole_chunk: true,
            whole_in_bounds: true,
        };
        for (axis, segment) in segments.iter().enumerate() {
            let chunk = layout.chunk_shape[axis];
            let stride = layout.chunk_strides[axis];
            region.dims.push(Dim {
                count: segment.count,
                dst: segment.buffer_stride,
                src: stride * segment.step as isize,
            });
            region.chunk_offset += segment.first * stride as usize;
            region.buffer_offset += segment.buffer_offset;
            let left = layout.shape[axis] - segment.chunk * chunk as u64;
            let in_bounds = left.min(chunk as u64) as usize;
            region.whole_chunk &= segment.count == chunk;
            region.whole_in_bounds &= segment.count == in_bounds;
        }
        region
    }

    /// Whether the region's elements lie in the buffer exactly as a decoded chunk lies in memory.
    pub fn is_contiguous_chunk(&self) -> bool {
        self.whole_chunk && self.dims.iter().all(|dim| dim.count == 1 || dim.dst == dim.src)
    }

    /// The region's box with the chunk as destination.
    pub fn into_chunk(self) -> Dims {
        self.dims
            .into_iter()
            .map(|dim| Dim { count: dim.count, dst: dim.src, src: dim.dst })
            .collect()
    }
}
