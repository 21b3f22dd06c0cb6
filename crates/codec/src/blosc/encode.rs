//! The Blosc codec of the registry, which encodes in our own blocks or by c-blosc.

use std::ffi::{c_int, c_void};

use super::blocks::{BlockEncoder, Streams};
use super::config::{Blosc, NAME, corrupt};
use super::decode::Frame;
use super::header::HEADER_BYTES;
use crate::codec::{Codec, EncodedSize};
use crate::codec::{FAST, SLOW};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::scratch::Scratch;

/// The longest input of a Blosc 1 frame.
const MAX_INPUT_BYTES: usize = i32::MAX as usize - HEADER_BYTES;

impl Blosc {
    /// The encoder of separate blocks of `decoded_bytes`; `None` for compressors of c-blosc alone.
    pub fn block_encoder(&self, decoded_bytes: usize) -> Option<BlockEncoder> {
        let streams = Streams::named(self.compressor.0.to_bytes())?;
        Some(BlockEncoder::new(self, streams, decoded_bytes))
    }

    /// The frame as c-blosc makes it, in one call.
    fn encode_by_library(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let room = src.len() + HEADER_BYTES;
        dst.clear();
        dst.make_room(room)?;
        // SAFETY: both buffers are valid for the lengths given and do not overlap; the name ends
        // with a zero byte; level and filter are in c-blosc's range; with one thread and the
        // contextual call c-blosc has no state that another thread could touch.
        let written = unsafe {
            blosc_src::blosc_compress_ctx(
                c_int::from(self.level),
                self.shuffle as c_int,
                self.element_bytes,
                src.len(),
                src.as_ptr().cast::<c_void>(),
                dst.as_mut_ptr().cast::<c_void>(),
                room,
                self.compressor.0.as_ptr(),
                self.block_bytes,
                1,
            )
        };
        match usize::try_from(written) {
            Ok(written) if 0 < written && written <= room => {
                // SAFETY: c-blosc has written as many bytes, and there is room for them.
                unsafe { dst.set_len(written) };
                Ok(())
            }
            _ => Err(refused(format!("c-blosc returned {written} for {} bytes", src.len()))),
        }
    }
}

fn refused(reason: String) -> CodecError {
    CodecError::Encode { codec: NAME, reason }
}

impl Codec for Blosc {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::AtMost(decoded_bytes.saturating_add(HEADER_BYTES))
    }

    fn decode_weight(&self) -> usize {
        let is_fast = [c"blosclz", c"lz4", c"lz4hc", c"snappy"].contains(&self.compressor.0);
        if is_fast { FAST } else { SLOW }
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        if decoded_bytes > MAX_INPUT_BYTES {
            return Err(CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: format!(
                    "a chunk of {decoded_bytes} bytes; Blosc takes {MAX_INPUT_BYTES} (smaller \
                     chunks, or another compressor)"
                ),
            });
        }
        Ok(())
    }

    /// Each of our own blocks is copied to scratch before its streams are compressed; c-blosc
    /// compresses untransposed bytes in place.
    fn reads_source_once(&self) -> bool {
        Streams::named(self.compressor.0.to_bytes()).is_some()
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        if src.len() > MAX_INPUT_BYTES {
            return Err(refused(format!("{} bytes, more than {MAX_INPUT_BYTES}", src.len())));
        }
        match self.block_encoder(src.len()) {
            Some(blocks) => blocks.encode(src, dst, scratch),
            None => self.encode_by_library(src, dst),
        }
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let frame = Frame::parse(src, dst.len())?;
        scratch.ignore(src.len() - frame.encoded_bytes());
        frame.decode_into(dst, scratch)
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let declared = src
            .get(4..)
            .and_then(|rest| rest.first_chunk::<4>())
            .and_then(|size| usize::try_from(i32::from_le_bytes(*size)).ok())
            .ok_or_else(|| corrupt("no decoded size in the header"))?;
        if declared > limit_bytes {
            return Err(crate::bounded::too_long(NAME, limit_bytes));
        }
        let frame = Frame::parse(src, declared)?;
        scratch.ignore(src.len() - frame.encoded_bytes());
        dst.set_length(declared)?;
        frame.decode_into(dst, scratch)
    }
}
