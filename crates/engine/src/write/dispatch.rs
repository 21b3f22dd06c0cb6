//! The write path: from the buffer of the caller to the store, chunk by chunk.
//!
//! Every write of a key holds its lock. A write of a complete chunk never reads the old one, and
//! encodes before it takes the lock. Any other write is a read-modify-write under the lock, so that
//! concurrent writers of different elements both succeed. A chunk that reaches beyond the edge of
//! the array is of the second kind even if all of its elements that this handle knows are written:
//! another handle may have grown the array.

use zarrix_store::{Change, Durability, StoreError, Update};

use crate::array::fetch::from_store;
use crate::array::io::ArrayIO;
use crate::chunk::buffer::{Edit, Source, WriteBuffer, check_shape};
use crate::chunk::encode::{encode_chunk, unencoded};
use crate::chunk::lengths::check_max_length;
use crate::error::{Result, corrupt, failed};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::ChunkLayout;
use crate::layout::keys::write_key;
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::plan::{AxisSelection, Plan, buffer_shape};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch::{self, Scratch};

impl ArrayIO {
    /// Stores the elements of `source` at `selection`.
    ///
    /// Each chunk is replaced atomically, under the lock of its key. If an error or a cancellation
    /// ends the call, some chunks are written and the others are unchanged.
    ///
    /// # Errors
    /// [`EngineError::CorruptChunk`](crate::error::EngineError::CorruptChunk) if a chunk that is
    /// written in part cannot be read; it is left unchanged.
    pub fn write(
        &self,
        selection: &[AxisSelection],
        source: Source<'_>,
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        self.check_axes(selection)?;
        check_shape(&buffer_shape(selection), source.shape(), "the value")?;
        let mut blocks = self.blocks(selection, source.strides())?;
        self.check_before_writing()?;
        while let Some(plan) = blocks.next()? {
            self.write_block(plan, source, durability, interrupt)?;
        }
        Ok(())
    }

    fn write_block(
        &self,
        plan: &Plan,
        source: Source<'_>,
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let task = |task: usize| {
            let segments = plan.task(task);
            let coords: PerAxis<u64> = segments.iter().map(|segment| segment.chunk).collect();
            let selected = [ChunkSelection::of(&segments, 0, 0)];
            scratch::with(|s| self.write_job(&coords, &selected, source, durability, s))
        };
        if let Some(parts) = self.parts(plan.tasks, source) {
            return self.write_in_parts(plan, parts, source, durability, interrupt);
        }
        if let Some(together) = self.neighbours(plan, source) {
            return self.write_together(&together, plan, (source, durability), interrupt);
        }
        match plan.tasks {
            0 => Ok(()),
            1 => pool::run_alone(1, interrupt, &task),
            tasks => self.run(tasks, interrupt, &task),
        }
    }

    /// Stores the selection of one chunk.
    pub(crate) fn write_job(
        &self,
        coords: &[u64],
        selected: &[ChunkSelection<'_>],
        source: Source<'_>,
        durability: Durability,
        s: &mut Scratch,
    ) -> Result<()> {
        self.check_kind(source.source().is_some())?;
        self.write_or_put(coords, selected, source, durability, (s, None))
    }

    /// Stores the selection of one chunk; `made`, if there is one, is what a chunk whose elements
    /// inside the array are all written becomes if nothing is stored yet. `Some(None)` is nothing.
    pub(crate) fn write_or_put(
        &self,
        coords: &[u64],
        selected: &[ChunkSelection<'_>],
        source: Source<'_>,
        durability: Durability,
        (s, made): (&mut Scratch, Option<Option<&mut Vec<u8>>>),
    ) -> Result<()> {
        let chunk = &*self.layout.chunk(coords)?;
        let limits = self.limits(coords);
        write_key(&mut s.key, &self.prefix, &self.layout, coords.iter().copied());
        let edit = Edit { selected, limits: &limits, buffer: self.write_buffer(source) };
        let mut new = std::mem::take(&mut s.update);
        let done = self.write_chunk(chunk, edit, durability, s, (&mut new, made));
        s.update = new;
        done
    }

    pub(crate) fn write_buffer<'a>(&'a self, source: Source<'a>) -> WriteBuffer<'a> {
        WriteBuffer {
            from: source.base(),
            objects: source.source(),
            layout: &self.layout,
            keep_empty: self.layout.write_empty_chunks,
        }
    }

    /// Stores the selection of a chunk, by a read-modify-write unless it is complete.
    ///
    /// It is long because the callback of the store borrows most of its state.
    fn write_chunk(
        &self,
        chunk: &ChunkLayout,
        edit: Edit<'_, '_>,
        durability: Durability,
        s: &mut Scratch,
        (new, mut made): (&mut Vec<u8>, Option<Option<&mut Vec<u8>>>),
    ) -> Result<()> {
        if edit.covers_all(chunk) {
            return self.write_anew(chunk, edit, durability, s, new);
        }
        let key = std::mem::take(&mut s.key);
        let mut old = std::mem::take(&mut s.encoded);
        let max = chunk.max_stored_bytes;
        let _lock = self.lock(&key)?;
        let mut refused = None;
        let mut change = |old: Option<&[u8]>, new: &mut Vec<u8>| {
            if old.is_none()
                && let Some(made) = made.take()
            {
                let Some(bytes) = made else { return Change::Delete };
                std::mem::swap(new, bytes);
                return Change::Put;
            }
            let old = match old.map(|old| check_max_length(&key, old, max)).transpose() {
                Err(_) if edit.covers_inside() => None,
                Err(error) => {
                    refused = Some(error);
                    return Change::Keep;
                }
                Ok(old) => old,
            };
            // A chunk that is all fill value reads like a missing one.
            let deletes = old.is_none() || self.store.updates_by_deleting();
            let keep_empty = edit.buffer.keep_empty || !deletes;
            let edit = Edit { buffer: WriteBuffer { keep_empty, ..edit.buffer }, ..edit };
            match encode_chunk(chunk, old, edit, s, new) {
                Ok(true) => Change::Put,
                Ok(false) => Change::Delete,
                Err(source) => {
                    refused = Some(corrupt(&key, old.map_or(0, <[u8]>::len), source));
                    Change::Keep
                }
            }
        };
        let to_update = Update { anchor: &self.anchor, key: &key, most: max as u64, durability };
        let done = self.store.update(to_update, &mut old, new, &mut change);
        (s.key, s.encoded) = (key, old);
        match done {
            // The lost part of the old chunk lies outside of the array.
            Err(StoreError::Corrupt { .. } | StoreError::TooLong { .. })
                if edit.covers_inside() =>
            {
                self.write_anew(chunk, edit, durability, s, new)
            }
            done => {
                done.map_err(|error| from_store(&s.key, error)).and(refused.map_or(Ok(()), Err))
            }
        }
    }

    /// Stores a chunk without reading the old one.
    fn write_anew(
        &self,
        chunk: &ChunkLayout,
        edit: Edit<'_, '_>,
        durability: Durability,
        s: &mut Scratch,
        new: &mut Vec<u8>,
    ) -> Result<()> {
        let as_it_is = self.store.reads_value_once().then(|| unencoded(chunk, edit)).flatten();
        let encoded = match as_it_is {
            Some(straight) => edit.buffer.stores(straight).then_some(straight),
            None => {
                let keep = encode_chunk(chunk, None, edit, s, new)
                    .map_err(|source| failed(&s.key, source))?;
                keep.then_some(new.as_slice())
            }
        };
        let _lock = self.lock(&s.key)?;
        self.replace(&s.key, encoded, durability)
    }

    /// Stores a value, or deletes it.
    pub(crate) fn replace(
        &self,
        key: &str,
        encoded: Option<&[u8]>,
        durability: Durability,
    ) -> Result<()> {
        match encoded {
            Some(encoded) => self.store.put(key, encoded, durability)?,
            None => {
                self.store.delete(key, durability)?;
            }
        }
        Ok(())
    }
}
