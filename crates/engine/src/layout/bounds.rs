//! How many bytes the encoded and the stored form of a chunk may have.
//!
//! The length of a stored value cannot be trusted: a sparse file costs nothing to make, and would
//! be read into memory before any codec sees it. The metadata bounds the length of a chunk, because
//! codecs expand their input by little. The slack is for encoders that expand it more than ours.

use zarrix_codec::EncodedSize;

/// The bound with room for encoders that produce more bytes than ours.
pub(crate) fn with_slack(size: EncodedSize) -> usize {
    match size {
        EncodedSize::Exact(bytes) => bytes,
        EncodedSize::AtMost(bytes) => bytes.saturating_add(bytes / 4).saturating_add(4096),
    }
}

/// What a stored chunk may have beyond twice the maximum of our own encoders.
const SLACK_BYTES: usize = 8 << 20;

/// The maximum that is read of a stored chunk.
pub(crate) fn max_stored_bytes(encoded_limit: usize) -> usize {
    encoded_limit.saturating_mul(2).saturating_add(SLACK_BYTES)
}
