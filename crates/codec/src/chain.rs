//! A chain of codecs, bound to the number of bytes that a chunk decodes to.
//!
//! Binding once is what makes decoding cheap and safe: the length between any two codecs is known
//! exactly or is bounded before the first byte is read, so the last codec decodes straight into
//! the caller's destination and nothing between allocates more than its bound.

use std::any::Any;
use std::sync::Arc;

use crate::blosc::{BlockEncoder, Blosc, Frame};
use crate::codec::{Codec, EncodedSize, Picture};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::scratch::Scratch;

/// Scratch of one thread for whole chains.
#[derive(Debug, Default)]
pub struct ChainScratch {
    /// What single codecs need.
    pub codec: Scratch,
    front: Vec<u8>,
    back: Vec<u8>,
}

/// Runs `work` of a codec that has a chain inside, with a chain's scratch around the codec's own.
pub(crate) fn with_chain<T>(scratch: &mut Scratch, work: impl FnOnce(&mut ChainScratch) -> T) -> T {
    let mut chain = ChainScratch::default();
    std::mem::swap(&mut chain.codec, scratch);
    let result = work(&mut chain);
    std::mem::swap(&mut chain.codec, scratch);
    result
}

/// Codecs in the order of encoding, bound to the decoded length.
#[derive(Debug)]
pub struct Chain {
    codecs: Vec<Arc<dyn Codec>>,
    /// `sizes[i]` is what codec `i` encodes; the last is what the whole chain gives.
    sizes: Vec<EncodedSize>,
}

/// Bytes in an encoded intermediate beyond our own encoder's bound: other encoders may spend more.
fn decode_limit(bound: usize) -> usize {
    bound.saturating_add(bound / 4).saturating_add(4096)
}

impl Chain {
    /// Binds `codecs` to inputs of `decoded_bytes`.
    ///
    /// # Errors
    ///
    /// [`CodecError::Configuration`] when a codec cannot encode what reaches it, or when a bound
    /// does not fit the address space.
    pub fn new(codecs: Vec<Arc<dyn Codec>>, decoded_bytes: usize) -> Result<Self> {
        let mut sizes = vec![EncodedSize::Exact(decoded_bytes)];
        let mut size = EncodedSize::Exact(decoded_bytes);
        for codec in &codecs {
            size = match size {
                EncodedSize::Exact(bytes) => {
                    codec.check_decoded(bytes)?;
                    codec.encoded_size(bytes)
                }
                EncodedSize::AtMost(bytes) => match codec.encoded_size(bytes) {
                    EncodedSize::Exact(bytes) | EncodedSize::AtMost(bytes) => {
                        EncodedSize::AtMost(bytes)
                    }
                },
            };
            let (EncodedSize::Exact(bytes) | EncodedSize::AtMost(bytes)) = size;
            if isize::try_from(bytes).is_err() {
                return Err(CodecError::Configuration {
                    codec: codec.name().to_owned(),
                    reason: format!(
                        "a chunk of {decoded_bytes} bytes does not fit the address space"
                    ),
                });
            }
            sizes.push(size);
        }
        Ok(Self { codecs, sizes })
    }

    /// Whether encoded and decoded bytes are the same (no codecs).
    pub fn is_identity(&self) -> bool {
        self.codecs.is_empty()
    }

    /// About how many times as long as copying the decoded bytes decoding takes; 1 without codecs.
    pub fn decode_weight(&self) -> usize {
        self.codecs.iter().map(|codec| codec.decode_weight()).max().unwrap_or(1)
    }

    /// How long the encoded form can get.
    pub fn encoded_size(&self) -> EncodedSize {
        self.sizes.last().copied().unwrap_or(EncodedSize::Exact(0))
    }

    fn decoded_bytes(&self) -> usize {
        match self.sizes.first() {
            Some(&(EncodedSize::Exact(bytes) | EncodedSize::AtMost(bytes))) => bytes,
            None => 0,
        }
    }

    /// Whether encoding reads each byte of its source at most once: the output of the first codec
    /// is our own memory.
    pub fn reads_source_once(&self) -> bool {
        self.codecs.first().is_none_or(|first| first.reads_source_once())
    }

    /// Replaces `dst` by the encoded form of `src`, which has the length that the chain is bound
    /// to.
    pub fn encode_into(
        &self,
        src: &[u8],
        dst: &mut Vec<u8>,
        scratch: &mut ChainScratch,
    ) -> Result<()> {
        self.encode_all(src, dst, scratch).map_err(CodecError::while_encoding)
    }

    fn encode_all(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut ChainScratch) -> Result<()> {
        let ChainScratch { codec: inner, front, back } = scratch;
        let Some((last, rest)) = self.codecs.split_last() else {
            dst.set_to(src)?;
            return Ok(());
        };
        let Some((first, between)) = rest.split_first() else {
            return last.encode(src, dst, inner);
        };
        first.encode(src, front, inner)?;
        for codec in between {
            codec.encode(front, back, inner)?;
            std::mem::swap(front, back);
        }
        last.encode(front, dst, inner)
    }

    /// Decodes `src` into `dst`, which has the length the chain is bound to.
    ///
    /// # Errors
    ///
    /// [`CodecError::Corrupt`] when `src` does not decode to exactly that length.
    ///
    pub fn decode_into(
        &self,
        src: &[u8],
        dst: &mut [u8],
        scratch: &mut ChainScratch,
    ) -> Result<()> {
        self.decode_prefix(src, dst.len(), dst, scratch)
    }

    /// Decodes the first `needed` bytes at least; `dst` has the length the chain is bound to, and
    /// gets any values after them.
    ///
    /// # Errors
    ///
    /// [`CodecError::Corrupt`] when `src` does not decode to `dst.len()` bytes, as far as it is
    /// decoded.
    ///
    /// It is long because each stage takes its buffers from the one before.
    pub fn decode_prefix(
        &self,
        src: &[u8],
        needed: usize,
        dst: &mut [u8],
        scratch: &mut ChainScratch,
    ) -> Result<()> {
        if dst.len() != self.decoded_bytes() {
            return Err(CodecError::corrupt(
                "chain",
                format!("bound to {} bytes, asked for {}", self.decoded_bytes(), dst.len()),
            ));
        }
        let Some((first, rest)) = self.codecs.split_first() else {
            if src.len() != dst.len() {
                return Err(CodecError::corrupt(
                    "bytes",
                    format!("{} bytes stored, {} expected", src.len(), dst.len()),
                ));
            }
            dst.copy_from_slice(src);
            return Ok(());
        };
        let ChainScratch { codec: inner, front, back } = scratch;
        // Where the bytes of the stage are: in `src` until a codec has really produced some.
        let mut in_front = false;
        let mut range = 0..src.len();
        for (codec, &size) in rest.iter().zip(&self.sizes[1..]).rev() {
            let input = if in_front { &front[range.clone()] } else { &src[range.clone()] };
            if let Some(payload) = codec.payload(input)? {
                range = range.start + payload.start..range.start + payload.end;
                continue;
            }
            match size {
                EncodedSize::Exact(bytes) => {
                    back.set_length(bytes)?;
                    codec.decode_into(input, back, inner)?;
                }
                EncodedSize::AtMost(bound) => {
                    codec.decode_bounded(input, decode_limit(bound), back, inner)?;
                }
            }
            std::mem::swap(front, back);
            in_front = true;
            range = 0..front.len();
        }
        let input = if in_front { &front[range] } else { &src[range] };
        if needed < dst.len() {
            return first.decode_prefix(input, needed, dst, inner);
        }
        first.decode_into(input, dst, inner)
    }

    /// Whether a part of the encoded bytes is enough to decode a part: one codec, with blocks.
    ///
    /// A checksum over the encoded bytes needs all of them.
    pub fn decodes_parts(&self) -> bool {
        matches!(self.codecs.as_slice(), [only] if blosc_of(only).is_some())
    }

    /// Whether the format of the first codec has blocks.
    pub fn has_blocks(&self) -> bool {
        self.codecs.first().and_then(blosc_of).is_some()
    }

    /// The encoder of separate blocks of a chunk, if the chain is one codec that has blocks.
    pub fn block_encoder(&self) -> Option<BlockEncoder> {
        let [only] = self.codecs.as_slice() else { return None };
        blosc_of(only)?.block_encoder(self.decoded_bytes())
    }

    /// The name of a codec by which elements that are decoded and encoded again may change.
    pub fn lossy(&self) -> Option<&str> {
        self.codecs.iter().find(|codec| codec.is_lossy()).map(|codec| codec.name())
    }

    /// The first codec and its stream, if it is one of pictures, of which parts can be decoded.
    ///
    /// `Some` only if all codecs after it are checksums, which are verified here.
    pub fn picture<'a>(&self, src: &'a [u8]) -> Result<Option<(&dyn Picture, &'a [u8])>> {
        let Some((first, rest)) = self.codecs.split_first() else { return Ok(None) };
        let Some(picture) = first.picture() else { return Ok(None) };
        Ok(payload_of(rest, src)?.map(|stream| (picture, stream)))
    }

    /// A view that decodes block by block, if the format of the first codec allows it.
    ///
    /// `Some` only if all codecs after it are checksums, which are verified here.
    pub fn blocks<'a>(&self, src: &'a [u8]) -> Result<Option<Frame<'a>>> {
        let Some((first, rest)) = self.codecs.split_first() else { return Ok(None) };
        if blosc_of(first).is_none() {
            return Ok(None);
        }
        let Some(bytes) = payload_of(rest, src)? else { return Ok(None) };
        Frame::parse(bytes, self.decoded_bytes()).map(Some)
    }
}

/// What checksums hold, once it was compared with them; `None` if a codec is not a checksum.
fn payload_of<'a>(codecs: &[Arc<dyn Codec>], src: &'a [u8]) -> Result<Option<&'a [u8]>> {
    let mut bytes = src;
    for codec in codecs.iter().rev() {
        match codec.payload(bytes)? {
            Some(payload) => bytes = &bytes[payload],
            None => return Ok(None),
        }
    }
    Ok(Some(bytes))
}

/// The codec, if it is Blosc: the only one whose format has blocks.
fn blosc_of(codec: &Arc<dyn Codec>) -> Option<&Blosc> {
    let codec: &dyn Any = &**codec;
    codec.downcast_ref()
}
