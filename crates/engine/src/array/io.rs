//! One stored array: where it is, how it is laid out, which of its chunks exist.

use std::fmt;
use std::sync::{Arc, OnceLock};

use zarrix_store::Store;

use crate::array::metadata::Document;
use crate::cache::shard_indexes::Indexes;
use crate::error::{EngineError, Result};
use crate::layout::axes::PerAxis;
use crate::layout::document::Layout;
use crate::layout::keys::write_key;
use crate::selection::plan::{AxisSelection, Plan};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// Moves elements between one stored array and buffers; any number of threads may use it at once.
pub struct ArrayIO {
    pub(crate) store: Arc<dyn Store>,
    /// What every key of the array begins with: empty, or a path with its final `/`.
    pub(crate) prefix: String,
    /// Key of the metadata document, whose byte ranges stand for the chunks' locks.
    pub(crate) anchor: String,
    pub(crate) layout: Arc<Layout>,
    /// Of shards on remote stores.
    pub(crate) indexes: Indexes,
    /// What the cache of decoded chunks knows the array by.
    cache_name: OnceLock<Arc<str>>,
    /// The metadata document, where it is in this store, too.
    pub(crate) document: Option<Document>,
}

impl fmt::Debug for ArrayIO {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ArrayIO({}, {:?})", self.store.id(), self.prefix)
    }
}

impl ArrayIO {
    /// The array at `path` of `store`; nothing is read or checked in the store.
    pub fn new(store: Arc<dyn Store>, path: &str, layout: impl Into<Arc<Layout>>) -> Self {
        let layout = layout.into();
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let anchor = format!("{prefix}{}", layout.metadata_key);
        Self {
            store,
            prefix,
            anchor,
            layout,
            indexes: Indexes::default(),
            cache_name: OnceLock::new(),
            document: None,
        }
    }

    /// What decoded chunks are kept under: the store, and all that tells how they are decoded.
    pub(crate) fn cache_name(&self) -> &Arc<str> {
        self.cache_name.get_or_init(|| {
            let text = format!("{}\n{:032x}", self.store.id(), self.layout.coding());
            text.into()
        })
    }

    /// [`pool::run`] for tasks that each make calls of the store.
    pub(crate) fn run(
        &self,
        total: usize,
        interrupt: Interrupt<'_>,
        task: pool::Task<'_>,
    ) -> Result<()> {
        match self.store.is_remote() {
            true => pool::run_waiting(total, interrupt, task),
            false => pool::run(total, interrupt, task),
        }
    }

    /// The same array, whose metadata document is in this store: where that is gone, or describes
    /// other chunks, nothing is written, and no missing chunk reads as the fill value.
    #[must_use]
    pub fn with_document(self, document: Document) -> Self {
        Self { document: Some(document), ..self }
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

    /// The chunks that `selection` touches, for a buffer of `strides`; its axes are checked.
    pub(crate) fn plan(&self, selection: &[AxisSelection], strides: &[isize]) -> Result<Plan> {
        Plan::new(selection, &self.layout.shape, &self.layout.grid, strides)
    }

    /// Refuses memory for elements of a size where they have none, and the other way round.
    pub(crate) fn check_kind(&self, objects: bool) -> Result<()> {
        if objects == self.layout.objects().is_some() {
            return Ok(());
        }
        Err(EngineError::Selection("the buffer is not for elements of this kind".into()))
    }

    pub(crate) fn key_of(&self, coords: &[u64]) -> String {
        let mut key = String::new();
        write_key(&mut key, &self.prefix, &self.layout, coords.iter().copied());
        key
    }

    /// How many elements of the chunk at `coords` lie inside the array, along each axis.
    pub(crate) fn limits(&self, coords: &[u64]) -> PerAxis<usize> {
        let axes = self.layout.shape.iter().zip(&self.layout.grid).zip(coords);
        axes.map(|((size, axis), coord)| {
            let extent = axis.chunk(*coord);
            extent.map_or(0, |one| size.saturating_sub(one.begin).min(one.length) as usize)
        })
        .collect()
    }
}
