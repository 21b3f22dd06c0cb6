//! Chunks of variable-length elements: strings, bytes, arrays, objects.
//!
//! What the codecs of such a chunk give is a blob, a run of bytes of a length that nothing declares,
//! and only the caller knows the elements in it. The engine does for them all that it does for
//! others: which chunks are touched, which of their elements, where each lies in the caller's
//! memory; shards, locks, the pool. It leaves two things to the caller: to take elements out of a
//! blob, and to make a new blob of an old one. The option that lost handed whole blobs to the
//! caller; every kind of selection would then exist twice, and a crop hold all that it touches.

use std::sync::Arc;

use zarrix_codec::{ChainScratch, Codec, CodecError};

use crate::error::CodecResult;
use crate::layout::axes::PerAxis;
use crate::layout::bounds::with_slack;

/// How a chunk of such elements is stored.
#[derive(Debug)]
pub(crate) struct VariableChunk {
    /// From one element to the next along each axis, in elements.
    pub strides: PerAxis<isize>,
    codecs: Vec<Arc<dyn Codec>>,
    /// `limits[i]` is the most that codec `i` may decode to; the last is what may be stored.
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
        mut blob: Vec<u8>,
        out: &mut Vec<u8>,
        chain: &mut ChainScratch,
    ) -> CodecResult<()> {
        for codec in &self.codecs {
            codec.encode(&blob, out, &mut chain.codec)?;
            std::mem::swap(&mut blob, out);
        }
        std::mem::swap(&mut blob, out);
        Ok(())
    }
}

/// Names the setting where a blob decodes to more than it allows.
fn too_long(error: CodecError) -> CodecError {
    match error {
        CodecError::Corrupt { codec, reason } if reason.starts_with("decodes to more than") => {
            let setting = "config.max_variable_chunk_bytes (or max_chunk_bytes, if lower)";
            CodecError::Corrupt {
                codec,
                reason: format!("{reason}, which is {setting}; raise it if this is no mistake"),
            }
        }
        error => error,
    }
}
