//! The blocks of N5, as the registered codec `n5_default` stores them: a header, then one chain.
//!
//! The header of a block has its shape. Other writers of N5 store blocks at the edge of an array
//! that are shorter than the chunk; their missing part is filled. Our blocks are always complete.
//!
//! The first axis in the header is the fastest one of the elements.

use std::sync::Arc;

use crate::chain::{Chain, with_chain};
use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::{Grow, zeros};
use crate::scratch::Scratch;

const NAME: &str = "n5_default";
/// The only mode for fixed-size elements.
const DEFAULT_MODE: u16 = 0;

/// The n5_default codec.
#[derive(Debug)]
pub(crate) struct N5 {
    /// Elements along each axis, the fastest first.
    shape: Vec<u32>,
    /// The fill value: one element.
    fill: Vec<u8>,
    codecs: Vec<Arc<dyn Codec>>,
    /// The codecs, for a whole block.
    chain: Chain,
    header: Vec<u8>,
    bytes: usize,
}

fn refused(reason: impl Into<String>) -> CodecError {
    CodecError::Configuration { codec: NAME.to_owned(), reason: reason.into() }
}

fn bytes_of(shape: &[u32], item_bytes: usize) -> Option<usize> {
    let bytes = shape.iter().try_fold(item_bytes, |bytes, n| bytes.checked_mul(*n as usize));
    bytes.filter(|bytes| isize::try_from(*bytes).is_ok())
}

impl N5 {
    /// Chunks of `shape`, elements as long as `fill`, whose bytes go through `codecs`.
    pub(crate) fn new(shape: Vec<u32>, fill: Vec<u8>, codecs: Vec<Arc<dyn Codec>>) -> Result<Self> {
        let axes = u16::try_from(shape.len()).map_err(|_| refused("more than 65535 axes"))?;
        let bytes = bytes_of(&shape, fill.len()).filter(|bytes| *bytes > 0);
        let bytes = bytes.ok_or_else(|| refused(format!("shape is {shape:?}, no block")))?;
        let chain = Chain::new(codecs.clone(), bytes)?;
        let mut header = [DEFAULT_MODE.to_be_bytes(), axes.to_be_bytes()].concat();
        header.extend(shape.iter().flat_map(|length| length.to_be_bytes()));
        Ok(Self { shape, fill, codecs, chain, header, bytes })
    }

    /// The block's own shape, and the rest of its bytes.
    fn opened<'a>(&self, src: &'a [u8]) -> Result<(Vec<u32>, &'a [u8])> {
        let bytes = self.header.len();
        let Some((header, rest)) = src.split_at_checked(bytes) else {
            let reason = format!("{} bytes stored, the header alone has {bytes}", src.len());
            return Err(CodecError::corrupt(NAME, reason));
        };
        if header[..4] != self.header[..4] {
            let reason = format!(
                "the block begins with {:02x?}, a block of {} axes in default mode with {:02x?}",
                &header[..4],
                self.shape.len(),
                &self.header[..4]
            );
            return Err(CodecError::corrupt(NAME, reason));
        }
        let lengths = header[4..].as_chunks::<4>().0;
        let shape: Vec<u32> = lengths.iter().map(|length| u32::from_be_bytes(*length)).collect();
        match bytes_of(&shape, self.fill.len()) {
            // A header cannot ask for more memory than the chunk has.
            Some(bytes) if bytes <= self.bytes => Ok((shape, rest)),
            _ => {
                let reason = format!("a block of {shape:?} in chunks of {:?}", self.shape);
                Err(CodecError::corrupt(NAME, reason))
            }
        }
    }

    /// The elements of a block of another shape where the chunk has them.
    fn fit(&self, block: &[u8], shape: &[u32], dst: &mut [u8]) {
        let item = self.fill.len();
        for element in dst.chunks_exact_mut(item) {
            element.copy_from_slice(&self.fill);
        }
        let common: Vec<usize> =
            shape.iter().zip(&self.shape).map(|(a, b)| *a.min(b) as usize).collect();
        let rows: usize = common.iter().skip(1).product();
        let row_bytes = common.first().map_or(1, |length| *length) * item;
        if row_bytes == 0 {
            return;
        }
        for row in 0..rows {
            let (mut left, mut from, mut to) = (row, 0, 0);
            let (mut step_from, mut step_to) = (item, item);
            for (axis, length) in common.iter().enumerate() {
                if axis > 0 {
                    from += left % length * step_from;
                    to += left % length * step_to;
                    left /= length;
                }
                step_from *= shape[axis] as usize;
                step_to *= self.shape[axis] as usize;
            }
            dst[to..to + row_bytes].copy_from_slice(&block[from..from + row_bytes]);
        }
    }
}

impl Codec for N5 {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, _decoded_bytes: usize) -> EncodedSize {
        let header = self.header.len();
        match self.chain.encoded_size() {
            EncodedSize::Exact(bytes) => EncodedSize::Exact(bytes.saturating_add(header)),
            EncodedSize::AtMost(bytes) => EncodedSize::AtMost(bytes.saturating_add(header)),
        }
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        if decoded_bytes == self.bytes {
            return Ok(());
        }
        Err(refused(format!("{decoded_bytes} bytes reach blocks of {}", self.bytes)))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        self.check_decoded(src.len())?;
        with_chain(scratch, |chain| self.chain.encode_into(src, dst, chain))?;
        dst.make_room(self.header.len())?;
        dst.splice(..0, self.header.iter().copied());
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        if dst.len() != self.bytes {
            let reason = format!("bound to {} bytes, asked for {}", self.bytes, dst.len());
            return Err(CodecError::corrupt(NAME, reason));
        }
        let (shape, rest) = self.opened(src)?;
        if shape == self.shape {
            return with_chain(scratch, |chain| self.chain.decode_into(rest, dst, chain));
        }
        let mut block = zeros(bytes_of(&shape, self.fill.len()).unwrap_or(0))?;
        let chain = Chain::new(self.codecs.clone(), block.len())?;
        with_chain(scratch, |scratch| chain.decode_into(rest, &mut block, scratch))?;
        self.fit(&block, &shape, dst);
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if self.bytes > limit_bytes {
            return Err(crate::bounded::too_long(NAME, limit_bytes));
        }
        dst.set_length(self.bytes)?;
        self.decode_into(src, dst, scratch)
    }
}
