//! An array as the engine sees it: shape, item size, fill bytes, key encoding, codecs.
//!
//! The document is the v3 form of the metadata, with data type and fill value reduced to bytes, so
//! that v2 and v3, and every data type, are one kind of array here.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::Value;

use crate::error::{EngineError, Result, fault};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, CodecConfig, ForeignCodecs, OwnCodec};
use crate::layout::chunk_shapes::{ChainOf, ChunkRef, Chunks, Recipe};
use crate::layout::fill::Fill;
use crate::layout::grid::{AxisDocument, AxisGrid, grid_of};

/// Assumed item size of variable-length elements, where only cost matters.
const OBJECT_BYTES: usize = 16;

/// Counts layouts with codecs that their documents do not describe.
static CODINGS: AtomicU64 = AtomicU64::new(1);

/// Maximum number of axes of NumPy, and so of a buffer.
const MAX_AXES: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    shape: Vec<u64>,
    chunk_grid: Vec<AxisDocument>,
    /// None for variable-length elements.
    item_bytes: Option<usize>,
    #[serde(default)]
    objects: Option<Objects>,
    fill_value: Option<String>,
    chunk_key_encoding: CodecConfig,
    #[serde(default)]
    chunk_key_suffix: String,
    codecs: Vec<CodecConfig>,
    metadata_key: String,
    write_empty_chunks: bool,
    /// Whether a missing chunk reads as the fill value; else it is an error.
    #[serde(default = "yes")]
    read_missing_chunks: bool,
}

fn yes() -> bool {
    true
}

impl Document {
    /// The item size, once it fits the other keys and these fit each other.
    fn checked_item_bytes(&self) -> Result<usize> {
        let (axes, given) = (self.shape.len(), self.chunk_grid.len());
        if axes > MAX_AXES || given != axes {
            let reason = format!("{given} axes for an array of {axes} (at most {MAX_AXES})");
            return Err(fault("chunk_grid", reason));
        }
        let item_bytes = self.item_bytes.unwrap_or(OBJECT_BYTES);
        if item_bytes == 0 {
            return Err(fault("item_bytes", "an element has at least one byte"));
        }
        if self.item_bytes.is_none() != self.objects.is_some() {
            return Err(fault("objects", "is required if item_bytes is null, and only then"));
        }
        Ok(item_bytes)
    }
}

/// Variable-length elements.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Objects {
    /// Slot of the foreign codec for them.
    slot: usize,
    /// Maximum bytes of the elements of one chunk.
    max_chunk_bytes: usize,
}

/// A checked layout, with codecs bound to the size of a chunk.
#[derive(Debug)]
pub struct Layout {
    pub(crate) shape: PerAxis<u64>,
    pub(crate) item_bytes: usize,
    objects: Option<Objects>,
    pub(crate) fill: Fill,
    pub(crate) grid: PerAxis<AxisGrid>,
    chunks: Chunks,
    /// Maximum length of an encoded chunk.
    pub(crate) max_encoded_bytes: usize,
    pub(crate) separator: char,
    pub(crate) key_prefix: &'static str,
    pub(crate) key_suffix: String,
    pub(crate) metadata_key: String,
    pub(crate) write_empty_chunks: bool,
    pub(crate) read_missing_chunks: bool,
    coding: Coding,
}

/// What a layout was made from.
#[derive(Debug)]
struct Coding {
    document: String,
    /// Unique for a layout with codecs that the document does not describe; else 0.
    number: u64,
    hash: OnceLock<u128>,
}

impl Coding {
    fn hashed(&self) -> u128 {
        let document = serde_json::from_str::<serde_json::Map<String, Value>>(&self.document);
        let text = document.map(|mut document| {
            document.remove("shape");
            Value::Object(document).to_string()
        });
        let text = text.unwrap_or_default();
        let half = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            (seed, &text, self.number).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }
}

impl Layout {
    /// Item size in bytes; for variable-length elements, an estimate.
    pub fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    /// Slot of the foreign codec for variable-length elements.
    pub fn objects(&self) -> Option<usize> {
        self.objects.map(|objects| objects.slot)
    }

    /// A layout of one chunk without a key, all of whose inner chunks are stored.
    pub(crate) fn of_chunk(chunk: Arc<ChunkLayout>, item_bytes: usize, fill: Fill) -> Self {
        let shape: PerAxis<u64> = chunk.shape.iter().map(|length| *length as u64).collect();
        Self {
            item_bytes,
            objects: None,
            fill,
            grid: shape.iter().copied().map(AxisGrid::Even).collect(),
            shape,
            max_encoded_bytes: chunk.encoding.encoded_limit(),
            chunks: Chunks::Same(chunk),
            separator: '/',
            key_prefix: "",
            key_suffix: String::new(),
            metadata_key: String::new(),
            write_empty_chunks: true,
            read_missing_chunks: true,
            coding: Coding { document: String::new(), number: 0, hash: OnceLock::new() },
        }
    }

    /// Equal for layouts that decode a stored chunk to the same bytes: a hash of the document
    /// except the shape of the array, which may grow.
    pub(crate) fn coding(&self) -> u128 {
        *self.coding.hash.get_or_init(|| self.coding.hashed())
    }

    /// [`Layout::parse`], with the binder of codecs outside of the codec crate.
    pub(crate) fn with_codecs(
        document: &str,
        foreign: ForeignCodecs<'_>,
        chain_of: Option<Arc<dyn ChainOf>>,
        own_codec: OwnCodec,
    ) -> Result<Self> {
        let text = document;
        let document: Document =
            serde_json::from_str(text).map_err(|error| fault("document", error.to_string()))?;
        let is_all = foreign.is_empty() && chain_of.is_none();
        let number = if is_all { 0 } else { CODINGS.fetch_add(1, Ordering::Relaxed) };
        let item_bytes = document.checked_item_bytes()?;
        let fill = Fill::of(document.fill_value.as_deref(), item_bytes)?;
        let (separator, key_prefix) = key_encoding(&document.chunk_key_encoding)?;
        let grid = grid_of(&document.chunk_grid, &document.shape)?;
        let recipe = Recipe {
            codecs: document.codecs,
            foreign: foreign.to_vec(),
            item_bytes: document.item_bytes.unwrap_or(1),
            max_variable_bytes: document.objects.map(|objects| objects.max_chunk_bytes),
            chain_of,
            own_codec,
        };
        // No chunk needs more than the largest one.
        let largest = recipe.chunk(grid.iter().map(|axis| axis.longest() as usize).collect())?;
        let same = grid.iter().all(|axis| matches!(axis, AxisGrid::Even(_)));
        Ok(Self {
            shape: document.shape.into(),
            item_bytes,
            objects: document.objects,
            fill,
            grid,
            max_encoded_bytes: largest.encoding.encoded_limit(),
            chunks: if same { Chunks::Same(Arc::new(largest)) } else { Chunks::several(recipe) },
            separator,
            key_prefix,
            key_suffix: document.chunk_key_suffix,
            metadata_key: document.metadata_key,
            write_empty_chunks: document.write_empty_chunks,
            read_missing_chunks: document.read_missing_chunks,
            coding: Coding { document: text.to_owned(), number, hash: OnceLock::new() },
        })
    }

    /// The layout of the chunk at `coords`.
    pub(crate) fn chunk(&self, coords: &[u64]) -> Result<ChunkRef<'_>> {
        self.chunks.of_shape(|| {
            let axes = self.grid.iter().zip(coords);
            let lengths =
                axes.map(|(axis, coord)| axis.chunk(*coord).map(|one| one.length as usize));
            lengths.collect::<Option<_>>().ok_or_else(|| {
                EngineError::Selection(format!("the chunk grid has no chunk {coords:?}"))
            })
        })
    }

    /// The layout of all chunks, if they have one.
    pub(crate) fn only_chunk(&self) -> Option<&ChunkLayout> {
        match &self.chunks {
            Chunks::Same(chunk) => Some(chunk),
            Chunks::Several { .. } => None,
        }
    }

    /// Where the chunk at `coords` begins; `None` if it lies outside of the array.
    pub(crate) fn begin_of(&self, coords: &[u64]) -> Option<PerAxis<u64>> {
        let axes = self.grid.iter().zip(coords).zip(&self.shape);
        axes.map(|((axis, coord), size)| {
            axis.chunk(*coord).map(|one| one.begin).filter(|begin| begin < size)
        })
        .collect()
    }
}

fn key_encoding(encoding: &CodecConfig) -> Result<(char, &'static str)> {
    let (default, prefix) = match encoding.name.as_str() {
        "v2" => (".", ""),
        "default" => ("/", "c"),
        name => return Err(fault("chunk_key_encoding", format!("{name:?} is not known"))),
    };
    match encoding.configuration.get("separator").map_or(Some(default), Value::as_str) {
        Some(".") => Ok(('.', prefix)),
        Some("/") => Ok(('/', prefix)),
        other => Err(fault("chunk_key_encoding", format!("separator {other:?}; \".\" or \"/\""))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::chunk::Encoding;

    fn document(shape: &str, chunks: &str, extra: &str) -> String {
        format!(
            r#"{{"shape": {shape}, "chunk_grid": {chunks}, "item_bytes": 2, "fill_value": "0a0b",
                "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{extra}],
                "metadata_key": ".zarray", "write_empty_chunks": true}}"#
        )
    }

    fn sharded(inner: &str, index: &str, location: &str) -> String {
        format!(
            r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {inner},
                "codecs": [{{"name": "bytes"}}], "index_codecs": [{index}],
                "index_location": "{location}"}}}}"#
        )
    }

    #[test]
    fn an_f_order_chunk_is_a_transposed_one() -> Result<()> {
        let transpose = r#"{"name": "transpose", "configuration": {"order": [2, 1, 0]}}"#;
        let layout = Layout::parse(&document("[9, 9, 9]", "[2, 3, 4]", transpose), &[], None)?;
        assert!(matches!(&layout.chunk(&[0, 0, 0])?.encoding,
            Encoding::Elements(elements) if elements.strides.as_slice() == [2, 4, 12]));
        assert_eq!(layout.chunk(&[0, 0, 0])?.bytes, 48);
        assert!(layout.fill.is_all(&[10, 11, 10, 11]));
        Ok(())
    }

    #[test]
    fn a_transposed_shard_is_described_in_the_axes_of_the_array() -> Result<()> {
        let transpose = r#"{"name": "transpose", "configuration": {"order": [1, 0]}},"#;
        let shard = sharded("[5, 2]", r#"{"name": "bytes"}, {"name": "crc32c"}"#, "end");
        let layout = Layout::parse(
            &document("[9, 9]", "[6, 10]", &format!("{transpose}{shard}")),
            &[],
            None,
        )?;
        let chunk = layout.chunk(&[0, 0])?;
        let Encoding::Shard(shard) = &chunk.encoding else {
            return Err(fault("codecs", "no shard"));
        };
        assert_eq!(shard.inner.shape.as_slice(), [2, 5]);
        assert_eq!(shard.index_strides.as_slice(), [1, 3]);
        assert_eq!((shard.count, shard.index_bytes), (6, 6 * 16 + 4));
        Ok(())
    }

    #[test]
    fn numbers_that_contradict_each_other_are_refused() {
        for (shape, chunks, codecs) in [
            ("[9]", "[0]", String::new()),
            ("[9]", "[2, 2]", String::new()),
            ("[-1]", "[2]", String::new()),
            ("[9]", "[9223372036854775807]", String::new()),
            (
                "[9, 9]",
                "[4, 4]",
                r#"{"name": "transpose", "configuration": {"order": [1, 1]}}"#.to_string(),
            ),
            (
                "[9]",
                "[4]",
                r#"{"name": "zarrix.foreign", "configuration": {"slot": 0}}"#.to_string(),
            ),
            ("[9]", "[4]", r#"{"name": "no such codec"}"#.to_string()),
            ("[9]", "[4]", sharded("[3]", "", "end")),
            ("[9]", "[4]", sharded("[2, 2]", "", "end")),
            ("[9]", "[4]", sharded("[2]", r#"{"name": "gzip"}"#, "end")),
            ("[9]", "[4]", sharded("[2]", "", "middle")),
            ("[9]", "[1152921504606846976]", sharded("[1]", "", "end")),
        ] {
            assert!(
                Layout::parse(&document(shape, chunks, &codecs), &[], None).is_err(),
                "{codecs}"
            );
        }
    }
}
