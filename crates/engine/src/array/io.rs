//! A stored array: its store, its path and its layout.

use std::fmt;
use std::sync::{Arc, OnceLock};

use zarrix_store::Store;

use crate::array::metadata::Document;
use crate::cache::shard_indexes::Indexes;
use crate::error::{EngineError, Result};
use crate::layout::axes::PerAxis;
use crate::layout::document::Layout;
use crate::layout::keys::write_key;
use crate::selection::blocks::Blocks;
use crate::selection::plan::AxisSelection;
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// Ways to read that are prescribed instead of chosen, to measure them beside each other.
///
/// What a store, a codec or a selection does not allow is not done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choices {
    /// Whether the calling thread alone reads chunks.
    pub alone: Option<bool>,
    /// Whether chunks and shards are read in parts.
    pub parts: Option<bool>,
    /// Whether threads share the blocks of chunks, or the inner chunks of shards.
    pub shared: Option<bool>,
}

/// Moves elements between one stored array and buffers; any number of threads may use it at once.
pub struct ArrayIO {
    pub(crate) store: Arc<dyn Store>,
    /// The beginning of every key of the array: empty, or a path with its final `/`.
    pub(crate) prefix: String,
    /// Key of the metadata document; its byte ranges represent the locks of the chunks.
    pub(crate) anchor: String,
    pub(crate) layout: Arc<Layout>,
    /// Indexes of shards.
    pub(crate) indexes: Indexes,
    /// Name of the array in the decoded-chunk cache.
    cache_name: OnceLock<Arc<str>>,
    /// The metadata that the array was opened by, if it is in this store.
    pub(crate) document: Option<Document>,
    pub(crate) choices: Choices,
}

impl fmt::Debug for ArrayIO {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ArrayIO({}, {:?})", self.store.id(), self.prefix)
    }
}

impl ArrayIO {
    /// The array at `path` of `store`; reads and checks nothing in the store.
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
            choices: Choices::default(),
        }
    }

    /// The name of the array in the decoded-chunk cache: the store, and all that determines how
    /// chunks are decoded.
    pub(crate) fn cache_name(&self) -> &Arc<str> {
        self.cache_name.get_or_init(|| {
            let text = format!("{}\n{:032x}", self.store.id(), self.layout.coding());
            text.into()
        })
    }

    /// [`pool::run`] for tasks that call the store.
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

    /// The same array, with its metadata in this store: if that is deleted, or describes other
    /// chunks, writes are refused, and missing chunks do not read as the fill value.
    #[must_use]
    pub fn with_document(self, document: Document) -> Self {
        Self { document: Some(document), ..self }
    }

    /// The same array, read in prescribed ways.
    #[must_use]
    pub fn with_choices(self, choices: Choices) -> Self {
        Self { choices, ..self }
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

    /// The chunks that `selection` touches, for a buffer of `strides`. The caller has checked the
    /// number of axes.
    pub(crate) fn blocks(
        &self,
        selection: &[AxisSelection],
        strides: &[isize],
    ) -> Result<Blocks<'_>> {
        Blocks::new(selection, &self.layout.shape, &self.layout.grid, strides)
    }

    /// Refuses a buffer for fixed-size elements if the array has variable-length ones, and vice
    /// versa.
    pub(crate) fn check_kind(&self, objects: bool) -> Result<()> {
        if objects == self.layout.objects().is_some() {
            return Ok(());
        }
        Err(EngineError::Selection(
            "one of buffer and array has fixed-size elements, the other variable-length ones"
                .into(),
        ))
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
