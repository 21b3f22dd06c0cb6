//! The shuffle filter of numcodecs: byte 0 of every element, then byte 1 of every element, ...

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::scratch::Scratch;
use crate::transpose::{shuffle, unshuffle_block};

const NAME: &str = "shuffle";

/// The numcodecs shuffle filter.
#[derive(Debug)]
pub struct Shuffle {
    element_bytes: usize,
}

impl Shuffle {
    /// Elements of at most one byte are copied.
    pub fn new(element_bytes: usize) -> Self {
        Self { element_bytes: element_bytes.max(1) }
    }

    fn check_whole(&self, bytes: usize) -> std::result::Result<(), String> {
        if bytes.is_multiple_of(self.element_bytes) {
            return Ok(());
        }
        Err(format!("{bytes} bytes are not a whole number of {}-byte elements", self.element_bytes))
    }
}

impl Codec for Shuffle {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::Exact(decoded_bytes)
    }

    fn reads_source_once(&self) -> bool {
        true
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        self.check_whole(src.len()).map_err(|reason| CodecError::Encode { codec: NAME, reason })?;
        dst.set_length(src.len())?;
        shuffle(src, self.element_bytes, dst);
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        if src.len() != dst.len() {
            return Err(CodecError::corrupt(
                NAME,
                format!("{} bytes stored, {} expected", src.len(), dst.len()),
            ));
        }
        self.check_whole(src.len()).map_err(|reason| CodecError::corrupt(NAME, reason))?;
        unshuffle_block(src, self.element_bytes, dst);
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if src.len() > limit_bytes {
            return Err(crate::bounded::too_long(NAME, limit_bytes));
        }
        dst.set_length(src.len())?;
        self.decode_into(src, dst, scratch)
    }
}
