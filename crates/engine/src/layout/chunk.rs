//! How the elements of one chunk become stored bytes: by a chain of codecs, or as a shard of inner
//! chunks.
//!
//! Shapes and axes are always those of the array. A transpose is the order in which axes are
//! stored, that is, strides; the inner chunks of a shard are a grid with its own strides into the
//! index. So no code above depends on the order of axes.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use zarrix_codec::{Chain, Codec, EncodedSize, Input, from_config};

use crate::error::{Result, fault};
use crate::layout::axes::PerAxis;
use crate::layout::bounds::{max_stored_bytes, with_slack};
use crate::layout::variable::VariableChunk;

/// Codecs outside of the codec crate, by slot: what `zarrix.foreign` entries refer to.
pub type ForeignCodecs<'a> = &'a [Arc<dyn Codec>];

/// Maximum nesting of shards; deeper metadata is not valid.
const MAX_NESTING: usize = 4;

/// A codec as a layout document names it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CodecConfig {
    pub name: String,
    #[serde(default)]
    pub configuration: Value,
}

/// One chunk: its extent, and how it is stored.
#[derive(Debug)]
pub(crate) struct ChunkLayout {
    /// Elements along each axis.
    pub shape: PerAxis<usize>,
    /// Length of the decoded chunk; for a variable-length chunk, its number of elements.
    pub bytes: usize,
    /// Whether it has its own key, and is not in a shard.
    pub has_key: bool,
    /// Maximum that is read of a stored one.
    pub max_stored_bytes: usize,
    pub encoding: Encoding,
}

#[derive(Debug)]
pub(crate) enum Encoding {
    Elements(Elements),
    Variable(VariableChunk),
    Shard(Box<Shard>),
}

/// Elements one after the other, through a chain of codecs.
#[derive(Debug)]
pub(crate) struct Elements {
    /// Bytes from one element to the next along each axis of the decoded chunk.
    pub strides: PerAxis<isize>,
    pub chain: Chain,
}

/// Inner chunks one after the other, found through an index of offsets and lengths.
#[derive(Debug)]
pub(crate) struct Shard {
    pub inner: ChunkLayout,
    /// Strides from one inner chunk to the next along each axis, in entries of the index.
    pub index_strides: PerAxis<usize>,
    /// Number of inner chunks.
    pub count: usize,
    pub index: Chain,
    /// Length of the stored index.
    pub index_bytes: usize,
    pub index_at_end: bool,
    /// Codecs over the whole shard; if there are none, inner chunks can be read by themselves.
    pub outer: Vec<Arc<dyn Codec>>,
}

/// What a list of codecs is bound with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Length of an element; 1 for variable-length elements.
    pub item_bytes: usize,
    /// Maximum of a decoded variable-length chunk.
    pub max_variable_bytes: Option<usize>,
    pub foreign: ForeignCodecs<'a>,
    pub nesting: usize,
    pub own_codec: OwnCodec,
}

/// Binds the codecs that this crate adds to those of the codec crate; `None` for other names.
///
/// They decode and encode chunks, so they stand above the layouts that name them.
pub(crate) type OwnCodec = fn(&CodecConfig, Context<'_>) -> Option<Result<Arc<dyn Codec>>>;

#[derive(Deserialize)]
struct ShardConfiguration {
    chunk_shape: Vec<u64>,
    codecs: Vec<CodecConfig>,
    index_codecs: Vec<CodecConfig>,
    #[serde(default = "end")]
    index_location: String,
}

fn end() -> String {
    "end".to_string()
}

impl ChunkLayout {
    /// A chunk of `shape`, whose axes are stored in `order`, through `codecs`.
    pub fn new(
        shape: PerAxis<usize>,
        mut order: PerAxis<usize>,
        codecs: &[CodecConfig],
        context: Context<'_>,
    ) -> Result<Self> {
        let bytes = bytes_of(&shape, context.item_bytes)?;
        let mut shard = None;
        let mut chain: Vec<Arc<dyn Codec>> = Vec::with_capacity(codecs.len());
        for codec in codecs {
            let on_elements = chain.is_empty() && shard.is_none();
            match codec.name.as_str() {
                "transpose" if on_elements => order = transposed(&codec.configuration, &order)?,
                "bytes" if on_elements => {}
                "sharding_indexed" if on_elements => {
                    shard = Some(shard_of(&shape, &order, &codec.configuration, context)?);
                }
                name @ ("transpose" | "bytes" | "sharding_indexed") => {
                    return Err(fault("codecs", format!("{name:?} follows a codec of bytes")));
                }
                _ => chain.push(bytes_codec(codec, context)?),
            }
        }
        let encoding = match shard {
            Some(shard) => Encoding::Shard(Box::new(Shard { outer: chain, ..shard })),
            None => {
                let strides = strides(&shape, &order, context.item_bytes);
                match context.max_variable_bytes {
                    None => {
                        Encoding::Elements(Elements { strides, chain: Chain::new(chain, bytes)? })
                    }
                    Some(max) => Encoding::Variable(VariableChunk::new(strides, chain, max)),
                }
            }
        };
        let max_stored_bytes = max_stored_bytes(encoding.encoded_limit());
        let has_key = context.nesting == 0;
        Ok(Self { shape, bytes, has_key, max_stored_bytes, encoding })
    }

    /// A chunk of `shape` that is a shard.
    pub fn sharded(shape: PerAxis<usize>, shard: Shard, item_bytes: usize) -> Result<Self> {
        let bytes = bytes_of(&shape, item_bytes)?;
        let encoding = Encoding::Shard(Box::new(shard));
        let max_stored_bytes = max_stored_bytes(encoding.encoded_limit());
        Ok(Self { shape, bytes, has_key: false, max_stored_bytes, encoding })
    }
}

fn bytes_of(shape: &[usize], item_bytes: usize) -> Result<usize> {
    let bytes = shape.iter().try_fold(item_bytes, |bytes, count| bytes.checked_mul(*count));
    bytes
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or_else(|| fault("chunk_shape", "a chunk has more bytes than memory can address"))
}

impl ChunkLayout {
    /// How many chunks can be read by themselves, and how many elements each has: the inner chunks
    /// of a shard, or the chunk.
    pub fn units(&self) -> (usize, usize) {
        match &self.encoding {
            Encoding::Shard(shard) => (shard.count, shard.inner.shape.iter().product()),
            Encoding::Elements(_) | Encoding::Variable(_) => (1, self.shape.iter().product()),
        }
    }
}

impl Encoding {
    /// Maximum length of the encoded chunk, from any encoder.
    pub fn encoded_limit(&self) -> usize {
        match self {
            Self::Elements(elements) => with_slack(elements.chain.encoded_size()),
            Self::Variable(variable) => variable.encoded_limit(),
            Self::Shard(shard) => shard.outer_limits().last().copied().unwrap_or(usize::MAX),
        }
    }
}

impl Shard {
    /// Maximum length of the shard before its outer codecs, and after each of them.
    pub fn outer_limits(&self) -> Vec<usize> {
        let inner = self.inner.encoding.encoded_limit();
        let mut limits = vec![inner.saturating_mul(self.count).saturating_add(self.index_bytes)];
        for codec in &self.outer {
            let limit = limits[limits.len() - 1];
            limits.push(with_slack(codec.encoded_size(limit)));
        }
        limits
    }

    /// Entry of the index for the inner chunk at `coords`.
    pub fn entry(&self, coords: impl Iterator<Item = u64>) -> usize {
        coords.zip(&self.index_strides).map(|(coord, stride)| coord as usize * stride).sum()
    }
}

fn bytes_codec(codec: &CodecConfig, context: Context<'_>) -> Result<Arc<dyn Codec>> {
    if let Some(bound) = (context.own_codec)(codec, context) {
        return bound;
    }
    if codec.name != "zarrix.foreign" {
        let input = Input { item_bytes: context.item_bytes };
        return Ok(from_config(&codec.name, &codec.configuration, input)?);
    }
    let slot = codec.configuration.get("slot").and_then(Value::as_u64);
    let found = slot.and_then(|slot| context.foreign.get(usize::try_from(slot).ok()?));
    found.cloned().ok_or_else(|| {
        fault("codecs", format!("foreign slot {slot:?} of {}", context.foreign.len()))
    })
}

/// The shard that a `sharding_indexed` configuration describes, for a chunk of `shape`.
pub(crate) fn shard_of(
    shape: &[usize],
    order: &[usize],
    configuration: &Value,
    context: Context<'_>,
) -> Result<Shard> {
    if context.nesting == MAX_NESTING {
        return Err(fault("codecs", format!("shards are nested more than {MAX_NESTING} deep")));
    }
    let configuration = ShardConfiguration::deserialize(configuration)
        .map_err(|error| fault("codecs", format!("sharding_indexed: {error}")))?;
    let inner_shape = inner_shape(shape, order, &configuration.chunk_shape)?;
    let grid: PerAxis<usize> =
        shape.iter().zip(&inner_shape).map(|(outer, inner)| outer / inner).collect();
    let count: usize = grid.iter().product();
    let index_bytes = count.checked_mul(16).filter(|bytes| isize::try_from(*bytes).is_ok());
    let index_bytes = index_bytes.ok_or_else(|| {
        fault("codecs", format!("{count} inner chunks need an index that is too large"))
    })?;
    let index = index_chain(&configuration.index_codecs, index_bytes, context)?;
    let EncodedSize::Exact(index_bytes) = index.encoded_size() else {
        return Err(fault("codecs", "index_codecs must give an index of fixed length"));
    };
    let index_at_end = match configuration.index_location.as_str() {
        "end" => true,
        "start" => false,
        other => return Err(fault("codecs", format!("index_location {other:?}; start or end"))),
    };
    let inside = Context { nesting: context.nesting + 1, ..context };
    let inner = ChunkLayout::new(inner_shape, order.into(), &configuration.codecs, inside)?;
    Ok(Shard {
        inner,
        index_strides: strides(&grid, order, 1).iter().map(|stride| *stride as usize).collect(),
        count,
        index,
        index_bytes,
        index_at_end,
        outer: Vec::new(),
    })
}

/// The shape of the inner chunks of a shard of `shape`, which they must divide.
fn inner_shape(shape: &[usize], order: &[usize], chunk_lengths: &[u64]) -> Result<PerAxis<usize>> {
    // The document has axes in stored order; here they are in the order of the array.
    let stored = chunk_shape(chunk_lengths)?;
    if stored.len() != shape.len() {
        let (inner, outer) = (stored.len(), shape.len());
        return Err(fault("codecs", format!("inner chunks of {inner} axes in shards of {outer}")));
    }
    let mut inner_shape: PerAxis<usize> = shape.iter().map(|_| 1).collect();
    for (position, axis) in order.iter().enumerate() {
        inner_shape[*axis] = stored[position];
    }
    if let Some(axis) =
        (0..shape.len()).find(|axis| !shape[*axis].is_multiple_of(inner_shape[*axis]))
    {
        let (inner, outer) = (inner_shape[axis], shape[axis]);
        return Err(fault(
            "codecs",
            format!("axis {axis}: inner chunks of {inner} do not divide shards of {outer}"),
        ));
    }
    Ok(inner_shape)
}

/// The codecs of the index of a shard: little-endian pairs of u64, then codecs of fixed length.
fn index_chain(codecs: &[CodecConfig], bytes: usize, context: Context<'_>) -> Result<Chain> {
    let mut chain: Vec<Arc<dyn Codec>> = Vec::new();
    for codec in codecs {
        if codec.name != "bytes" {
            let numbers = Context { item_bytes: 8, max_variable_bytes: None, ..context };
            chain.push(bytes_codec(codec, numbers)?);
            continue;
        }
        let endian = codec.configuration.get("endian").and_then(Value::as_str);
        if !chain.is_empty() || !matches!(endian, None | Some("little")) {
            return Err(fault("codecs", "index_codecs must begin with little-endian bytes"));
        }
    }
    Ok(Chain::new(chain, bytes)?)
}

/// The shape of a chunk; each length is at least 1 and addressable.
pub(crate) fn chunk_shape(chunk_shape: &[u64]) -> Result<PerAxis<usize>> {
    chunk_shape
        .iter()
        .map(|count| {
            usize::try_from(*count)
                .ok()
                .filter(|count| *count > 0 && isize::try_from(*count).is_ok())
                .ok_or_else(|| fault("chunk_shape", format!("{count} along one axis; at least 1")))
        })
        .collect()
}

pub(crate) fn transposed(configuration: &Value, order: &[usize]) -> Result<PerAxis<usize>> {
    let given: Option<PerAxis<usize>> =
        configuration.get("order").and_then(Value::as_array).and_then(|order| {
            order.iter().map(|axis| axis.as_u64().map(|axis| axis as usize)).collect()
        });
    let given = given.unwrap_or_default();
    let mut sorted = given.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..order.len()) {
        return Err(fault("codecs", format!("transpose order {given:?} of {} axes", order.len())));
    }
    Ok(given.iter().map(|axis| order[*axis]).collect())
}

/// Strides along each axis, in `unit`s, if the axes are stored in `order`, the last one fastest.
pub(crate) fn strides(shape: &[usize], order: &[usize], unit: usize) -> PerAxis<isize> {
    let mut strides: PerAxis<isize> = shape.iter().map(|_| 0).collect();
    let mut stride = unit as isize;
    for axis in order.iter().rev() {
        strides[*axis] = stride;
        stride *= shape[*axis] as isize;
    }
    strides
}
