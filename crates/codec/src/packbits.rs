//! Packed booleans in the form of numcodecs: the number of padding bits, then eight elements per
//! byte, the first in the highest bit.

use crate::{Codec, CodecError, EncodedSize, Result, Scratch};

const NAME: &str = "packbits";

/// The numcodecs packbits filter.
#[derive(Debug)]
pub struct PackBits;

/// The packed bytes and how many elements they hold.
fn split_header(src: &[u8]) -> Result<(&[u8], usize)> {
    match src.split_first() {
        Some((&padding, bits)) if padding < 8 && (padding == 0 || !bits.is_empty()) => {
            Ok((bits, bits.len() * 8 - usize::from(padding)))
        }
        Some((padding, bits)) => Err(CodecError::corrupt(
            NAME,
            format!("{padding} padding bits in {} bytes", bits.len()),
        )),
        None => Err(CodecError::corrupt(NAME, "no bytes, shorter than the header")),
    }
}

impl Codec for PackBits {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::Exact(1 + decoded_bytes.div_ceil(8))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        dst.clear();
        dst.reserve(1 + src.len().div_ceil(8));
        dst.push([0, 7, 6, 5, 4, 3, 2, 1][src.len() % 8]);
        dst.extend(src.chunks(8).map(|elements| {
            let bits = |byte: u8, (i, &e): (usize, &u8)| byte | u8::from(e != 0) << (7 - i);
            elements.iter().enumerate().fold(0, bits)
        }));
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let (bits, elements) = split_header(src)?;
        if elements != dst.len() {
            return Err(CodecError::corrupt(
                NAME,
                format!("holds {elements} elements, {} expected", dst.len()),
            ));
        }
        for (elements, &byte) in dst.chunks_mut(8).zip(bits) {
            for (i, element) in elements.iter_mut().enumerate() {
                *element = byte >> (7 - i) & 1;
            }
        }
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (_, elements) = split_header(src)?;
        if elements > limit_bytes {
            return Err(crate::bounded::too_long(NAME, limit_bytes));
        }
        dst.resize(elements, 0);
        self.decode_into(src, dst, scratch)
    }
}
