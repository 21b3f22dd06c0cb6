//! One stored array: where it is, how it is laid out, which of its chunks exist.

use std::fmt;
use std::sync::{Arc, OnceLock};

use zarrix_store::{KeyLock, Store};

use crate::axes::PerAxis;
use crate::chunks::{parse_key, write_key};
use crate::document::Document;
use crate::error::{EngineError, Result};
use crate::grid::AxisGrid;
use crate::layout::Layout;
use crate::patience::Interrupt;
use crate::place::Sink;
use crate::pool;
use crate::scratch;
use crate::selection::{AxisPlan, AxisSelection, Plan, plan_range};
use crate::shard_indexes::Indexes;
use crate::view::{Target, check_shape};
use crate::wanted::Wanted;

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
    kept_as: OnceLock<Arc<str>>,
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
            kept_as: OnceLock::new(),
            document: None,
        }
    }

    /// What decoded chunks are kept under: the store, and all that tells how they are decoded.
    pub(crate) fn kept_as(&self) -> &Arc<str> {
        self.kept_as.get_or_init(|| {
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

    /// The lock of the chunk `key`, to write to it.
    pub(crate) fn lock(&self, key: &str) -> Result<KeyLock> {
        let lock = self.store.lock(&self.anchor, key)?;
        if self.document.is_some() && lock.lacks_anchor() {
            return Err(self.gone());
        }
        if self.store.is_inline() {
            self.check_version(lock.anchor_version())?;
        }
        Ok(lock)
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

    /// Keys of the stored chunks that lie in the grid, sorted, with their coordinates.
    pub fn stored_chunks(&self) -> Result<Vec<(String, Vec<u64>)>> {
        let layout = &self.layout;
        let path = self.prefix.trim_end_matches('/');
        let flat = layout.key_prefix.is_empty()
            && (layout.separator == '.' || layout.shape.len() < 2)
            && !layout.key_suffix.contains('/');
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
        let found = self.chunks_among(names);
        let is_empty = found.is_empty();
        self.explained(Ok(found), is_empty)
    }

    /// Those of `keys`, which were listed before, that are chunks in the grid, with their coordinates.
    pub fn chunks_among(&self, keys: Vec<String>) -> Vec<(String, Vec<u64>)> {
        let layout = &self.layout;
        keys.into_iter()
            .filter_map(|key| {
                let coords = parse_key(key.strip_prefix(self.prefix.as_str())?, layout)?;
                layout.begin_of(&coords).is_some().then_some((key, coords))
            })
            .collect()
    }

    /// Number of stored chunks; of a stored shard, all its inner chunks count.
    pub fn initialized(&self) -> Result<u64> {
        let stored = self.stored_chunks()?;
        stored.iter().map(|(_, coords)| Ok(self.layout.chunk(coords)?.units().0 as u64)).sum()
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
        let chunk = &*layout.chunk(coords)?;
        check_shape(&chunk.shape, target.shape(), "the buffer")?;
        self.check_kind(target.sink().is_some())?;
        let plans: PerAxis<AxisPlan> = (0..coords.len())
            .map(|axis| {
                let length = chunk.shape[axis] as u64;
                let all = (0, 1, length);
                plan_range(axis, length, &AxisGrid::Even(length), all, target.strides()[axis])
            })
            .collect::<Result<_>>()?;
        let parts = plans.iter().map(|plan| &plan[0].part).collect();
        let wanted = [Wanted::Box { parts, base: 0 }];
        scratch::with(|s| {
            write_key(&mut s.key, &self.prefix, layout, coords.iter().copied());
            if !self.fetch_stored(chunk, s)? {
                return self.explained(Ok(false), true);
            }
            let encoded = std::mem::take(&mut s.encoded);
            let sink = Sink::new(target, layout);
            let placed = self.place_whole(chunk, Some(&encoded), &wanted, sink, s);
            s.encoded = encoded;
            placed.map(|()| true)
        })
    }
}
