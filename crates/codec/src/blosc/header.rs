//! The sixteen bytes of the header of a Blosc 1 frame, and their checks.

use super::config::{NAME, corrupt};
use crate::error::{CodecError, Result};

/// Bytes of the header; also all that a frame can be longer than its data.
pub(super) const HEADER_BYTES: usize = 16;
/// Bytes of each offset, and of the encoded length before each stream.
pub(super) const LENGTH_BYTES: usize = 4;
const VERSION: u8 = 2;
const SHUFFLE: u8 = 0x01;
const STORED: u8 = 0x02;
const BIT_SHUFFLE: u8 = 0x04;
const RESERVED: u8 = 0x08;
const NO_SPLIT: u8 = 0x10;
/// Streams of a split block: one per byte of an element, for elements of at most this many bytes.
pub(super) const MAX_SPLITS: usize = 16;
/// The shortest stream that a block is split into.
const MIN_STREAM_BYTES: usize = 128;
const MAX_BLOCK_BYTES: usize = (i32::MAX as usize - 255 * 4) / 3;

/// What compressed the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

/// Which transposition was applied to each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Bytes,
    Bits,
}

/// A checked header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) filter: Filter,
    pub(super) stored: bool,
    no_split: bool,
    pub(super) element_bytes: usize,
    pub(super) decoded_bytes: usize,
    /// Length of the frame; bytes after it do not belong to it.
    pub(super) encoded_bytes: usize,
    pub(super) block_bytes: usize,
}

fn size_at(src: &[u8; HEADER_BYTES], at: usize) -> Result<usize> {
    let size = i32::from_le_bytes([src[at], src[at + 1], src[at + 2], src[at + 3]]);
    usize::try_from(size).map_err(|_| corrupt(format!("negative size {size} in the header")))
}

impl Header {
    /// Reads and checks the header of the frame that `src` begins with.
    pub(super) fn parse(src: &[u8], decoded_bytes: usize) -> Result<Self> {
        let Some(header) = src.first_chunk::<HEADER_BYTES>() else {
            return Err(corrupt(format!("{} bytes, shorter than the header", src.len())));
        };
        Self::of(header, src.len(), decoded_bytes)
    }

    /// Checks the header of a frame at the start of `src_bytes`.
    ///
    /// c-blosc ignores bytes after the frame, and some writers leave bytes there.
    pub(super) fn of(
        header: &[u8; HEADER_BYTES],
        src_bytes: usize,
        decoded_bytes: usize,
    ) -> Result<Self> {
        let [version, format_version, flags, element_bytes, ..] = *header;
        let (declared, block_bytes, encoded_bytes) =
            (size_at(header, 4)?, size_at(header, 8)?, size_at(header, 12)?);
        if version != VERSION {
            return Err(unsupported(format!("frame version {version}, this reads {VERSION}")));
        }
        if flags & RESERVED != 0 {
            return Err(unsupported(format!("flags {flags:#04x} of a later version")));
        }
        if encoded_bytes > src_bytes {
            return Err(corrupt(format!(
                "the header says {encoded_bytes} encoded bytes, there are {src_bytes}"
            )));
        }
        if declared != decoded_bytes {
            return Err(corrupt(format!(
                "the header says {declared} decoded bytes, {decoded_bytes} expected"
            )));
        }
        let header = Self {
            format: format(flags >> 5)?,
            filter: match flags & (SHUFFLE | BIT_SHUFFLE) {
                0 => Filter::None,
                BIT_SHUFFLE => Filter::Bits,
                // Both flags together: byte shuffling wins, except that one byte has none.
                both if both == SHUFFLE | BIT_SHUFFLE && element_bytes == 1 => Filter::Bits,
                _ => Filter::Bytes,
            },
            stored: flags & STORED != 0,
            no_split: flags & NO_SPLIT != 0,
            element_bytes: usize::from(element_bytes),
            decoded_bytes,
            encoded_bytes,
            block_bytes,
        };
        header.check(format_version)?;
        Ok(header)
    }

    fn check(&self, format_version: u8) -> Result<()> {
        let encoded_bytes = self.encoded_bytes;
        if self.decoded_bytes == 0 {
            return match encoded_bytes {
                HEADER_BYTES => Ok(()),
                more => Err(corrupt(format!("{more} bytes of a frame of none"))),
            };
        }
        let (block_bytes, decoded_bytes) = (self.block_bytes, self.decoded_bytes);
        if block_bytes == 0 || block_bytes > decoded_bytes || block_bytes > MAX_BLOCK_BYTES {
            return Err(corrupt(format!("blocks of {block_bytes} in {decoded_bytes} bytes")));
        }
        if self.element_bytes == 0 {
            return Err(corrupt("elements of 0 bytes"));
        }
        if self.stored {
            let expected = decoded_bytes + HEADER_BYTES;
            if encoded_bytes != expected {
                return Err(corrupt(format!(
                    "{encoded_bytes} bytes, a stored frame has {expected}"
                )));
            }
            return Ok(());
        }
        if format_version != 1 {
            return Err(unsupported(format!("stream version {format_version}, this reads 1")));
        }
        let blocks = self.n_blocks();
        if blocks > encoded_bytes.saturating_sub(HEADER_BYTES) / 4 {
            return Err(corrupt(format!("{blocks} block offsets in {encoded_bytes} bytes")));
        }
        Ok(())
    }

    /// How many blocks the frame has; the last may be shorter.
    pub(super) fn n_blocks(&self) -> usize {
        if self.decoded_bytes == 0 { 0 } else { self.decoded_bytes.div_ceil(self.block_bytes) }
    }

    /// Refuses a buffer that is not as long as what block `index` decodes to.
    pub(super) fn check_block(&self, index: usize, bytes: usize) -> Result<()> {
        let start = index.saturating_mul(self.block_bytes);
        let left = self.decoded_bytes.saturating_sub(start);
        if left == 0 || bytes != left.min(self.block_bytes) {
            return Err(corrupt(format!("block {index} has not {bytes} bytes")));
        }
        Ok(())
    }

    /// In how many streams a block of `block_bytes` was compressed.
    ///
    /// The last, shorter block is never split. The rule on sizes is older than the flag.
    pub(super) fn n_streams(&self, block_bytes: usize) -> usize {
        let splits = !self.no_split
            && block_bytes == self.block_bytes
            && self.element_bytes <= MAX_SPLITS
            && block_bytes / self.element_bytes >= MIN_STREAM_BYTES;
        if splits { self.element_bytes } else { 1 }
    }
}

/// `offset`, if a block of a frame of `encoded_bytes` can begin there: behind the offset table.
pub(super) fn check_offset(header: &Header, offset: usize, encoded_bytes: usize) -> Result<usize> {
    let begin = HEADER_BYTES + header.n_blocks() * LENGTH_BYTES;
    if (begin..encoded_bytes).contains(&offset) {
        return Ok(offset);
    }
    Err(corrupt(format!("a block at {offset} in a frame of {encoded_bytes} bytes")))
}

fn unsupported(reason: String) -> CodecError {
    CodecError::Unsupported { codec: NAME, reason }
}

fn format(code: u8) -> Result<Format> {
    match code {
        0 => Ok(Format::BloscLz),
        1 => Ok(Format::Lz4),
        2 => Ok(Format::Snappy),
        3 => Ok(Format::Zlib),
        4 => Ok(Format::Zstd),
        _ => Err(unsupported(format!("compressor number {code}"))),
    }
}
