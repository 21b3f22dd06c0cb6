//! Packed bits: elements with fewer bits than in memory, one directly after the other.
//!
//! Two formats have this name. The registered one, of v3, takes any range of bits of any number and
//! fills bytes from the lowest bit; it can store the number of padding bits first, last or not at
//! all. The one of numcodecs packs booleans, fills bytes from the highest bit, and stores the
//! number of padding bits first.

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::number::{NumberKind, Type};
use crate::scratch::Scratch;

const NAME: &str = "packbits";

/// Where the number of padding bits is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Padding {
    Unstored,
    FirstByte,
    LastByte,
}

/// How a number lies in memory: its own bits, in so many bytes.
#[derive(Clone, Copy, Debug)]
struct Layout {
    bytes: usize,
    bits: u32,
    signed: bool,
    big: bool,
}

impl Layout {
    /// From a NumPy type string, or a v3 name that NumPy does not have.
    fn parse(text: &str) -> Option<Self> {
        let small = |bits, signed| Some(Self { bytes: 1, bits, signed, big: false });
        let big = text.starts_with('>');
        match text.trim_start_matches(['<', '>', '|', '=']) {
            "int2" => return small(2, true),
            "uint2" => return small(2, false),
            "int4" => return small(4, true),
            "uint4" | "float4_e2m1fn" | "complex_float4_e2m1fn" => return small(4, false),
            name if name.trim_start_matches("complex_").starts_with("float6_") => {
                return small(6, false);
            }
            name if name.trim_start_matches("complex_").starts_with("float8_") => {
                return small(8, false);
            }
            "bfloat16" | "complex_bfloat16" | "complex_float16" => {
                return Some(Self { bytes: 2, bits: 16, signed: false, big });
            }
            "c8" | "complex64" | "complex_float32" => {
                return Some(Self { bytes: 4, bits: 32, signed: false, big });
            }
            "c16" | "complex128" | "complex_float64" => {
                return Some(Self { bytes: 8, bits: 64, signed: false, big });
            }
            _ => {}
        }
        let number = Type::parse(text)?;
        let bits = if number.kind == NumberKind::Bool { 1 } else { 8 * number.bytes as u32 };
        let signed = number.kind == NumberKind::Int;
        Some(Self { bytes: number.bytes, bits, signed, big: number.big })
    }
}

/// The order of bits in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    LowestFirst,
    HighestFirst,
}

/// Either packbits codec.
#[derive(Debug)]
pub(crate) struct PackBits {
    layout: Layout,
    first_bit: u32,
    /// Bits that are kept of each number.
    kept_bits: u32,
    padding: Padding,
    fill: Fill,
}

fn refused(reason: String) -> CodecError {
    CodecError::Configuration { codec: NAME.to_owned(), reason }
}

impl PackBits {
    /// The codec of numcodecs.
    pub(crate) fn numcodecs() -> Self {
        Self {
            layout: Layout { bytes: 1, bits: 1, signed: false, big: false },
            first_bit: 0,
            kept_bits: 1,
            padding: Padding::FirstByte,
            fill: Fill::HighestFirst,
        }
    }

    /// The registered codec: bits `first_bit` to `last_bit` of the numbers that `dtype` names.
    pub(crate) fn new(
        dtype: &str,
        first_bit: Option<u32>,
        last_bit: Option<u32>,
        padding: Padding,
    ) -> Result<Self> {
        let layout = Layout::parse(dtype).ok_or_else(|| {
            refused(format!("dtype is {dtype:?}, allowed: booleans and numbers of up to 64 bits"))
        })?;
        let first_bit = first_bit.unwrap_or(0);
        let last_bit = last_bit.unwrap_or(layout.bits - 1);
        if first_bit > last_bit || last_bit >= layout.bits {
            return Err(refused(format!(
                "bits {first_bit} to {last_bit} of {dtype}, which has bits 0 to {}",
                layout.bits - 1
            )));
        }
        let kept_bits = last_bit - first_bit + 1;
        Ok(Self { layout, first_bit, kept_bits, padding, fill: Fill::LowestFirst })
    }

    /// Bytes of `numbers` packed numbers, and the bits of the last that are padding.
    fn packed(&self, numbers: usize) -> (usize, u8) {
        // Eight numbers are a whole number of bytes.
        let kept_bits = self.kept_bits as usize;
        let rest_bits = numbers % 8 * kept_bits;
        let bytes = (numbers / 8).saturating_mul(kept_bits) + rest_bits.div_ceil(8);
        (bytes, (rest_bits.wrapping_neg() % 8) as u8)
    }

    /// The packed bits in `src`, and how many numbers they are, where that is stored.
    fn unwrapped<'a>(&self, src: &'a [u8]) -> Result<(&'a [u8], Option<usize>)> {
        let parts = match self.padding {
            Padding::Unstored => return Ok((src, None)),
            Padding::FirstByte => src.split_first(),
            Padding::LastByte => src.split_last(),
        };
        let Some((&padding, bits)) = parts else {
            return Err(CodecError::corrupt(NAME, "no bytes, shorter than the header"));
        };
        let stored_bits = (bits.len() as u128 * 8).checked_sub(padding.into());
        let numbers = stored_bits.filter(|_| padding < 8).and_then(|bits| {
            let kept_bits = u128::from(self.kept_bits);
            bits.is_multiple_of(kept_bits).then(|| usize::try_from(bits / kept_bits).ok())?
        });
        match numbers {
            Some(numbers) => Ok((bits, Some(numbers))),
            None => Err(CodecError::corrupt(
                NAME,
                format!("{padding} padding bits in {} bytes", bits.len()),
            )),
        }
    }

    fn is_bool(&self) -> bool {
        (self.layout.bytes, self.layout.bits) == (1, 1)
    }

    fn is_whole(&self) -> bool {
        self.kept_bits as usize == 8 * self.layout.bytes && !self.layout.big
    }

    fn pack(&self, src: &[u8], dst: &mut [u8]) {
        if self.is_bool() {
            return pack_bools(src, dst, self.fill);
        }
        if self.is_whole() {
            return dst.copy_from_slice(src);
        }
        let mut to = Packed { bits: 0, filled: 0, dst };
        let mut pack = |number: u64| {
            to.push(number >> self.first_bit & mask(self.kept_bits), self.kept_bits);
        };
        match self.layout.bytes {
            1 => src.iter().for_each(|&byte| pack(byte.into())),
            2 => self.numbers::<2>(src).for_each(pack),
            4 => self.numbers::<4>(src).for_each(pack),
            _ => self.numbers::<8>(src).for_each(pack),
        }
        to.finish();
    }

    fn numbers<const N: usize>(&self, src: &[u8]) -> impl Iterator<Item = u64> {
        let big = self.layout.big;
        src.as_chunks::<N>().0.iter().map(move |bytes| {
            let mut word = [0; 8];
            word[..N].copy_from_slice(bytes);
            if big {
                word[..N].reverse();
            }
            u64::from_le_bytes(word)
        })
    }

    /// The next numbers of `from`, as many as `dst` has.
    fn unpack_numbers<const N: usize>(&self, mut from: Bits<'_>, dst: &mut [u8]) {
        let unused = 64 - self.kept_bits;
        for bytes in dst.as_chunks_mut::<N>().0 {
            let mut number = from.next(self.kept_bits);
            if self.layout.signed {
                number = ((number << unused) as i64 >> unused) as u64;
            }
            bytes.copy_from_slice(&(number << self.first_bit).to_le_bytes()[..N]);
            if self.layout.big {
                bytes.reverse();
            }
        }
    }

    fn unpack(&self, src: &[u8], dst: &mut [u8]) {
        if self.is_bool() {
            return unpack_bools(src, dst, self.fill);
        }
        if self.is_whole() {
            return dst.copy_from_slice(src);
        }
        let from = Bits { bits: 0, filled: 0, src };
        match self.layout.bytes {
            1 => self.unpack_numbers::<1>(from, dst),
            2 => self.unpack_numbers::<2>(from, dst),
            4 => self.unpack_numbers::<4>(from, dst),
            _ => self.unpack_numbers::<8>(from, dst),
        }
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Writes bits into bytes, 64 at a time.
struct Packed<'a> {
    bits: u128,
    filled: u32,
    dst: &'a mut [u8],
}

impl Packed<'_> {
    #[inline(always)]
    fn push(&mut self, number: u64, bits: u32) {
        self.bits |= u128::from(number) << self.filled;
        self.filled += bits;
        if self.filled >= 64
            && let Some((word, rest)) = std::mem::take(&mut self.dst).split_first_chunk_mut::<8>()
        {
            *word = (self.bits as u64).to_le_bytes();
            self.dst = rest;
            self.bits >>= 64;
            self.filled -= 64;
        }
    }

    fn finish(self) {
        for (to, byte) in self.dst.iter_mut().zip((self.bits as u64).to_le_bytes()) {
            *to = byte;
        }
    }
}

/// Reads bits from bytes; zeros after the last.
struct Bits<'a> {
    bits: u128,
    filled: u32,
    src: &'a [u8],
}

impl Bits<'_> {
    #[inline(always)]
    fn next(&mut self, bits: u32) -> u64 {
        if self.filled < bits {
            let word = if let Some((word, rest)) = self.src.split_first_chunk::<8>() {
                self.src = rest;
                *word
            } else {
                let mut word = [0; 8];
                word[..self.src.len()].copy_from_slice(self.src);
                self.src = &[];
                word
            };
            self.bits |= u128::from(u64::from_le_bytes(word)) << self.filled;
            self.filled += 64;
        }
        let number = self.bits as u64 & mask(bits);
        self.bits >>= bits;
        self.filled -= bits;
        number
    }
}

/// Eight booleans of one byte each, from the eight bits of a byte, lowest first.
static BOOLS: [u64; 256] = {
    let mut bools = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            bools[byte] |= ((byte >> bit & 1) as u64) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    bools
};

/// Packs eight booleans, the first in the lowest bit.
fn pack_eight(bools: [u8; 8]) -> u8 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let bools = u64::from_le_bytes(bools);
    // The highest bit of each byte says whether the byte is not 0; the product collects them.
    let set = ((bools & (0x7F * LOW)).wrapping_add(0x7F * LOW) | bools) >> 7 & LOW;
    (set.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// Packs booleans sixteen at a time; returns how many bytes that made.
#[cfg(target_arch = "x86_64")]
fn pack_sixteens(src: &[u8], dst: &mut [u8]) -> usize {
    let sixteens = src.as_chunks::<16>().0;
    for (bools, bytes) in sixteens.iter().zip(dst.as_chunks_mut::<2>().0) {
        *bytes = crate::sse2::nonzero_mask(*bools).to_le_bytes();
    }
    sixteens.len() * 2
}

fn pack_bools(src: &[u8], dst: &mut [u8], fill: Fill) {
    #[cfg(target_arch = "x86_64")]
    let done = pack_sixteens(src, dst);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    for (bools, byte) in src[done * 8..].chunks(8).zip(&mut dst[done..]) {
        let mut eight = [0; 8];
        eight[..bools.len()].copy_from_slice(bools);
        *byte = pack_eight(eight);
    }
    if fill == Fill::HighestFirst {
        dst.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
    }
}

fn unpack_bools(src: &[u8], dst: &mut [u8], fill: Fill) {
    let unpack = |byte: u8| match fill {
        Fill::LowestFirst => BOOLS[usize::from(byte)].to_le_bytes(),
        Fill::HighestFirst => BOOLS[usize::from(byte)].to_be_bytes(),
    };
    let (eights, rest) = dst.as_chunks_mut::<8>();
    let whole = eights.len();
    for (bools, &byte) in eights.iter_mut().zip(src) {
        *bools = unpack(byte);
    }
    if let Some(&byte) = src.get(whole) {
        rest.copy_from_slice(&unpack(byte)[..rest.len()]);
    }
}

impl Codec for PackBits {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        let (bytes, _) = self.packed(decoded_bytes / self.layout.bytes);
        EncodedSize::Exact(bytes.saturating_add(usize::from(self.padding != Padding::Unstored)))
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        let bytes = self.layout.bytes;
        if decoded_bytes.is_multiple_of(bytes) {
            return Ok(());
        }
        Err(refused(format!(
            "a chunk of {decoded_bytes} bytes is not a whole number of {bytes}-byte numbers"
        )))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        self.check_decoded(src.len())?;
        let (bytes, padding) = self.packed(src.len() / self.layout.bytes);
        let room = match self.padding {
            Padding::Unstored => {
                dst.set_length(bytes)?;
                &mut dst[..]
            }
            Padding::FirstByte => {
                dst.set_length(bytes + 1)?;
                dst[0] = padding;
                &mut dst[1..]
            }
            Padding::LastByte => {
                dst.set_length(bytes + 1)?;
                dst[bytes] = padding;
                &mut dst[..bytes]
            }
        };
        self.pack(src, room);
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let (bits, numbers) = self.unwrapped(src)?;
        let expected = dst.len() / self.layout.bytes;
        if bits.len() != self.packed(expected).0
            || numbers.is_some_and(|numbers| numbers != expected)
            || !dst.len().is_multiple_of(self.layout.bytes)
        {
            return Err(CodecError::corrupt(
                NAME,
                format!("{} bytes are not {expected} packed numbers", src.len()),
            ));
        }
        self.unpack(bits, dst);
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (bits, numbers) = self.unwrapped(src)?;
        // Where the number is not stored, numbers of whole bytes still tell it.
        let whole =
            self.kept_bits.is_multiple_of(8).then(|| bits.len() / (self.kept_bits as usize / 8));
        let numbers = numbers
            .or(whole)
            .ok_or_else(|| CodecError::corrupt(NAME, "the number of elements is stored nowhere"))?;
        match numbers.checked_mul(self.layout.bytes).filter(|bytes| *bytes <= limit_bytes) {
            Some(bytes) => dst.set_length(bytes)?,
            None => return Err(crate::bounded::too_long(NAME, limit_bytes)),
        }
        self.decode_into(src, dst, scratch)
    }
}
