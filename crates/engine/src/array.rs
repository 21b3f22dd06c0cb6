//! One stored array: where it is, how it is laid out, which of its chunks exist.

use std::fmt;
use std::sync::Arc;

use zarrix_store::Store;

use crate::chunks::{parse_key, write_key};
use crate::copy::{self, Dim};
use crate::layout::Layout;
use crate::scratch::{self, Scratch};
use crate::selection::{AxisSelection, Segment};
use crate::view::{Target, check_shape};
use crate::{EngineError, Result};

/// Moves elements between one stored array and buffers; any number of threads may use it at once.
pub struct ArrayIO {
    pub(crate) store: Arc<dyn Store>,
    /// What every key of the array begins with: empty, or a path with its final `/`.
    pub(crate) prefix: String,
    /// Key of the metadata document, whose byte ranges stand for the chunks' locks.
    pub(crate) anchor: String,
    pub(crate) layout: Layout,
}

impl fmt::Debug for ArrayIO {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ArrayIO({}, {:?})", self.store.id(), self.prefix)
    }
}

impl ArrayIO {
    /// The array at `path` of `store`; nothing is read or checked in the store.
    pub fn new(store: Arc<dyn Store>, path: &str, layout: Layout) -> Self {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let anchor = format!("{prefix}{}", layout.metadata_key);
        Self { store, prefix, anchor, layout }
    }

    pub(crate) fn check_axes(&self, selection: &[AxisSelection]) -> Result<()> {
        let axes = self.layout.shape.len();
        if selection.len() == axes {
            return Ok(());
        }
        Err(EngineError::Selection(format!(
            "the selection has {} axes, the array {axes}",
            selection.len()
        )))
    }

    pub(crate) fn key_of(&self, segments: &[Segment]) -> String {
        let mut key = String::new();
        write_key(&mut key, &self.prefix, &self.layout, segments.iter().map(|part| part.chunk));
        key
    }

    /// Keys of the stored chunks that lie in the grid, sorted, with their coordinates.
    pub fn stored_chunks(&self) -> Result<Vec<(String, Vec<u64>)>> {
        let layout = &self.layout;
        let path = self.prefix.trim_end_matches('/');
        let flat =
            layout.key_prefix.is_empty() && (layout.separator == '.' || layout.shape.len() < 2);
        let names = if flat {
            self.store
                .list_dir(path)?
                .keys
                .into_iter()
                .map(|name| format!("{}{name}", self.prefix))
                .collect()
        } else {
            self.store.list_prefix(path)?
        };
        let in_grid = |coords: &Vec<u64>| {
            coords.iter().enumerate().all(|(axis, coord)| {
                coord
                    .checked_mul(layout.chunk_shape[axis] as u64)
                    .is_some_and(|begin| begin < layout.shape[axis])
            })
        };
        Ok(names
            .into_iter()
            .filter_map(|key| {
                let coords = parse_key(key.get(self.prefix.len()..)?, layout)?;
                in_grid(&coords).then_some((key, coords))
            })
            .collect())
    }

    /// Fills `target`, of the chunk's shape, with one decoded chunk; false if it is not stored.
    ///
    /// At the array's edge that includes what lies outside of the array.
    pub fn read_chunk(&self, coords: &[u64], target: Target<'_>) -> Result<bool> {
        let layout = &self.layout;
        if coords.len() != layout.shape.len() {
            return Err(EngineError::Selection(format!(
                "{} chunk coordinates for {} axes",
                coords.len(),
                layout.shape.len()
            )));
        }
        check_shape(&layout.chunk_shape, target.shape(), "the buffer")?;
        scratch::with(|s| {
            write_key(&mut s.key, &self.prefix, layout, coords.iter().copied());
            if !self.load_chunk(s)? {
                return Ok(false);
            }
            let dims = (0..coords.len())
                .map(|axis| Dim {
                    count: layout.chunk_shape[axis],
                    dst: target.strides()[axis],
                    src: layout.chunk_strides[axis],
                })
                .collect();
            let chunk = Scratch::chunk_of(&mut s.chunk, layout.chunk_bytes);
            // SAFETY: the target has the chunk's shape, and its maker vouches for its elements.
            unsafe { copy::copy(target.base(), chunk.as_ptr(), dims, layout.item_bytes) };
            Ok(true)
        })
    }

    /// Deletes the stored chunks that lie wholly outside `shape`, each under its lock; how many.
    pub fn erase_outside(&self, shape: &[u64]) -> Result<u64> {
        let layout = &self.layout;
        if shape.len() != layout.shape.len() {
            return Err(EngineError::Selection(format!(
                "a shape of {} axes for an array of {}",
                shape.len(),
                layout.shape.len()
            )));
        }
        let mut erased = 0;
        for (key, coords) in self.stored_chunks()? {
            let outside = coords.iter().enumerate().any(|(axis, coord)| {
                coord.saturating_mul(layout.chunk_shape[axis] as u64) >= shape[axis]
            });
            if outside {
                let _lock = self.store.lock(&self.anchor, &key)?;
                erased += u64::from(self.store.delete(&key)?);
            }
        }
        Ok(erased)
    }
}
