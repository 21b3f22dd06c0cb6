//! The base64 filter of numcodecs: RFC 4648 with padding, in one line.

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::scratch::Scratch;

const NAME: &str = "base64";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The value of a byte that is not a digit, at each of the four positions.
const NO_DIGIT: u32 = 1 << 31;

/// Two digits for each 12 bits, which halves the lookups.
static PAIRS: [[u8; 2]; 4096] = {
    let mut pairs = [[0; 2]; 4096];
    let mut i = 0;
    while i < 4096 {
        pairs[i] = [ALPHABET[i >> 6], ALPHABET[i & 63]];
        i += 1;
    }
    pairs
};

/// The value of every byte at each position of a group.
static WORTH: [[u32; 256]; 4] = {
    let mut worth = [[NO_DIGIT; 256]; 4];
    let mut digit = 0;
    while digit < 64 {
        let mut place = 0;
        while place < 4 {
            worth[place][ALPHABET[digit] as usize] = (digit as u32) << (18 - 6 * place);
            place += 1;
        }
        digit += 1;
    }
    worth
};

/// The numcodecs base64 filter.
#[derive(Debug)]
pub(crate) struct Base64;

fn group(src: [u8; 3]) -> [u8; 4] {
    let bits = usize::from(src[0]) << 16 | usize::from(src[1]) << 8 | usize::from(src[2]);
    let ([a, b], [c, d]) = (PAIRS[bits >> 12], PAIRS[bits & 0xFFF]);
    [a, b, c, d]
}

fn ungroup(src: [u8; 4]) -> u32 {
    let worth = |place: usize| WORTH[place][usize::from(src[place])];
    worth(0) | worth(1) | worth(2) | worth(3)
}

/// Bytes that `src` decodes to.
fn decoded_bytes(src: &[u8]) -> Result<usize> {
    let padding = src.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
    if !src.len().is_multiple_of(4) {
        return Err(CodecError::corrupt(NAME, format!("{} characters, not fours", src.len())));
    }
    Ok(src.len() / 4 * 3 - padding)
}

fn decode(src: &[u8], dst: &mut [u8]) -> Result<()> {
    let (groups, padding) = match src.last() {
        Some(b'=') => src.split_at(src.len() - 4),
        _ => (src, &src[..0]),
    };
    let (whole, rest) = dst.as_chunks_mut::<3>();
    let mut seen = 0;
    for (from, to) in groups.as_chunks::<4>().0.iter().zip(whole) {
        let bits = ungroup(*from);
        seen |= bits;
        *to = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
    }
    if let &[a, b, c, _] = padding {
        let bits = ungroup([a, b, if c == b'=' { b'A' } else { c }, b'A']);
        seen |= bits;
        for (to, shift) in rest.iter_mut().zip([16, 8]) {
            *to = (bits >> shift) as u8;
        }
    }
    if seen & NO_DIGIT == 0 {
        return Ok(());
    }
    Err(CodecError::corrupt(NAME, "characters outside the alphabet"))
}

impl Codec for Base64 {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::Exact(decoded_bytes.div_ceil(3).saturating_mul(4))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        dst.set_length(src.len().div_ceil(3) * 4)?;
        let (groups, rest) = src.as_chunks::<3>();
        let (encoded, last) = dst.split_at_mut(groups.len() * 4);
        for (from, to) in groups.iter().zip(encoded.as_chunks_mut::<4>().0) {
            *to = group(*from);
        }
        let [a, b, c, _] =
            group([rest.first().copied().unwrap_or(0), rest.get(1).copied().unwrap_or(0), 0]);
        match rest.len() {
            0 => {}
            1 => last.copy_from_slice(&[a, b, b'=', b'=']),
            _ => last.copy_from_slice(&[a, b, c, b'=']),
        }
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let bytes = decoded_bytes(src)?;
        if bytes != dst.len() {
            return Err(CodecError::corrupt(
                NAME,
                format!("decodes to {bytes} bytes, {} expected", dst.len()),
            ));
        }
        decode(src, dst)
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        _scratch: &mut Scratch,
    ) -> Result<()> {
        let bytes = decoded_bytes(src)?;
        if bytes > limit_bytes {
            return Err(crate::bounded::too_long(NAME, limit_bytes));
        }
        dst.set_length(bytes)?;
        decode(src, dst)
    }
}
