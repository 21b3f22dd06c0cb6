//! Chunks whose elements have no size of their own: strings, bytes, arrays, objects.
//!
//! What the codecs of such a chunk give is a blob, a run of bytes of a length that nothing declares,
//! and only the caller knows the elements in it. The engine does for them all that it does for
//! others: which chunks are touched, which of their elements, where each lies in the caller's
//! memory; shards, locks, the pool. It leaves two things to the caller: to take elements out of a
//! blob, and to make a new blob of an old one. The option that lost handed whole blobs to the
//! caller; every kind of selection would then exist twice, and a crop hold all that it touches.

use std::fmt;
use std::sync::Arc;

use zarrix_codec::{ChainScratch, Codec, CodecError};

use crate::axes::PerAxis;
use crate::bounds::with_slack;
use crate::copy::Grid;
use crate::encoding::ChunkLayout;
use crate::error::CodecResult;
use crate::place::{PlaceScratch, Sink};
use crate::scratch::Scratch;
use crate::update::Edit;
use crate::wanted::{Placed, Wanted, covered};

/// Takes elements out of blobs, into memory that it knows. Called from any thread of the pool.
pub trait ObjectSink: Sync + fmt::Debug {
    /// Puts the picked elements of `chunk`, or the fill value where that is not stored.
    ///
    /// # Errors
    /// [`CodecError::Corrupt`] or [`CodecError::Foreign`] if the blob is not what it should be.
    fn place(&self, chunk: Option<&[u8]>, picks: &Picks<'_, '_>) -> CodecResult<()>;
}

/// Makes new blobs. Called from any thread of the pool.
pub trait ObjectSource: Sync + fmt::Debug {
    /// Replaces `out` by the blob of a chunk with the picked elements from the source; the others
    /// are those of `old`, or the fill value where that is not given.
    ///
    /// False if all elements are the fill value, and such a chunk is not to be kept.
    ///
    /// # Errors
    /// [`CodecError::Corrupt`] or [`CodecError::Foreign`] if it is the old blob that is wrong, and
    /// [`CodecError::Encode`] if an element cannot be stored.
    fn update(
        &self,
        old: Option<&[u8]>,
        picks: &Picks<'_, '_>,
        keep_empty: bool,
        out: &mut Vec<u8>,
    ) -> CodecResult<bool>;
}

/// What is wanted of one chunk, element by element.
#[derive(Debug)]
pub struct Picks<'a, 'w> {
    shape: &'a [usize],
    strides: PerAxis<isize>,
    wanted: &'a [Wanted<'w>],
}

impl<'a, 'w> Picks<'a, 'w> {
    /// `strides` are in elements; without any, no element is told from another.
    pub(crate) fn new(chunk: &'a ChunkLayout, wanted: &'a [Wanted<'w>], strides: &[isize]) -> Self {
        let mut strides = PerAxis::from_slice(strides);
        strides.resize(chunk.shape.len(), 0);
        Self { shape: &chunk.shape, strides, wanted }
    }

    /// How many elements the chunk has.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether every element of the chunk is picked.
    pub fn is_whole(&self) -> bool {
        covered(self.wanted, self.shape)
    }

    /// Calls `visit` with the number of each element in the chunk, in stored order, and its place
    /// in the caller's memory: its offset by the strides of the [`Target`](crate::view::Target) or
    /// [`Source`](crate::view::Source).
    ///
    /// Of two elements with one place, or two places of one element, the last is the one to keep.
    pub fn each(&self, mut visit: impl FnMut(usize, isize)) {
        for wanted in self.wanted {
            match wanted {
                Wanted::Box { parts, base } => {
                    let placed = Placed::new(parts, *base, &self.strides);
                    let (element, place) = (placed.chunk_offset as isize, placed.buffer_offset);
                    walk(&placed.grid, 0, element, place, &mut visit);
                }
                Wanted::Points { points, which } => {
                    for point in *which {
                        let element = points.chunk_offset(*point, self.shape, &self.strides);
                        visit(element, points.buffer_offset(*point));
                    }
                }
            }
        }
    }
}

/// Visits a grid from its `level` on: its lists first, then its axes.
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

/// How a chunk of such elements is stored.
#[derive(Debug)]
pub(crate) struct Blob {
    /// From one element to the next along each axis, in elements.
    strides: PerAxis<isize>,
    codecs: Vec<Arc<dyn Codec>>,
    /// `limits[i]` is the most that codec `i` may decode to; the last is what may be stored.
    limits: Vec<usize>,
}

impl Blob {
    pub fn new(strides: PerAxis<isize>, codecs: Vec<Arc<dyn Codec>>, most_bytes: usize) -> Self {
        let mut limits = vec![most_bytes];
        for codec in &codecs {
            limits.push(with_slack(codec.encoded_size(limits[limits.len() - 1])));
        }
        Self { strides, codecs, limits }
    }

    pub fn encoded_limit(&self) -> usize {
        self.limits[self.codecs.len()]
    }

    pub fn decode<'a>(
        &self,
        encoded: &'a [u8],
        memory: &'a mut Vec<u8>,
        chain: &mut ChainScratch,
    ) -> CodecResult<&'a [u8]> {
        let mut stages = self.codecs.iter().zip(&self.limits).rev();
        let Some((last, limit)) = stages.next() else {
            return Ok(encoded);
        };
        last.decode_bounded(encoded, *limit, memory, &mut chain.codec).map_err(too_long)?;
        let mut spare = Vec::new();
        for (codec, limit) in stages {
            codec.decode_bounded(memory, *limit, &mut spare, &mut chain.codec).map_err(too_long)?;
            std::mem::swap(memory, &mut spare);
        }
        Ok(memory)
    }

    fn encode(
        &self,
        mut blob: Vec<u8>,
        out: &mut Vec<u8>,
        chain: &mut ChainScratch,
    ) -> CodecResult<()> {
        for codec in &self.codecs {
            codec.encode(&blob, out, &mut chain.codec)?;
            std::mem::swap(&mut blob, out);
        }
        std::mem::swap(&mut blob, out);
        Ok(())
    }
}

/// Names the setting where a blob decodes to more than it allows.
fn too_long(error: CodecError) -> CodecError {
    match error {
        CodecError::Corrupt { codec, reason } if reason.starts_with("decodes to more than") => {
            let setting = "config.max_variable_chunk_bytes (or max_chunk_bytes, if lower)";
            CodecError::Corrupt {
                codec,
                reason: format!("{reason}, which is {setting}; raise it if this is no mistake"),
            }
        }
        error => error,
    }
}

fn unprepared() -> CodecError {
    CodecError::Configuration {
        codec: "bytes".to_owned(),
        reason: "elements without a size need a caller that knows them".to_owned(),
    }
}

/// Puts what is wanted of one stored chunk into the caller's memory.
pub(crate) fn place_blob(
    chunk: &ChunkLayout,
    blob: &Blob,
    encoded: &[u8],
    wanted: &[Wanted<'_>],
    sink: Sink<'_>,
    scratch: &mut PlaceScratch<'_>,
) -> CodecResult<()> {
    let objects = sink.objects.ok_or_else(unprepared)?;
    let decoded = blob.decode(encoded, scratch.chunk, scratch.chain)?;
    objects.place(Some(decoded), &Picks::new(chunk, wanted, &blob.strides))
}

/// Replaces `out` by the chunk's new encoded bytes, as [`update`](crate::update::update) does.
pub(crate) fn update_blob(
    chunk: &ChunkLayout,
    blob: &Blob,
    old: Option<&[u8]>,
    edit: Edit<'_, '_>,
    s: &mut Scratch,
    out: &mut Vec<u8>,
) -> CodecResult<bool> {
    let objects = edit.spring.objects.ok_or_else(unprepared)?;
    let picks = Picks::new(chunk, edit.wanted, &blob.strides);
    let keep_empty = edit.spring.keep_empty;
    let mut new = Vec::new();
    let updated = match old.map(|old| blob.decode(old, &mut s.chunk, &mut s.chain)) {
        None => objects.update(None, &picks, keep_empty, &mut new),
        Some(Ok(old)) => objects.update(Some(old), &picks, keep_empty, &mut new),
        Some(Err(error)) => Err(error),
    };
    let keep = match updated {
        // What is lost of the old chunk lies outside of the array.
        Err(CodecError::Corrupt { .. } | CodecError::Foreign { .. })
            if old.is_some() && edit.covers_inside() =>
        {
            objects.update(None, &picks, keep_empty, &mut new)?
        }
        updated => updated?,
    };
    out.clear();
    if keep {
        blob.encode(new, out, &mut s.chain)?;
    }
    Ok(keep)
}
