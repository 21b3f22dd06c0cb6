//! The codecs of this crate: those that decode and encode chunks themselves.

use std::sync::Arc;

use zarrix_codec::Codec;

use crate::chunk::shard_codec::shard_codec;
use crate::chunk::transpose_codec::transpose_codec;
use crate::error::Result;
use crate::layout::chunk::{CodecConfig, Context, ForeignCodecs};
use crate::layout::chunk_shapes::ChainOf;
use crate::layout::document::Layout;

impl Layout {
    /// Parses a layout document, and checks every number in it.
    ///
    /// Its codecs are those of all chunks, unless `chain_of` gives them by the shape of a chunk.
    pub fn parse(
        document: &str,
        foreign: ForeignCodecs<'_>,
        chain_of: Option<Arc<dyn ChainOf>>,
    ) -> Result<Self> {
        Self::with_codecs(document, foreign, chain_of, own_codec)
    }
}

fn own_codec(codec: &CodecConfig, context: Context<'_>) -> Option<Result<Arc<dyn Codec>>> {
    match codec.name.as_str() {
        "zarrix.shard" => Some(shard_codec(&codec.configuration, context)),
        "zarrix.transpose" => Some(transpose_codec(&codec.configuration)),
        _ => None,
    }
}
