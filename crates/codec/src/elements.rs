//! Filters that map each element to one element: their lengths, checks and loops, in one place.

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::scratch::Scratch;

/// A filter of elements of one width to elements of another.
pub(crate) trait Filter: Send + Sync + std::fmt::Debug {
    /// The name users know.
    fn name(&self) -> &'static str;

    /// Bytes of an element before encoding and after it.
    fn element_bytes(&self) -> (usize, usize);

    /// Encodes the elements of `src` to as many of `dst`.
    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()>;

    /// Decodes the elements of `src` to as many of `dst`.
    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()>;
}

/// The codec that a [`Filter`] is.
#[derive(Debug)]
pub(crate) struct Elements<F>(pub(crate) F);

impl<F: Filter> Elements<F> {
    /// The length of `bytes` bytes if every `from` of them become `to`.
    fn scaled(&self, bytes: usize, from: usize, to: usize) -> std::result::Result<usize, String> {
        if !bytes.is_multiple_of(from) {
            return Err(format!("{bytes} bytes are not a whole number of {from}-byte elements"));
        }
        (bytes / from).checked_mul(to).ok_or_else(|| format!("{bytes} bytes are too many"))
    }

    fn decoded_bytes(&self, src: &[u8]) -> Result<usize> {
        let (decoded, encoded) = self.0.element_bytes();
        self.scaled(src.len(), encoded, decoded)
            .map_err(|reason| CodecError::corrupt(self.0.name(), reason))
    }
}

impl<F: Filter + 'static> Codec for Elements<F> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        let (decoded, encoded) = self.0.element_bytes();
        EncodedSize::Exact((decoded_bytes / decoded).saturating_mul(encoded))
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        let (decoded, encoded) = self.0.element_bytes();
        self.scaled(decoded_bytes, decoded, encoded).map(|_| ()).map_err(|reason| {
            CodecError::Configuration {
                codec: self.0.name().to_owned(),
                reason: format!("a chunk of {reason}"),
            }
        })
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        let (decoded, encoded) = self.0.element_bytes();
        let bytes = self
            .scaled(src.len(), decoded, encoded)
            .map_err(|reason| CodecError::Encode { codec: self.0.name(), reason })?;
        dst.set_length(bytes)?;
        self.0.encode_run(src, dst)
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let bytes = self.decoded_bytes(src)?;
        if bytes != dst.len() {
            return Err(CodecError::corrupt(
                self.0.name(),
                format!("{} bytes hold {bytes}, {} expected", src.len(), dst.len()),
            ));
        }
        self.0.decode_run(src, dst)
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        _scratch: &mut Scratch,
    ) -> Result<()> {
        let bytes = self.decoded_bytes(src)?;
        if bytes > limit_bytes {
            return Err(crate::bounded::too_long(self.0.name(), limit_bytes));
        }
        dst.set_length(bytes)?;
        self.0.decode_run(src, dst)
    }
}
