//! Decoding to an undeclared length, in a buffer that grows up to a bound.
//!
//! Such lengths exist only between two compressors of one chain. The first size is the hint of the
//! codec, so that a correct hint costs nothing and a false one costs at most the bound. Each
//! further attempt doubles the size, so that all attempts together cost about twice the last one.

use crate::error::{CodecError, Result};
use crate::memory::Grow;

/// Fills `dst` by `attempt`, which returns the bytes written, or `None` if the space is too small.
///
/// Returns whether the decoded form fits into `limit_bytes`; `dst` then holds exactly that form.
pub(crate) fn grow(
    dst: &mut Vec<u8>,
    hint_bytes: usize,
    limit_bytes: usize,
    mut attempt: impl FnMut(&mut [u8]) -> Result<Option<usize>>,
) -> Result<bool> {
    let mut room = hint_bytes.max(256).min(limit_bytes);
    loop {
        dst.set_length(room)?;
        if let Some(bytes) = attempt(dst)? {
            dst.truncate(bytes);
            return Ok(true);
        }
        if room == limit_bytes {
            dst.clear();
            return Ok(false);
        }
        room = room.saturating_mul(2).min(limit_bytes);
    }
}

/// The error for what [`grow`] could not fit.
pub(crate) fn too_long(codec: &'static str, limit_bytes: usize) -> CodecError {
    CodecError::corrupt(codec, format!("decodes to more than {limit_bytes} bytes"))
}
