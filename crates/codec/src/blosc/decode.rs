//! One Blosc 1 frame, decoded whole or block by block.

use super::extent::check_offset;
use super::header::{Filter, Format, HEADER_BYTES, Header};
use super::{blosclz, corrupt};
use crate::deflate::Wrapping;
use crate::memory::Refused;
use crate::transpose::{MAX_PLANES, bit_unshuffle, unshuffle};
use crate::{CodecError, Result, Scratch, lz4, zstd};

/// Bytes before each stream: its encoded length.
pub(super) const LENGTH_BYTES: usize = 4;
/// Bytes of a cache line.
const ALIGNMENT: usize = 64;

/// A Blosc 1 frame whose header and offset table have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    src: &'a [u8],
    header: Header,
}

impl<'a> Frame<'a> {
    /// Checks the frame at the start of `src`, which must decode to `decoded_bytes`. Bytes after
    /// the frame are ignored, as in c-blosc.
    ///
    /// # Errors
    /// [`crate::CodecError::Corrupt`] if a number in the header contradicts `src` or
    /// `decoded_bytes`, [`crate::CodecError::Unsupported`] if it names a later format.
    pub fn parse(src: &'a [u8], decoded_bytes: usize) -> Result<Self> {
        let header = Header::parse(src, decoded_bytes)?;
        Ok(Self { src: &src[..header.encoded_bytes], header })
    }

    /// The frame without its bytes from `end` on, for a block that ends there: offsets beyond are
    /// refused and not read.
    #[must_use]
    pub fn cut_at(&self, end: usize) -> Self {
        Self { src: &self.src[..end.min(self.src.len())], ..*self }
    }

    pub(super) fn header(&self) -> Header {
        self.header
    }

    /// The whole frame.
    pub(super) fn as_slice(&self) -> &'a [u8] {
        self.src
    }

    /// How long the frame is, as its header says.
    pub fn encoded_bytes(&self) -> usize {
        self.header.encoded_bytes
    }

    /// Decoded length of the frame.
    pub fn decoded_bytes(&self) -> usize {
        self.header.decoded_bytes
    }

    /// Decoded length of each block except the last.
    pub fn block_bytes(&self) -> usize {
        self.header.block_bytes
    }

    /// How many blocks there are.
    pub fn n_blocks(&self) -> usize {
        self.header.n_blocks()
    }

    /// The decoded bytes, if the frame holds them uncompressed.
    pub fn stored(&self) -> Option<&'a [u8]> {
        self.header.stored.then(|| &self.src[HEADER_BYTES..])
    }

    /// Decodes block `index` into `dst`, which has that block's length.
    pub fn decode_block(&self, index: usize, dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        self.header.check_block(index, dst.len())?;
        if let Some(bytes) = self.stored() {
            let start = index * self.header.block_bytes;
            dst.copy_from_slice(&bytes[start..start + dst.len()]);
            return Ok(());
        }
        let table = &self.src[HEADER_BYTES..];
        let offset = read_length(table, index * LENGTH_BYTES)?;
        let offset = check_offset(&self.header, offset, self.src.len())?;
        decode_streams(&self.header, (self.src, offset), dst, scratch)
    }

    /// Decodes all blocks into `dst`, which has the frame's decoded length.
    pub fn decode_into(&self, dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        if dst.len() != self.header.decoded_bytes {
            return Err(corrupt(format!(
                "decodes to {} bytes, {} expected",
                self.header.decoded_bytes,
                dst.len()
            )));
        }
        if let Some(bytes) = self.stored() {
            dst.copy_from_slice(bytes);
            return Ok(());
        }
        for (index, block) in dst.chunks_mut(self.header.block_bytes.max(1)).enumerate() {
            self.decode_block(index, block, scratch)?;
        }
        Ok(())
    }
}

/// Decodes the block whose streams begin at `at` of `src` into `dst`, which has its length.
pub(super) fn decode_streams(
    header: &Header,
    (src, at): (&[u8], usize),
    dst: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    scratch.poll_after(dst.len())?;
    let mut streams = Streams { src, at, format: header.format };
    if header.filter == Filter::None
        || (header.filter == Filter::Bytes && header.element_bytes == 1)
    {
        let parts = header.n_streams(dst.len());
        return streams.decode_untransposed(dst, parts, scratch);
    }
    let mut block = scratch.take_block(dst.len() + ALIGNMENT)?;
    // Most elements are small, and clearing room for the planes of large ones takes time.
    let result = if header.element_bytes <= 16 {
        decode_transposed::<16>(header, &mut streams, dst, &mut block, scratch)
    } else {
        decode_transposed::<MAX_PLANES>(header, &mut streams, dst, &mut block, scratch)
    };
    scratch.put_block(block);
    result
}

/// Decodes the streams of a block and transposes them into `dst`.
///
/// A stream is whole planes: all of them when the block is not split, one when it is. Planes
/// are transposed from the frame itself where the encoder gave up and stored the stream.
///
/// It is long because planes borrow from three places, which a split would have to pass on.
fn decode_transposed<const PLANES: usize>(
    header: &Header,
    streams: &mut Streams<'_>,
    dst: &mut [u8],
    block: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    let element_bytes = header.element_bytes;
    let elements = dst.len() / element_bytes;
    let parts = header.n_streams(dst.len());
    if !dst.len().is_multiple_of(parts) {
        return Err(corrupt(format!("a block of {} bytes in {parts} streams", dst.len())));
    }
    let mut planes: [&[u8]; PLANES] = [&[]; PLANES];
    let mut tail: &[u8] = &[];
    // Vector loads that straddle cache lines take twice as long.
    let aligned = block.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    let mut room = &mut block[aligned..aligned + dst.len()];
    for part in 0..parts {
        let (here, rest) = room.split_at_mut(dst.len() / parts);
        room = rest;
        let stream = streams.next(here, scratch)?;
        if parts > 1 {
            planes[part] = stream;
        } else if elements > 0 {
            let (whole, rest) = stream.split_at(elements * element_bytes);
            for (plane, bytes) in planes.iter_mut().zip(whole.chunks_exact(elements)) {
                *plane = bytes;
            }
            tail = rest;
        } else {
            tail = stream;
        }
    }
    let (whole, rest) = dst.split_at_mut(elements * element_bytes);
    rest.copy_from_slice(tail);
    let planes = &planes[..element_bytes];
    match header.filter {
        _ if elements == 0 => {}
        Filter::Bits if elements.is_multiple_of(8) => bit_unshuffle(planes, whole),
        Filter::Bytes => unshuffle(planes, whole),
        // Bits are shuffled in groups of eight elements; c-blosc leaves other blocks unshuffled.
        Filter::Bits | Filter::None => {
            for (to, plane) in whole.chunks_exact_mut(elements).zip(planes) {
                to.copy_from_slice(plane);
            }
        }
    }
    Ok(())
}

fn read_length(bytes: &[u8], at: usize) -> Result<usize> {
    let length = bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<LENGTH_BYTES>())
        .map(|length| i32::from_le_bytes(*length))
        .and_then(|length| usize::try_from(length).ok());
    length.ok_or_else(|| corrupt(format!("no length at byte {at} of {}", bytes.len())))
}

/// The streams of one block, read one after the other.
struct Streams<'a> {
    src: &'a [u8],
    at: usize,
    format: Format,
}

impl<'a> Streams<'a> {
    /// The encoded bytes of the next stream, which decodes to `decoded_bytes`.
    fn take(&mut self, decoded_bytes: usize) -> Result<&'a [u8]> {
        let length = read_length(self.src, self.at)?;
        let start = self.at + LENGTH_BYTES;
        // No encoder makes a stream longer than its data, except for what Snappy may add. Without
        // this bound, many offsets to one long stream would cost quadratic time.
        let bound = decoded_bytes + decoded_bytes / 6 + 32;
        if length > self.src.len() - start || length > bound {
            return Err(corrupt(format!(
                "a stream of {length} bytes for {decoded_bytes}, {} left",
                self.src.len() - start
            )));
        }
        self.at = start + length;
        Ok(&self.src[start..self.at])
    }

    /// The next stream, decoded into `room` unless it is stored uncompressed.
    fn next<'b>(&mut self, room: &'b mut [u8], scratch: &mut Scratch) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        let stream = self.take(room.len())?;
        if stream.len() == room.len() {
            return Ok(stream);
        }
        decode_stream(self.format, stream, room, scratch)?;
        Ok(room)
    }

    /// Decodes `parts` streams one behind the other into `dst`.
    fn decode_untransposed(
        &mut self,
        dst: &mut [u8],
        parts: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if !dst.len().is_multiple_of(parts) {
            return Err(corrupt(format!("a block of {} bytes in {parts} streams", dst.len())));
        }
        for part in dst.chunks_exact_mut(dst.len() / parts) {
            let stream = self.take(part.len())?;
            if stream.len() == part.len() {
                part.copy_from_slice(stream);
            } else {
                decode_stream(self.format, stream, part, scratch)?;
            }
        }
        Ok(())
    }
}

/// Decodes `stream` into all of `dst`.
fn decode_stream(
    format: Format,
    stream: &[u8],
    dst: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    let decoded = match format {
        Format::BloscLz => blosclz::decompress(stream, dst),
        Format::Lz4 => lz4::decompress(stream, dst),
        Format::Snappy => match snap::raw::decompress_len(stream) {
            Ok(bytes) if bytes == dst.len() => {
                snap::raw::Decoder::new().decompress(stream, dst).ok()
            }
            _ => None,
        },
        Format::Zlib => {
            let inflater =
                scratch.inflater().ok_or(CodecError::Memory(Refused { bytes: dst.len() }))?;
            inflater.decompress(Wrapping::Zlib, stream, dst).ok().map(|(_, written)| written)
        }
        Format::Zstd => {
            scratch.zstd_decoder()?;
            zstd::decompress(stream, dst, scratch).ok()
        }
    };
    if decoded == Some(dst.len()) {
        return Ok(());
    }
    Err(corrupt(format!(
        "a {format:?} stream of {} bytes does not decode to {}",
        stream.len(),
        dst.len()
    )))
}
