//! The read path: chunk by chunk from the store into the caller's buffer.
//!
//! A chunk that is contiguous in the buffer is decoded straight into it. Where the codec's format
//! allows it (Blosc), only the blocks that the region touches are decoded, each right before its
//! elements are copied out, while it is still in cache. A chunk that is not stored reads as the
//! fill value.

use zarrix_codec::blosc::Frame;
use zarrix_codec::{ChainScratch, CodecError};
use zarrix_store::{Fetched, Request};

use crate::array::ArrayIO;
use crate::chunks::{Region, write_key};
use crate::copy::{self, Dim, Dims};
use crate::layout::Layout;
use crate::pool;
use crate::scratch::{self, Scratch};
use crate::selection::{AxisSelection, Plan, Segment, buffer_shape};
use crate::view::{Target, check_shape};
use crate::{EngineError, Interrupt, Result};

/// Up to this many bytes, and for one chunk, the hand-over to the pool costs more than it gives.
const ALONE_BYTES: usize = 64 << 10;

/// How many chunks are asked of a store in one call, where that is not made chunk by chunk.
const BATCH: usize = 256;

impl ArrayIO {
    /// Fills `target` with the elements of `selection`; chunks that are not stored give the fill
    /// value.
    ///
    /// # Errors
    /// [`EngineError::CorruptChunk`] names the first chunk whose bytes do not decode to what the
    /// layout declares; what `target` then holds is unspecified.
    pub fn read(
        &self,
        selection: &[AxisSelection],
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.check_axes(selection)?;
        check_shape(&buffer_shape(selection), target.shape(), "the buffer")?;
        let layout = &self.layout;
        let plan = Plan::new(selection, &layout.shape, &layout.chunk_shape, target.strides())?;
        if !self.store.is_inline() {
            return self.read_batches(&plan, target, interrupt);
        }
        let task = |index: usize| {
            scratch::with(|scratch| self.read_chunk_of(&plan.task(index), target, scratch))
        };
        let wanted: usize = target
            .shape()
            .iter()
            .fold(layout.item_bytes, |bytes, count| bytes.saturating_mul(*count));
        match plan.tasks {
            0 => Ok(()),
            1 => task(0),
            tasks if wanted <= ALONE_BYTES => (0..tasks).try_for_each(task),
            tasks => pool::run(tasks, interrupt, &task),
        }
    }

    fn read_chunk_of(
        &self,
        segments: &[Segment],
        target: Target<'_>,
        s: &mut Scratch,
    ) -> Result<()> {
        let region = Region::new(&self.layout, segments);
        write_key(&mut s.key, &self.prefix, &self.layout, segments.iter().map(|part| part.chunk));
        let found = self.store.get_into(&s.key, &mut s.encoded)?;
        let encoded = found.map(|_| s.encoded.as_slice());
        self.place(region, encoded, target, &mut s.chunk, &mut s.chain)
            .map_err(|source| corrupt(&s.key, s.encoded.len(), source))
    }

    fn read_batches(
        &self,
        plan: &Plan,
        target: Target<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        for begin in (0..plan.tasks).step_by(BATCH) {
            let tasks: Vec<_> =
                (begin..(begin + BATCH).min(plan.tasks)).map(|index| plan.task(index)).collect();
            let keys: Vec<String> = tasks.iter().map(|segments| self.key_of(segments)).collect();
            let requests: Vec<_> = keys.iter().map(|key| Request { key, ranges: None }).collect();
            let mut found: Vec<Option<zarrix_store::Result<Fetched>>> = Vec::new();
            found.resize_with(keys.len(), || None);
            self.store.fetch(&requests, &mut |position, answer| found[position] = Some(answer));
            let mut values = Vec::with_capacity(keys.len());
            for (answer, key) in found.into_iter().zip(&keys) {
                values.push(match answer {
                    Some(Ok(Fetched::Bytes(value, _))) => Some(value),
                    Some(Ok(Fetched::Absent)) => None,
                    Some(Err(error)) => return Err(error.into()),
                    None => {
                        return Err(EngineError::Panicked(format!("the store left out {key:?}")));
                    }
                });
            }
            pool::run(tasks.len(), interrupt, &|index| {
                let region = Region::new(&self.layout, &tasks[index]);
                let encoded = values[index].as_deref();
                scratch::with(|s| self.place(region, encoded, target, &mut s.chunk, &mut s.chain))
                    .map_err(|source| corrupt(&keys[index], encoded.map_or(0, <[u8]>::len), source))
            })?;
        }
        Ok(())
    }

    /// Puts one chunk's part of the selection into the buffer.
    fn place(
        &self,
        region: Region,
        encoded: Option<&[u8]>,
        target: Target<'_>,
        chunk: &mut Vec<u8>,
        chain: &mut ChainScratch,
    ) -> std::result::Result<(), CodecError> {
        let layout = &self.layout;
        let to = target.base().wrapping_offset(region.buffer_offset);
        let Some(encoded) = encoded else {
            // SAFETY: the plan reaches only elements of the target, whose maker vouches for them.
            unsafe { copy::fill(to, region.dims, &layout.fill) };
            return Ok(());
        };
        if region.is_contiguous_chunk() {
            // SAFETY: the region is the whole chunk, and its elements lie in the target one after
            // the other as in the decoded chunk: `chunk_bytes` contiguous bytes that no other
            // task of this call touches.
            let straight = unsafe { std::slice::from_raw_parts_mut(to, layout.chunk_bytes) };
            return layout.chain.decode_into(encoded, straight, chain);
        }
        if layout.chain.is_identity() {
            check_length(encoded, layout.chunk_bytes)?;
            let from = encoded[region.chunk_offset..].as_ptr();
            // SAFETY: the region lies inside a chunk, and `encoded` is as long as one; the target
            // as above.
            unsafe { copy::copy(to, from, region.dims, layout.item_bytes) };
            return Ok(());
        }
        let chunk = Scratch::chunk_of(chunk, layout.chunk_bytes);
        match layout.chain.blocks(encoded)? {
            Some(frame) => scatter_blocks(layout, &frame, region, to, chunk, chain),
            None => {
                layout.chain.decode_into(encoded, chunk, chain)?;
                let from = chunk[region.chunk_offset..].as_ptr();
                // SAFETY: the region lies inside the chunk; the target as above.
                unsafe { copy::copy(to, from, region.dims, layout.item_bytes) };
                Ok(())
            }
        }
    }
}

fn corrupt(key: &str, stored_bytes: usize, source: CodecError) -> EngineError {
    match source {
        CodecError::Corrupt { .. } => {
            EngineError::CorruptChunk { key: key.to_string(), stored_bytes, source }
        }
        source => EngineError::Codec { key: key.to_string(), source },
    }
}

pub(crate) fn check_length(encoded: &[u8], wanted: usize) -> std::result::Result<(), CodecError> {
    if encoded.len() == wanted {
        return Ok(());
    }
    Err(CodecError::corrupt(
        "bytes",
        format!("{} bytes stored where the chunk has {wanted}", encoded.len()),
    ))
}

/// Decodes the blocks that a region touches, in order, and copies each part out behind them.
fn scatter_blocks(
    layout: &Layout,
    frame: &Frame<'_>,
    region: Region,
    to: *mut u8,
    chunk: &mut [u8],
    chain: &mut ChainScratch,
) -> std::result::Result<(), CodecError> {
    if let Some(stored) = frame.stored() {
        let from = stored[region.chunk_offset..].as_ptr();
        // SAFETY: a stored frame is as long as a chunk, and the region lies inside one.
        unsafe { copy::copy(to, from, region.dims, layout.item_bytes) };
        return Ok(());
    }
    let mut dims = region.dims;
    dims.retain(|dim| dim.count > 1);
    dims.sort_by_key(|dim| std::cmp::Reverse(dim.src));
    let mut scatter = Scatter { frame, chunk, chain, next: 0, item_bytes: layout.item_bytes };
    scatter.walk(&dims, region.chunk_offset, to)
}

struct Scatter<'a> {
    frame: &'a Frame<'a>,
    chunk: &'a mut [u8],
    chain: &'a mut ChainScratch,
    /// All blocks below this one that the walk can still touch are decoded.
    next: usize,
    item_bytes: usize,
}

impl Scatter<'_> {
    /// Visits the box in the order of the chunk's memory, in parts of about a block.
    fn walk(
        &mut self,
        dims: &[Dim],
        offset: usize,
        to: *mut u8,
    ) -> std::result::Result<(), CodecError> {
        let span = dims
            .iter()
            .fold(self.item_bytes, |span, dim| span + (dim.count - 1) * dim.src as usize);
        match dims {
            [outer, inner @ ..] if span > self.frame.block_bytes() => {
                for i in 0..outer.count {
                    let to = to.wrapping_offset(i as isize * outer.dst);
                    self.walk(inner, offset + i * outer.src as usize, to)?;
                }
                Ok(())
            }
            _ => {
                self.decode_through(offset, offset + span)?;
                let from = self.chunk[offset..offset + span].as_ptr();
                // SAFETY: `span` covers every element of this part of the box in the chunk; the
                // target's maker vouches for the other side.
                unsafe { copy::copy(to, from, Dims::from_slice(dims), self.item_bytes) };
                Ok(())
            }
        }
    }

    /// Offsets never go down from call to call, so the blocks before `begin` are past.
    fn decode_through(&mut self, begin: usize, end: usize) -> std::result::Result<(), CodecError> {
        let block = self.frame.block_bytes();
        self.next = self.next.max(begin / block);
        while self.next * block < end {
            let at = self.next * block;
            let until = (at + block).min(self.frame.decoded_bytes());
            self.frame.decode_block(
                self.next,
                &mut self.chunk[at..until],
                &mut self.chain.codec,
            )?;
            self.next += 1;
        }
        Ok(())
    }
}
