//! Variable-length chunks: strings, bytes, ragged arrays, objects.
//!
//! The codecs decode such a chunk to a run of bytes of undeclared length, and only the caller
//! understands its elements. The engine does the rest as for other chunks: which chunks are
//! touched, which elements are selected, and where each lies in the caller's memory; shards, locks
//! and the pool. Two things are left to the caller: to extract elements from a decoded chunk, and
//! to make a new one from an old one. We rejected handing complete chunks to the caller: every kind
//! of selection would then exist twice, and a crop would hold all chunks that it touches.

use std::sync::Arc;

use zarrix_codec::{ChainScratch, Codec, CodecError};

use crate::error::CodecResult;
use crate::layout::axes::PerAxis;
use crate::layout::bounds::with_slack;

/// How a variable-length chunk is stored.
#[derive(Debug)]
pub(crate) struct VariableChunk {
    /// Strides from one element to the next along each axis, in elements.
    pub strides: PerAxis<isize>,
    codecs: Vec<Arc<dyn Codec>>,
    /// `limits[i]` is the maximum that codec `i` may decode to; the last one limits the stored
    /// bytes.
    limits: Vec<usize>,
}

impl VariableChunk {
    pub fn new(strides: PerAxis<isize>, codecs: Vec<Arc<dyn Codec>>, max_bytes: usize) -> Self {
        let mut limits = vec![max_bytes];
        for codec in &codecs {
            limits.push(with_slack(codec.encoded_size(limits[limits.len() - 1])));
        }
        Self { strides, codecs, limits }
    }

    pub fn encoded_limit(&self) -> usize {
        self.limits[self.codecs.len()]
    }

    pub fn decode<'a>(
        &self,
        encoded: &'a [u8],
        memory: &'a mut Vec<u8>,
        chain: &mut ChainScratch,
    ) -> CodecResult<&'a [u8]> {
        let mut stages = self.codecs.iter().zip(&self.limits).rev();
        let Some((last, limit)) = stages.next() else {
            return Ok(encoded);
        };
        last.decode_bounded(encoded, *limit, memory, &mut chain.codec).map_err(too_long)?;
        let mut spare = Vec::new();
        for (codec, limit) in stages {
            codec.decode_bounded(memory, *limit, &mut spare, &mut chain.codec).map_err(too_long)?;
            std::mem::swap(memory, &mut spare);
        }
        Ok(memory)
    }

    pub fn encode(
        &self,
        mut decoded: Vec<u8>,
        out: &mut Vec<u8>,
        chain: &mut ChainScratch,
    ) -> CodecResult<()> {
        for codec in &self.codecs {
            codec.encode(&decoded, out, &mut chain.codec)?;
            std::mem::swap(&mut decoded, out);
        }
        std::mem::swap(&mut decoded, out);
        Ok(())
    }
}

/// Names the setting if a chunk decodes to more than it allows.
fn too_long(error: CodecError) -> CodecError {
    match error {
        CodecError::Corrupt { codec, reason } if reason.starts_with("decodes to more than") => {
            let setting = "config.max_variable_chunk_bytes (or max_chunk_bytes, if lower)";
            CodecError::Corrupt {
                codec,
                reason: format!("{reason}, which is {setting}; raise it if the chunk is valid"),
            }
        }
        error => error,
    }
}
