//! The trait of all codecs.

use std::any::Any;
use std::ops::Range;

use crate::error::Result;
use crate::scratch::Scratch;

/// How long the encoded form of a known number of bytes can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodedSize {
    /// Always this many bytes (shuffle, delta, checksums, ...).
    Exact(usize),
    /// Anything up to this many bytes (compressors).
    AtMost(usize),
}

/// The weight of decoding LZ4, or a filter: 5 GB a second.
pub(crate) const FAST: usize = 2;
/// The weight of decoding by tables of codes, as zstd does: 1 GB a second or less.
pub(crate) const SLOW: usize = 10;

/// One step of a codec chain, bound to its configuration.
///
/// Encoding is total for the input it was bound to; decoding is total for every input: any bytes
/// give the declared number of bytes or an error, never a panic, a hang or an allocation larger
/// than the destination.
pub trait Codec: Any + Send + Sync + std::fmt::Debug {
    /// The name users know, for messages.
    fn name(&self) -> &str;

    /// How long `decoded_bytes` bytes can get when encoded.
    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize;

    /// Whether `decoded_bytes` bytes can be encoded at all (whole elements, for example).
    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        let _ = decoded_bytes;
        Ok(())
    }

    /// Whether [`encode`](Codec::encode) reads each byte of `src` at most once.
    ///
    /// Other threads and processes may change the caller's array while it is encoded. An encoder
    /// that reads once then mixes old and new elements, and its output still decodes. One that
    /// reads twice can store a checksum of other bytes than it stored, and libdeflate writes
    /// outside of its buffer. The engine gives such an encoder a copy; false is the safe answer.
    fn reads_source_once(&self) -> bool {
        false
    }

    /// Whether decoding what was encoded gives other values.
    ///
    /// A part of a chunk cannot be replaced then without changing the rest of it.
    fn is_lossy(&self) -> bool {
        false
    }

    /// The codec as one of pictures, of which parts can be decoded.
    fn picture(&self) -> Option<&dyn Picture> {
        None
    }

    /// Replaces the content of `dst` by the encoded form of `src`.
    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()>;

    /// Decodes `src` into exactly `dst.len()` bytes; any other decoded length is an error.
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()>;

    /// Decodes `src` to the first `needed` bytes of `dst`, which is as long as the decoded form.
    /// Other bytes of `dst` are left as they are, or get any values.
    ///
    /// A codec that can stop where nothing more is needed does so, unless a checksum of its own
    /// covers the decoded bytes.
    fn decode_prefix(
        &self,
        src: &[u8],
        needed: usize,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let _ = needed;
        self.decode_into(src, dst, scratch)
    }

    /// About how many times as long as copying the decoded bytes decoding takes.
    fn decode_weight(&self) -> usize {
        match self.encoded_size(1) {
            EncodedSize::Exact(_) => FAST,
            EncodedSize::AtMost(_) => SLOW,
        }
    }

    /// Replaces the content of `dst` by the decoded form of `src`, at most `limit_bytes` long.
    ///
    /// Needed only below another compressor, where the length between the two is not declared.
    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()>;

    /// The range of `src` that holds the decoded bytes, after verification; only checksums have
    /// one.
    fn payload(&self, src: &[u8]) -> Result<Option<Range<usize>>> {
        let _ = src;
        Ok(None)
    }
}

/// A codec whose decoded form is rows of bytes, of which a part costs less than all of them.
pub trait Picture {
    /// Bytes of a decoded row.
    fn row_bytes(&self) -> usize;

    /// Decodes the bytes `bytes` of the rows `rows` to their places in `dst`, which is as long as
    /// the decoded form. Other bytes of `dst` are left as they are, or get their decoded values.
    fn decode_part(
        &self,
        src: &[u8],
        rows: Range<usize>,
        bytes: Range<usize>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()>;
}
