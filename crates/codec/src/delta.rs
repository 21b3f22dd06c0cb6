//! The delta filter of numcodecs: the first element, then the difference of each to the one before.

use crate::{Codec, CodecError, EncodedSize, Result, Scratch};

const NAME: &str = "delta";

/// The numcodecs delta filter.
#[derive(Debug)]
pub struct Delta {}

impl Delta {
    /// Both are NumPy type strings.
    pub fn new(dtype: &str, astype: &str) -> Result<Self> {
        Err(CodecError::Configuration {
            codec: NAME.to_owned(),
            reason: format!("dtype {dtype:?} as {astype:?}"),
        })
    }
}

impl Codec for Delta {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::Exact(decoded_bytes)
    }

    fn encode(&self, _src: &[u8], _dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        Ok(())
    }

    fn decode_into(&self, _src: &[u8], _dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        Ok(())
    }

    fn decode_bounded(
        &self,
        _src: &[u8],
        _limit_bytes: usize,
        _dst: &mut Vec<u8>,
        _scratch: &mut Scratch,
    ) -> Result<()> {
        Ok(())
    }
}
