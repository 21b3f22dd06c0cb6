//! Decoders that work step by step, into a destination of a known or a bounded length.
//!
//! bz2 and lzma are so slow that a call must be cancellable within a chunk, so each step decodes a
//! slice.

use crate::error::{CodecError, Result};
use crate::memory::Refused;
use crate::scratch::Scratch;

/// Maximum input and output of one step: some milliseconds.
pub(crate) const SLICE_BYTES: usize = 128 << 10;

/// Why a decoder stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There is more than the destination holds.
    TooSmall,
    /// What is wrong with the bytes.
    Bad(&'static str),
    /// The system refused memory for the decoder.
    Memory,
    Interrupted,
}

/// What one step of a decoder did.
pub(crate) struct Step {
    pub(crate) read_bytes: usize,
    pub(crate) written_bytes: usize,
    /// Whether the stream is at its end.
    pub(crate) ended: bool,
}

/// Runs one stream from the start of `src` into `dst`; returns the bytes read and written.
pub(crate) fn run(
    src: &[u8],
    dst: &mut [u8],
    scratch: &Scratch,
    mut step: impl FnMut(&[u8], &mut [u8]) -> std::result::Result<Step, Failure>,
) -> std::result::Result<(usize, usize), Failure> {
    let (mut read, mut written) = (0, 0);
    loop {
        scratch.poll().map_err(|_| Failure::Interrupted)?;
        // With a full destination the stream may end but not write one more byte.
        let mut beyond = [0];
        let full = written == dst.len();
        let end = dst.len().min(written + SLICE_BYTES);
        let room = if full { &mut beyond[..] } else { &mut dst[written..end] };
        let done = step(&src[read..], room)?;
        if full && done.written_bytes > 0 {
            return Err(Failure::TooSmall);
        }
        read += done.read_bytes;
        written += done.written_bytes;
        if done.ended {
            return Ok((read, written));
        }
        if done.read_bytes == 0 && done.written_bytes == 0 {
            return Err(Failure::Bad("the stream is cut"));
        }
    }
}

/// Decodes `src` with `decode`, which must fill `dst` exactly.
pub(crate) fn decode_into(
    codec: &'static str,
    src: &[u8],
    dst: &mut [u8],
    decode: impl FnOnce(&[u8], &mut [u8]) -> std::result::Result<usize, Failure>,
) -> Result<()> {
    let expected = dst.len();
    let reason = match decode(src, dst) {
        Ok(bytes) if bytes == expected => return Ok(()),
        Ok(bytes) => format!("decodes to {bytes} bytes, {expected} expected"),
        Err(Failure::TooSmall) => format!("decodes to more than {expected} bytes"),
        Err(Failure::Bad(what)) => format!("{} bytes: {what}", src.len()),
        Err(Failure::Memory) => return Err(CodecError::Memory(Refused { bytes: expected })),
        Err(Failure::Interrupted) => return Err(CodecError::Interrupted),
    };
    Err(CodecError::corrupt(codec, reason))
}

/// Decodes `src` with `decode` to at most `limit_bytes` of `dst`.
pub(crate) fn decode_bounded(
    codec: &'static str,
    src: &[u8],
    limit_bytes: usize,
    dst: &mut Vec<u8>,
    decode: impl Fn(&[u8], &mut [u8]) -> std::result::Result<usize, Failure>,
) -> Result<()> {
    let hint = src.len().saturating_mul(4);
    let fits = crate::bounded::grow(dst, hint, limit_bytes, |room| match decode(src, room) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Failure::TooSmall) => Ok(None),
        Err(Failure::Memory) => Err(CodecError::Memory(Refused { bytes: room.len() })),
        Err(Failure::Interrupted) => Err(CodecError::Interrupted),
        Err(Failure::Bad(what)) => {
            Err(CodecError::corrupt(codec, format!("{} bytes: {what}", src.len())))
        }
    })?;
    if fits { Ok(()) } else { Err(crate::bounded::too_long(codec, limit_bytes)) }
}
