//! Whether stored bytes have a length that is possible for the chunk.

use zarrix_codec::CodecError;

use crate::error::{CodecResult, Result, corrupt};

/// Refuses an uncompressed chunk of another length than declared.
pub(crate) fn check_length(stored_bytes: usize, expected: usize) -> CodecResult<()> {
    if stored_bytes == expected {
        return Ok(());
    }
    Err(CodecError::corrupt(
        "bytes",
        format!("{stored_bytes} bytes stored where the chunk has {expected}"),
    ))
}

/// The bytes of a stored chunk, if there are not more than `max`.
pub(crate) fn check_max_length<'a>(key: &str, stored: &'a [u8], max: usize) -> Result<&'a [u8]> {
    if stored.len() <= max {
        return Ok(stored);
    }
    let reason =
        format!("more bytes are stored than the {max} that a chunk of this array can have");
    Err(corrupt(key, stored.len(), CodecError::corrupt("chunk", reason)))
}
