//! A shard as one codec of a chain: read and written whole.
//!
//! After a codec that mixes the elements of a chunk (differences, another shape), inner chunks hold
//! nothing that could be read by itself. Such a shard encodes one run of elements, and the codecs
//! before it are an ordinary chain.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use zarrix_codec::{Codec, CodecError, EncodedSize, Scratch as CodecScratch};

use crate::chunk::buffer::{Edit, ReadBuffer, WriteBuffer};
use crate::chunk::chunk_read::{ChunkRead, DecodeScratch};
use crate::chunk::decode::decode_chunk;
use crate::chunk::encode::encode_chunk;
use crate::chunk::shard_index::{NAME, damaged};
use crate::error::{Result, fault};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{ChunkLayout, Context, chunk_shape, shard_of};
use crate::layout::document::Layout;
use crate::layout::fill::Fill;
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::plan::Part;
use crate::threads::scratch;
use zarrix_codec::memory::Grow;

/// A shard whose elements lie one after the other in C order.
#[derive(Debug)]
struct ShardCodec {
    layout: Layout,
    chunk: Arc<ChunkLayout>,
    /// All elements along each axis of the run.
    parts: PerAxis<Part>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    shape: Vec<u64>,
    item_bytes: usize,
    /// What missing inner chunks read as: hex digits of one element, or null for zeros.
    fill_value: Option<String>,
    shard: Value,
}

/// The codec that a `zarrix.shard` configuration describes.
pub(crate) fn shard_codec(configuration: &Value, context: Context<'_>) -> Result<Arc<dyn Codec>> {
    let given = Configuration::deserialize(configuration)
        .map_err(|error| fault("codecs", format!("zarrix.shard: {error}")))?;
    let Configuration { item_bytes, .. } = given;
    let context = Context { item_bytes, max_variable_bytes: None, ..context };
    let shape = chunk_shape(&given.shape)?;
    let fill = Fill::of(given.fill_value.as_deref(), item_bytes)?;
    let order: PerAxis<usize> = (0..shape.len()).collect();
    let shard = shard_of(&shape, &order, &given.shard, context)?;
    let chunk = Arc::new(ChunkLayout::sharded(shape, shard, item_bytes)?);
    let mut stride = chunk.bytes as isize;
    let parts = chunk.shape.iter().map(|count| {
        stride /= *count as isize;
        Part::Strided { first: 0, step: 1, count: *count, offset: 0, stride }
    });
    let parts = parts.collect();
    let layout = Layout::of_chunk(Arc::clone(&chunk), item_bytes, fill);
    Ok(Arc::new(ShardCodec { layout, chunk, parts }))
}

impl ShardCodec {
    fn selection(&self) -> ChunkSelection<'_> {
        ChunkSelection::Box { parts: self.parts.iter().collect(), base: 0, out: 0 }
    }
}

impl Codec for ShardCodec {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, _decoded_bytes: usize) -> EncodedSize {
        EncodedSize::AtMost(self.chunk.encoding.encoded_limit())
    }

    fn check_decoded(&self, decoded_bytes: usize) -> std::result::Result<(), CodecError> {
        let bytes = self.chunk.bytes;
        if decoded_bytes == bytes {
            return Ok(());
        }
        let reason = format!("{decoded_bytes} bytes for a shard of {bytes}");
        Err(CodecError::Configuration { codec: NAME.to_owned(), reason })
    }

    /// Its inner chunks are encoded one by one, each as its own codecs allow.
    fn reads_source_once(&self) -> bool {
        true
    }

    fn encode(
        &self,
        src: &[u8],
        dst: &mut Vec<u8>,
        _scratch: &mut CodecScratch,
    ) -> std::result::Result<(), CodecError> {
        self.check_decoded(src.len())?;
        let chunk = &*self.chunk;
        let buffer = WriteBuffer {
            from: src.as_ptr(),
            objects: None,
            layout: &self.layout,
            keep_empty: self.layout.write_empty_chunks,
        };
        let selected = [self.selection()];
        let edit = Edit { selected: &selected, limits: &chunk.shape, buffer };
        scratch::with(|s| encode_chunk(chunk, None, edit, s, dst))?;
        Ok(())
    }

    fn decode_into(
        &self,
        src: &[u8],
        dst: &mut [u8],
        _scratch: &mut CodecScratch,
    ) -> std::result::Result<(), CodecError> {
        let chunk = &*self.chunk;
        if dst.len() != chunk.bytes {
            return Err(damaged(format!("a shard of {} bytes, not {}", chunk.bytes, dst.len())));
        }
        let selected = &[self.selection()];
        let buffer = &ReadBuffer::over(dst, &self.layout);
        let read = ChunkRead { chunk, selected, buffer };
        scratch::with(|s| decode_chunk(&read, Some(src), &mut DecodeScratch::of(s)))
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut CodecScratch,
    ) -> std::result::Result<(), CodecError> {
        let bytes = self.chunk.bytes;
        if bytes > limit_bytes {
            return Err(damaged(format!("decodes to {bytes} bytes, at most {limit_bytes} fit")));
        }
        dst.set_length(bytes)?;
        self.decode_into(src, dst, scratch)
    }
}
