//! LZ4 blocks, and their numcodecs form: a length in four little-endian bytes, then a block.
//!
//! The C library decodes. It is linked for the encoder of Blosc anyway, and the fastest port to
//! Rust, lz4_flex, took 1.5 times as long on smooth data and many times as long on long runs.

use std::ffi::{c_char, c_int};

use crate::codec::FAST;
use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::scratch::Scratch;

const NAME: &str = "lz4";
const HEADER_BYTES: usize = 4;
/// The longest input the LZ4 block format takes.
const MAX_INPUT_BYTES: usize = 0x7E00_0000;

/// Decodes one block into `dst`; returns the bytes written, `None` when it does not fit or is bad.
pub(crate) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (src_bytes, dst_bytes) = lengths(src, dst)?;
    // SAFETY: both pointers are valid for the lengths given; this entry point reads and writes
    // inside those for any input.
    let written = unsafe {
        lz4_sys::LZ4_decompress_safe(
            src.as_ptr().cast::<c_char>(),
            dst.as_mut_ptr().cast::<c_char>(),
            src_bytes,
            dst_bytes,
        )
    };
    usize::try_from(written).ok()
}

/// Compresses `src` into the front of `dst`; larger `acceleration` is faster. Returns the bytes
/// written, `None` if they do not fit.
pub(crate) fn compress(src: &[u8], dst: &mut [u8], acceleration: i32) -> Option<usize> {
    let (src_bytes, dst_bytes) = lengths(src, dst)?;
    let (src, dst) = (src.as_ptr().cast::<c_char>(), dst.as_mut_ptr().cast::<c_char>());
    // SAFETY: both pointers are valid for the lengths given.
    let written =
        unsafe { lz4_sys::LZ4_compress_fast(src, dst, src_bytes, dst_bytes, acceleration) };
    usize::try_from(written).ok().filter(|written| *written > 0)
}

/// [`compress`] by the thorough encoder; a higher `level` is slower.
pub(crate) fn compress_slowly(src: &[u8], dst: &mut [u8], level: i32) -> Option<usize> {
    let (src_bytes, dst_bytes) = lengths(src, dst)?;
    let (src, dst) = (src.as_ptr().cast::<c_char>(), dst.as_mut_ptr().cast::<c_char>());
    // SAFETY: both pointers are valid for the lengths given.
    let written = unsafe { lz4_sys::LZ4_compress_HC(src, dst, src_bytes, dst_bytes, level) };
    usize::try_from(written).ok().filter(|written| *written > 0)
}

fn lengths(src: &[u8], dst: &[u8]) -> Option<(c_int, c_int)> {
    Some((c_int::try_from(src.len()).ok()?, c_int::try_from(dst.len()).ok()?))
}

/// The numcodecs LZ4 codec.
#[derive(Debug)]
pub struct Lz4 {
    acceleration: i32,
}

impl Lz4 {
    /// Larger `acceleration` is faster and compresses less; LZ4 itself clamps it.
    pub fn new(acceleration: i32) -> Self {
        Self { acceleration }
    }
}

/// The declared length and the block.
fn split_header(src: &[u8]) -> Result<(usize, &[u8])> {
    let Some((header, block)) = src.split_first_chunk::<HEADER_BYTES>() else {
        return Err(CodecError::corrupt(
            NAME,
            format!("{} bytes, shorter than the length header", src.len()),
        ));
    };
    let declared = usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX);
    Ok((declared, block))
}

fn decode_block(block: &[u8], dst: &mut [u8]) -> Result<()> {
    match decompress(block, dst) {
        Some(bytes) if bytes == dst.len() => Ok(()),
        Some(bytes) => Err(CodecError::corrupt(
            NAME,
            format!("the block decodes to {bytes} bytes, {} expected", dst.len()),
        )),
        None => Err(CodecError::corrupt(
            NAME,
            format!("{} bytes are not a block of {} bytes", block.len(), dst.len()),
        )),
    }
}

impl Codec for Lz4 {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        let bound = decoded_bytes.saturating_add(decoded_bytes / 255).saturating_add(16);
        EncodedSize::AtMost(bound.saturating_add(HEADER_BYTES))
    }

    fn decode_weight(&self) -> usize {
        FAST
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        if decoded_bytes > MAX_INPUT_BYTES {
            return Err(CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: format!(
                    "a chunk of {decoded_bytes} bytes; LZ4 takes {MAX_INPUT_BYTES} (smaller \
                     chunks, or another compressor)"
                ),
            });
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        let refused = |reason: &str| CodecError::Encode { codec: NAME, reason: reason.to_owned() };
        let src_bytes = c_int::try_from(src.len()).map_err(|_| refused("more than 2 GiB"))?;
        let EncodedSize::AtMost(bound) = self.encoded_size(src.len()) else {
            return Err(refused("no bound"));
        };
        dst.set_length(bound)?;
        dst[..HEADER_BYTES].copy_from_slice(&src_bytes.to_le_bytes());
        let written = compress(src, &mut dst[HEADER_BYTES..], self.acceleration)
            .ok_or_else(|| refused("the encoder refused the input"))?;
        dst.truncate(HEADER_BYTES + written);
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let (declared, block) = split_header(src)?;
        if declared != dst.len() {
            return Err(CodecError::corrupt(
                NAME,
                format!("the header says {declared} bytes, {} expected", dst.len()),
            ));
        }
        decode_block(block, dst)
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        _scratch: &mut Scratch,
    ) -> Result<()> {
        let (declared, block) = split_header(src)?;
        if declared > limit_bytes {
            return Err(crate::bounded::too_long(NAME, limit_bytes));
        }
        dst.set_length(declared)?;
        decode_block(block, dst)
    }
}
