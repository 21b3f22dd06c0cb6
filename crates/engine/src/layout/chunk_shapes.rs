//! The chunk layouts of an array: one, or one for each shape of its chunks.
//!
//! In a regular grid all chunks have one [`ChunkLayout`], bound once. In a rectilinear grid, each
//! shape is bound when it is first met, and cached. The lock of the cache is only tried: a thread
//! that does not get it at once, because others write or because this process was forked during a
//! write, binds the shape again, which is correct and only slower.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, RwLock};

use zarrix_codec::Codec;

use crate::error::{EngineError, Result, fault};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, CodecConfig, Context, OwnCodec};

/// Maximum number of cached chunk layouts of an array.
const MAX_CACHED: usize = 1 << 12;

/// The codecs of a chunk: a JSON list as in the layout, and what its foreign slots refer to.
pub type Chain = (String, Vec<Arc<dyn Codec>>);

/// Gives the codecs of a chunk by its shape, if they differ between shapes.
pub trait ChainOf: Send + Sync + fmt::Debug {
    /// The codecs of chunks of `chunk_shape`.
    fn chain_of(
        &self,
        chunk_shape: &[usize],
    ) -> std::result::Result<Chain, Box<dyn Error + Send + Sync>>;
}

/// What all chunk layouts of an array are made from.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub codecs: Vec<CodecConfig>,
    pub foreign: Vec<Arc<dyn Codec>>,
    pub item_bytes: usize,
    pub max_variable_bytes: Option<usize>,
    /// Used instead of the codecs, if these depend on the shape of a chunk.
    pub chain_of: Option<Arc<dyn ChainOf>>,
    pub own_codec: OwnCodec,
}

impl Recipe {
    pub fn chunk(&self, shape: PerAxis<usize>) -> Result<ChunkLayout> {
        let Some(chain_of) = &self.chain_of else {
            return self.with(shape, &self.codecs, &self.foreign);
        };
        let (codecs, foreign) = chain_of.chain_of(&shape).map_err(EngineError::Caller)?;
        let codecs: Vec<CodecConfig> =
            serde_json::from_str(&codecs).map_err(|error| fault("codecs", error.to_string()))?;
        self.with(shape, &codecs, &foreign)
    }

    fn with(
        &self,
        shape: PerAxis<usize>,
        codecs: &[CodecConfig],
        foreign: &[Arc<dyn Codec>],
    ) -> Result<ChunkLayout> {
        let context = Context {
            item_bytes: self.item_bytes,
            max_variable_bytes: self.max_variable_bytes,
            foreign,
            nesting: 0,
            own_codec: self.own_codec,
        };
        let order = (0..shape.len()).collect();
        ChunkLayout::new(shape, order, codecs, context)
    }
}

#[derive(Debug)]
pub(crate) enum Chunks {
    Same(Arc<ChunkLayout>),
    Several { recipe: Recipe, cached: RwLock<HashMap<PerAxis<usize>, Arc<ChunkLayout>>> },
}

/// The layout of a chunk, while the chunk is read or written.
#[derive(Debug)]
pub(crate) enum ChunkRef<'a> {
    Same(&'a ChunkLayout),
    Shared(Arc<ChunkLayout>),
}

impl Deref for ChunkRef<'_> {
    type Target = ChunkLayout;

    fn deref(&self) -> &ChunkLayout {
        match self {
            Self::Same(chunk) => chunk,
            Self::Shared(chunk) => chunk,
        }
    }
}

impl Chunks {
    pub fn several(recipe: Recipe) -> Self {
        Self::Several { recipe, cached: RwLock::default() }
    }

    /// The layout of chunks of the shape that `shape` returns; it is not called if all chunks have
    /// one shape.
    pub fn of_shape(&self, shape: impl FnOnce() -> Result<PerAxis<usize>>) -> Result<ChunkRef<'_>> {
        let (recipe, cached) = match self {
            Self::Same(chunk) => return Ok(ChunkRef::Same(chunk)),
            Self::Several { recipe, cached } => (recipe, cached),
        };
        let shape = shape()?;
        if let Ok(cached) = cached.try_read()
            && let Some(chunk) = cached.get(&shape)
        {
            return Ok(ChunkRef::Shared(Arc::clone(chunk)));
        }
        let chunk = Arc::new(recipe.chunk(shape.clone())?);
        if let Ok(mut cached) = cached.try_write()
            && cached.len() < MAX_CACHED
        {
            cached.insert(shape, Arc::clone(&chunk));
        }
        Ok(ChunkRef::Shared(chunk))
    }
}
