//! The registered codec `conditional`: codecs on bytes, each of which a chunk has or has not.
//!
//! A chunk begins with a bit for each codec, the first one in the lowest bit of the first byte;
//! all other bits are 0. A writer decides for each chunk. Ours applies all of the codecs if that
//! makes the chunk shorter, and none of them otherwise.

use std::sync::Arc;

use crate::chain::{Chain, with_chain};
use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::scratch::Scratch;

const NAME: &str = "conditional";
/// More would only be a header that wastes memory.
const MOST_BITS: usize = 1 << 16;

/// The conditional codec.
#[derive(Debug)]
pub(crate) struct Conditional {
    codecs: Vec<Arc<dyn Codec>>,
    header_bytes: usize,
}

/// The codecs that a chunk has, and the bytes behind its header.
type Opened<'a> = (Vec<Arc<dyn Codec>>, &'a [u8]);

impl Conditional {
    /// `codecs` with a header of so many bits; by default, whole bytes with a bit for each.
    pub(crate) fn new(codecs: Vec<Arc<dyn Codec>>, header_bits: Option<usize>) -> Result<Self> {
        let bits = header_bits.unwrap_or_else(|| codecs.len().next_multiple_of(8));
        if !bits.is_multiple_of(8) || bits < codecs.len() || bits > MOST_BITS {
            let reason = format!(
                "header_bits is {bits}, allowed: a multiple of 8 from {} to {MOST_BITS}",
                codecs.len().next_multiple_of(8)
            );
            return Err(CodecError::Configuration { codec: NAME.to_owned(), reason });
        }
        Ok(Self { codecs, header_bytes: bits / 8 })
    }

    /// The codecs that a chunk has, and the bytes behind its header.
    fn opened<'a>(&self, src: &'a [u8]) -> Result<Opened<'a>> {
        let Some((header, rest)) = src.split_at_checked(self.header_bytes) else {
            let reason =
                format!("{} bytes stored, the header alone has {}", src.len(), self.header_bytes);
            return Err(CodecError::corrupt(NAME, reason));
        };
        let is_set = |bit: usize| header[bit / 8] >> (bit % 8) & 1 == 1;
        if let Some(bit) = (self.codecs.len()..self.header_bytes * 8).find(|bit| is_set(*bit)) {
            let reason = format!("bit {bit} is set, and there are {} codecs", self.codecs.len());
            return Err(CodecError::corrupt(NAME, reason));
        }
        let applied = self.codecs.iter().enumerate().filter(|(bit, _)| is_set(*bit));
        Ok((applied.map(|(_, codec)| Arc::clone(codec)).collect(), rest))
    }
}

impl Codec for Conditional {
    fn name(&self) -> &str {
        NAME
    }

    /// Whichever codecs a writer applies.
    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        let longest = self.codecs.iter().fold(decoded_bytes, |bytes, codec| {
            let (EncodedSize::Exact(after) | EncodedSize::AtMost(after)) =
                codec.encoded_size(bytes);
            bytes.max(after)
        });
        EncodedSize::AtMost(longest.saturating_add(self.header_bytes))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let chain = Chain::new(self.codecs.clone(), src.len())?;
        with_chain(scratch, |scratch| chain.encode_into(src, dst, scratch))?;
        let applies = dst.len() < src.len();
        if !applies {
            dst.set_to(src)?;
        }
        dst.make_room(self.header_bytes)?;
        let byte = |index: usize| {
            let bits = self.codecs.len().saturating_sub(index * 8).min(8);
            if applies { (0xff_u16 >> (8 - bits)) as u8 } else { 0 }
        };
        dst.splice(..0, (0..self.header_bytes).map(byte));
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (applied, rest) = self.opened(src)?;
        let chain = Chain::new(applied, dst.len())?;
        with_chain(scratch, |scratch| chain.decode_into(rest, dst, scratch))
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (applied, rest) = self.opened(src)?;
        let Some((last, before)) = applied.split_last() else {
            if rest.len() > limit_bytes {
                return Err(crate::bounded::too_long(NAME, limit_bytes));
            }
            dst.set_to(rest)?;
            return Ok(());
        };
        // Between two codecs there may be more bytes than in the end, but not without a bound.
        let (EncodedSize::Exact(most) | EncodedSize::AtMost(most)) = self.encoded_size(limit_bytes);
        let limit = if before.is_empty() { limit_bytes } else { most };
        last.decode_bounded(rest, limit, dst, scratch)?;
        let mut input = Vec::new();
        for (left, codec) in before.iter().enumerate().rev() {
            std::mem::swap(&mut input, dst);
            let limit = if left == 0 { limit_bytes } else { most };
            codec.decode_bounded(&input, limit, dst, scratch)?;
        }
        Ok(())
    }
}
