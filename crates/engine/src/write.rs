//! The write path: chunk by chunk from the caller's buffer into the store.
//!
//! Every write of a key holds that key's lock. A task that covers all of a chunk that lies inside
//! the array never reads the old one, and encodes before it takes the lock; any other is a
//! read-modify-write under it, so that two writers of different elements both keep theirs.

use zarrix_store::Durability;

use crate::array::ArrayIO;
use crate::chunks::{Region, write_key};
use crate::copy::{self, Dim, Dims};
use crate::layout::Layout;
use crate::pool;
use crate::read::check_length;
use crate::scratch::{self, Scratch};
use crate::selection::{AxisSelection, Plan, Segment, buffer_shape};
use crate::view::{Source, check_shape};
use crate::{EngineError, Interrupt, Result};

impl ArrayIO {
    /// Stores the elements of `source` at `selection`.
    ///
    /// Each chunk is replaced as a whole, under its key's lock. When an error or the interrupt
    /// ends the call, some of the chunks are written and the others are as before.
    ///
    /// # Errors
    /// [`EngineError::CorruptChunk`] if a chunk that is written in part cannot be read; it is left
    /// as it is.
    pub fn write(
        &self,
        selection: &[AxisSelection],
        source: Source<'_>,
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.check_axes(selection)?;
        check_shape(&buffer_shape(selection), source.shape(), "the value")?;
        let layout = &self.layout;
        let plan = Plan::new(selection, &layout.shape, &layout.chunk_shape, source.strides())?;
        let task = |index: usize| {
            scratch::with(|s| self.write_chunk_of(&plan.task(index), source, durability, s))
        };
        match plan.tasks {
            0 => Ok(()),
            1 => task(0),
            tasks => pool::run(tasks, interrupt, &task),
        }
    }

    fn write_chunk_of(
        &self,
        segments: &[Segment],
        source: Source<'_>,
        durability: Durability,
        s: &mut Scratch,
    ) -> Result<()> {
        let layout = &self.layout;
        let region = Region::new(layout, segments);
        let from = source.base().wrapping_offset(region.buffer_offset);
        write_key(&mut s.key, &self.prefix, layout, segments.iter().map(|part| part.chunk));
        if !region.whole_in_bounds {
            let _lock = self.store.lock(&self.anchor, &s.key)?;
            self.load_chunk(s)?;
            let chunk = Scratch::chunk_of(&mut s.chunk, layout.chunk_bytes);
            insert(chunk, region, from, layout);
            return self.store_chunk(durability, s);
        }
        if region.is_contiguous_chunk() {
            // SAFETY: the region is the whole chunk and its elements lie in the source one after
            // the other as in the chunk: `chunk_bytes` contiguous readable bytes.
            let chunk = unsafe { std::slice::from_raw_parts(from, layout.chunk_bytes) };
            let Scratch { key, chain, .. } = s;
            let encoded = self.encode(chunk, key, chain)?;
            let _lock = self.store.lock(&self.anchor, key)?;
            return self.replace(key, encoded, durability);
        }
        let chunk = Scratch::chunk_of(&mut s.chunk, layout.chunk_bytes);
        if !region.whole_chunk {
            fill_chunk(chunk, layout);
        }
        insert(chunk, region, from, layout);
        let Scratch { key, chain, chunk, .. } = s;
        let encoded = self.encode(&chunk[..layout.chunk_bytes], key, chain)?;
        let _lock = self.store.lock(&self.anchor, key)?;
        self.replace(key, encoded, durability)
    }

    /// Reads and decodes the chunk `s.key` into `s.chunk`; the fill value if it is not stored.
    /// Whether it was stored.
    pub(crate) fn load_chunk(&self, s: &mut Scratch) -> Result<bool> {
        let layout = &self.layout;
        let Scratch { key, encoded, chunk, chain } = s;
        let chunk = Scratch::chunk_of(chunk, layout.chunk_bytes);
        if self.store.get_into(key, encoded)?.is_none() {
            fill_chunk(chunk, layout);
            return Ok(false);
        }
        let decoded = if layout.chain.is_identity() {
            check_length(encoded, layout.chunk_bytes).map(|()| chunk.copy_from_slice(encoded))
        } else {
            layout.chain.decode_into(encoded, chunk, chain)
        };
        decoded.map(|()| true).map_err(|source| match source {
            zarrix_codec::CodecError::Corrupt { .. } => {
                EngineError::CorruptChunk { key: key.clone(), stored_bytes: encoded.len(), source }
            }
            source => EngineError::Codec { key: key.clone(), source },
        })
    }

    /// Encodes `s.chunk` and puts it at `s.key`, whose lock the caller holds.
    pub(crate) fn store_chunk(&self, durability: Durability, s: &mut Scratch) -> Result<()> {
        let Scratch { key, chain, chunk, .. } = s;
        let encoded = self.encode(&chunk[..self.layout.chunk_bytes], key, chain)?;
        self.replace(key, encoded, durability)
    }

    /// The encoded chunk; `None` for one that is all fill value and is not to be stored.
    fn encode<'a>(
        &self,
        chunk: &'a [u8],
        key: &str,
        chain: &'a mut zarrix_codec::ChainScratch,
    ) -> Result<Option<&'a [u8]>> {
        let layout = &self.layout;
        if !layout.write_empty_chunks && copy::is_filled(chunk, &layout.fill) {
            return Ok(None);
        }
        let encoded = layout.chain.encode(chunk, chain);
        encoded.map(Some).map_err(|source| EngineError::Codec { key: key.to_string(), source })
    }

    fn replace(&self, key: &str, encoded: Option<&[u8]>, durability: Durability) -> Result<()> {
        match encoded {
            Some(encoded) => self.store.put(key, encoded, durability)?,
            None => {
                self.store.delete(key)?;
            }
        }
        Ok(())
    }
}

fn insert(chunk: &mut [u8], region: Region, from: *const u8, layout: &Layout) {
    let to = chunk[region.chunk_offset..].as_mut_ptr();
    // SAFETY: the region lies inside the chunk; the source's maker vouches for its elements.
    unsafe { copy::copy(to, from, region.into_chunk(), layout.item_bytes) };
}

fn fill_chunk(chunk: &mut [u8], layout: &Layout) {
    let item = layout.item_bytes as isize;
    let dims =
        Dims::from_slice(&[Dim { count: chunk.len() / layout.item_bytes, dst: item, src: 0 }]);
    // SAFETY: the box is the whole slice.
    unsafe { copy::fill(chunk.as_mut_ptr(), dims, &layout.fill) };
}
