//! The astype filter of numcodecs: every element cast as NumPy casts it.

use crate::elements::Filter;
use crate::error::Result;
use crate::number::{Type, cast};

const NAME: &str = "astype";

/// The numcodecs astype filter.
#[derive(Debug)]
pub(crate) struct AsType {
    encoded: Type,
    decoded: Type,
}

impl AsType {
    /// Both are NumPy type strings (or names) of booleans, integers or floating-point numbers.
    pub(crate) fn new(encode_dtype: &str, decode_dtype: &str) -> Result<Self> {
        Ok(Self {
            encoded: Type::configured(NAME, "encode_dtype", encode_dtype)?,
            decoded: Type::configured(NAME, "decode_dtype", decode_dtype)?,
        })
    }
}

impl Filter for AsType {
    fn name(&self) -> &'static str {
        NAME
    }

    fn element_bytes(&self) -> (usize, usize) {
        (self.decoded.bytes, self.encoded.bytes)
    }

    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        cast(self.decoded, self.encoded, src, dst);
        Ok(())
    }

    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        cast(self.encoded, self.decoded, src, dst);
        Ok(())
    }
}
