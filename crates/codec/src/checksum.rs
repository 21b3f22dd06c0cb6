//! Checksums, stored before or after the bytes that they cover, in four little-endian bytes.
//!
//! There is one table row per algorithm. Decoding is a view: the chain verifies the checksum and
//! continues with the same bytes, without a copy.

use std::ops::Range;

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::libdeflate::{adler32, crc32};
use crate::memory::{Grow, copied};
use crate::scratch::Scratch;

const CHECKSUM_BYTES: usize = 4;

/// The algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// CRC-32 of zlib.
    Crc32,
    /// Adler-32 of zlib.
    Adler32,
    /// Fletcher-32 as HDF5 and numcodecs compute it.
    Fletcher32,
    /// Jenkins' lookup3 as HDF5 and numcodecs compute it.
    JenkinsLookup3 {
        /// What the hash starts from.
        initial: u32,
        /// Bytes that are hashed before the data and not stored.
        prefix: Vec<u8>,
    },
}

/// Where the sum is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Before the bytes.
    Start,
    /// After the bytes.
    End,
}

impl Algorithm {
    fn name(&self) -> &'static str {
        match self {
            Self::Crc32c => "crc32c",
            Self::Crc32 => "crc32",
            Self::Adler32 => "adler32",
            Self::Fletcher32 => "fletcher32",
            Self::JenkinsLookup3 { .. } => "jenkins_lookup3",
        }
    }

    fn sum(&self, bytes: &[u8]) -> Result<u32> {
        Ok(match self {
            Self::Crc32c => crc32c::crc32c(bytes),
            Self::Crc32 => crc32(bytes),
            Self::Adler32 => adler32(bytes),
            Self::Fletcher32 => fletcher32(bytes),
            Self::JenkinsLookup3 { initial, prefix } if prefix.is_empty() => {
                jenkins_lookup3(bytes, *initial)
            }
            Self::JenkinsLookup3 { initial, prefix } => {
                let mut both = copied(prefix)?;
                both.append_slice(bytes)?;
                jenkins_lookup3(&both, *initial)
            }
        })
    }
}

/// Fletcher-32 over big-endian 16-bit words, an odd last byte being the high half of one.
///
/// The sums are kept in 64 bits and reduced once per run of words: modulo 65535 is the same as the
/// repeated folding of the carries, except that folding leaves 65535 where the remainder is 0 and
/// the sum is not.
fn fletcher32(bytes: &[u8]) -> u32 {
    // Both sums stay below 2^63: 2^21 words of 2^16 sum to 2^37, their running sums to 2^58.
    const RUN_BYTES: usize = 2 << 21;
    let fold = |sum: u64| if sum == 0 { 0 } else { (sum - 1) % 65535 + 1 };
    let (mut low, mut high) = (0_u64, 0_u64);
    for run in bytes.chunks(RUN_BYTES) {
        let words = run.chunks_exact(2);
        let last = words.remainder();
        for word in words {
            low += u64::from(u16::from_be_bytes([word[0], word[1]]));
            high += low;
        }
        if let [byte] = last {
            low += u64::from(*byte) << 8;
            high += low;
        }
        (low, high) = (fold(low), fold(high));
    }
    // Both are at most 65535 after folding.
    u32::try_from(high << 16 | low).unwrap_or(u32::MAX)
}

/// Jenkins' lookup3: twelve bytes at a time are added to three words, which are then mixed.
fn jenkins_lookup3(bytes: &[u8], initial: u32) -> u32 {
    let start = 0xDEAD_BEEF_u32.wrapping_add(bytes.len() as u32).wrapping_add(initial);
    let mut words = [start; 3];
    let add = |words: &mut [u32; 3], block: &[u8; 12]| {
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = word.wrapping_add(u32::from_le_bytes(*bytes));
        }
    };
    // The last block is never mixed like the others, even when it is a whole one.
    let whole = bytes.len().saturating_sub(1) / 12 * 12;
    let (blocks, rest) = bytes.split_at(whole);
    for block in blocks.as_chunks::<12>().0 {
        add(&mut words, block);
        for rotation in [4, 6, 8, 16, 19, 4] {
            let [a, b, c] = words;
            words = [b, c.wrapping_add(b), a.wrapping_sub(c) ^ c.rotate_left(rotation)];
        }
    }
    if rest.is_empty() {
        return words[2];
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    add(&mut words, &last);
    for rotation in [14, 11, 25, 16, 4, 14, 24] {
        let [a, b, c] = words;
        words = [b, (c ^ b).wrapping_sub(b.rotate_left(rotation)), a];
    }
    words[1]
}

/// A codec that adds and verifies a checksum.
#[derive(Debug)]
pub struct Checksum {
    algorithm: Algorithm,
    location: Location,
}

impl Checksum {
    /// The sum of `algorithm`, stored at `location`.
    pub fn new(algorithm: Algorithm, location: Location) -> Self {
        Self { algorithm, location }
    }

    fn verified<'a>(&self, src: &'a [u8]) -> Result<&'a [u8]> {
        let name = self.algorithm.name();
        let parts = match self.location {
            Location::Start => src.split_first_chunk::<CHECKSUM_BYTES>(),
            Location::End => src.split_last_chunk::<CHECKSUM_BYTES>().map(|(a, b)| (b, a)),
        };
        let Some((stored, bytes)) = parts else {
            return Err(CodecError::corrupt(
                name,
                format!("{} bytes, shorter than the checksum", src.len()),
            ));
        };
        let (stored, computed) = (u32::from_le_bytes(*stored), self.algorithm.sum(bytes)?);
        if stored != computed {
            return Err(CodecError::corrupt(
                name,
                format!("stored checksum {stored:#010x}, computed {computed:#010x}"),
            ));
        }
        Ok(bytes)
    }
}

impl Codec for Checksum {
    fn name(&self) -> &str {
        self.algorithm.name()
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::Exact(decoded_bytes.saturating_add(CHECKSUM_BYTES))
    }

    fn payload(&self, src: &[u8]) -> Result<Option<Range<usize>>> {
        let bytes = self.verified(src)?.len();
        let start = if self.location == Location::Start { CHECKSUM_BYTES } else { 0 };
        Ok(Some(start..start + bytes))
    }

    fn reads_source_once(&self) -> bool {
        true
    }

    /// The sum is that of the copy, which is what is stored.
    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        dst.clear();
        dst.make_room(src.len() + CHECKSUM_BYTES)?;
        match self.location {
            Location::Start => {
                dst.extend_from_slice(&[0; CHECKSUM_BYTES]);
                dst.extend_from_slice(src);
                let sum = self.algorithm.sum(&dst[CHECKSUM_BYTES..])?.to_le_bytes();
                dst[..CHECKSUM_BYTES].copy_from_slice(&sum);
            }
            Location::End => {
                dst.extend_from_slice(src);
                let sum = self.algorithm.sum(dst)?.to_le_bytes();
                dst.extend_from_slice(&sum);
            }
        }
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let bytes = self.verified(src)?;
        if bytes.len() != dst.len() {
            return Err(CodecError::corrupt(
                self.algorithm.name(),
                format!("covers {} bytes, {} expected", bytes.len(), dst.len()),
            ));
        }
        dst.copy_from_slice(bytes);
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        _scratch: &mut Scratch,
    ) -> Result<()> {
        let bytes = self.verified(src)?;
        if bytes.len() > limit_bytes {
            return Err(crate::bounded::too_long(self.algorithm.name(), limit_bytes));
        }
        dst.set_to(bytes)?;
        Ok(())
    }
}
