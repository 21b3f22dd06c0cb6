//! One Blosc 1 frame, decoded whole or block by block.

use super::blosclz;
use super::config::corrupt;
use super::header::{Filter, Format, HEADER_BYTES, Header, LENGTH_BYTES, MAX_SPLITS, check_offset};
use crate::error::{CodecError, Result};
use crate::libdeflate::Wrapping;
use crate::lz4;
use crate::memory::Refused;
use crate::nontemporal;
use crate::scratch::Scratch;
use crate::transpose::{MAX_PLANES, bit_unshuffle, unshuffle};
use crate::zstd;

/// So many elements are unshuffled faster by vectors than byte by byte.
const MIN_VECTORS: usize = 32;
/// Bytes that are unshuffled at once before a non-temporal copy.
const TILE_BYTES: usize = 8 << 10;
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
    /// [`crate::error::CodecError::Corrupt`] if a number in the header contradicts `src` or
    /// `decoded_bytes`, [`crate::error::CodecError::Unsupported`] if it names a later format.
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
        decode_streams(&self.header, (self.src, self.offset(index)?), dst, scratch)
    }

    /// Whether [`Self::decode_planes`] does less than [`Self::decode_block`].
    pub fn has_planes(&self) -> bool {
        let header = &self.header;
        !header.stored && header.filter == Filter::Bytes && header.element_bytes > 1
    }

    /// Decodes block `index` into `dst`, which has that block's length, without putting elements
    /// together: [`Planes::copy`] does that for those that are wanted.
    ///
    /// # Errors
    /// As [`Self::decode_block`], and if the frame has no planes.
    pub fn decode_planes(
        &self,
        index: usize,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<Planes<'a>> {
        let header = &self.header;
        header.check_block(index, dst.len())?;
        if !self.has_planes() {
            return Err(corrupt("no planes"));
        }
        scratch.poll_after(dst.len())?;
        let at = self.offset(index)?;
        let mut streams = Streams { src: self.src, at, format: header.format };
        let parts = header.n_streams(dst.len());
        let element_bytes = header.element_bytes;
        let mut planes = Planes {
            stored: [None; MAX_SPLITS],
            is_split: parts > 1,
            element_bytes,
            elements: dst.len() / element_bytes,
        };
        let stream_bytes = stream_bytes(dst.len(), parts)?;
        for (room, stored) in dst.chunks_exact_mut(stream_bytes).zip(&mut planes.stored) {
            *stored = streams.stored_or_decoded(room, scratch)?;
        }
        Ok(planes)
    }

    /// Where block `index` begins in the frame.
    fn offset(&self, index: usize) -> Result<usize> {
        let offset = read_length(&self.src[HEADER_BYTES..], index * LENGTH_BYTES)?;
        check_offset(&self.header, offset, self.src.len())
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

/// A block that is decoded but still byte-shuffled: the first bytes of all elements, then all second
/// ones, and so on.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a> {
    /// The streams that the frame holds uncompressed; the others are decoded.
    stored: [Option<&'a [u8]>; MAX_SPLITS],
    /// Whether each plane is a stream; otherwise, all of them are one.
    is_split: bool,
    element_bytes: usize,
    elements: usize,
}

impl Planes<'_> {
    /// Copies the bytes of the block from `at` on to `to`; `decoded` is the memory that
    /// [`Frame::decode_planes`] filled.
    pub fn copy(&self, decoded: &[u8], at: usize, to: &mut [u8]) {
        // Up to the first complete element.
        let head = (at.next_multiple_of(self.element_bytes) - at).min(to.len());
        let (head, rest) = to.split_at_mut(head);
        self.copy_bytes(decoded, at, head);
        let at = at + head.len();
        let unshuffled = match self.element_bytes {
            ..=MAX_SPLITS => self.unshuffle::<MAX_SPLITS>(decoded, at, rest),
            _ => self.unshuffle::<MAX_PLANES>(decoded, at, rest),
        };
        self.copy_bytes(decoded, at + unshuffled, &mut rest[unshuffled..]);
    }

    /// Copies complete elements from `at` on, if there are enough; returns how many bytes these are.
    fn unshuffle<const PLANES: usize>(&self, decoded: &[u8], at: usize, to: &mut [u8]) -> usize {
        let (n, first) = (self.element_bytes, at / self.element_bytes);
        let count = (to.len() / n).min(self.elements.saturating_sub(first));
        if count < MIN_VECTORS {
            return 0;
        }
        let mut planes: [&[u8]; PLANES] = [&[]; PLANES];
        for (byte, plane) in planes[..n].iter_mut().enumerate() {
            let (stream, begin) = match self.is_split {
                true => (self.stored[byte], if self.stored[byte].is_some() { 0 } else { byte }),
                false => (self.stored[0], byte),
            };
            let begin = begin * self.elements + first;
            *plane = &stream.unwrap_or(decoded)[begin..begin + count];
        }
        unshuffle(&planes[..n], &mut to[..count * n]);
        count * n
    }

    fn copy_bytes(&self, decoded: &[u8], at: usize, to: &mut [u8]) {
        let (mut element, mut byte) = (at / self.element_bytes, at % self.element_bytes);
        for (at, to) in (at..).zip(to) {
            *to = if self.is_split {
                let plane = self.stored[byte];
                plane.map_or_else(|| decoded[byte * self.elements + element], |one| one[element])
            } else {
                // Bytes after the last complete element are not shuffled.
                let is_whole = element < self.elements;
                let from = if is_whole { byte * self.elements + element } else { at };
                self.stored[0].unwrap_or(decoded)[from]
            };
            byte += 1;
            if byte == self.element_bytes {
                (element, byte) = (element + 1, 0);
            }
        }
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
    let stream_bytes = stream_bytes(dst.len(), parts)?;
    let mut planes: [&[u8]; PLANES] = [&[]; PLANES];
    let mut tail: &[u8] = &[];
    // Vector loads that straddle cache lines take twice as long.
    let aligned = block.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    let mut room = &mut block[aligned..aligned + dst.len()];
    for part in 0..parts {
        let (here, rest) = room.split_at_mut(stream_bytes);
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
        Filter::Bytes if scratch.bypasses_caches() => {
            unshuffle_nontemporal::<PLANES>(planes, whole);
        }
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

/// [`unshuffle`] to memory that is in no cache, by way of a tile that stays in one.
fn unshuffle_nontemporal<const PLANES: usize>(planes: &[&[u8]], dst: &mut [u8]) {
    let mut tile = [0; TILE_BYTES];
    let element_bytes = planes.len();
    let elements = dst.len() / element_bytes;
    // Complete cache lines, if elements are not very long.
    let at_once = match TILE_BYTES / element_bytes {
        few @ ..ALIGNMENT => few,
        many => many / ALIGNMENT * ALIGNMENT,
    };
    let mut parts: [&[u8]; PLANES] = [&[]; PLANES];
    for first in (0..elements).step_by(at_once) {
        let end = (first + at_once).min(elements);
        for (part, plane) in parts.iter_mut().zip(planes) {
            *part = &plane[first..end];
        }
        let dst = &mut dst[first * element_bytes..end * element_bytes];
        let tile = &mut tile[..dst.len()];
        unshuffle(&parts[..element_bytes], tile);
        // SAFETY: two slices of one length.
        unsafe { nontemporal::copy(dst.as_mut_ptr(), tile.as_ptr(), tile.len()) };
    }
    nontemporal::finish();
}

/// The decoded length of each of the `parts` streams of a block of `block_bytes`.
fn stream_bytes(block_bytes: usize, parts: usize) -> Result<usize> {
    if block_bytes.is_multiple_of(parts) {
        return Ok(block_bytes / parts);
    }
    Err(corrupt(format!("a block of {block_bytes} bytes in {parts} streams")))
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
        match self.stored_or_decoded(room, scratch)? {
            Some(stored) => Ok(stored),
            None => Ok(room),
        }
    }

    /// The next stream if it is stored uncompressed; otherwise, it is decoded into `room`.
    fn stored_or_decoded(
        &mut self,
        room: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<Option<&'a [u8]>> {
        let stream = self.take(room.len())?;
        if stream.len() == room.len() {
            return Ok(Some(stream));
        }
        decode_stream(self.format, stream, room, scratch)?;
        Ok(None)
    }

    /// Decodes `parts` streams one behind the other into `dst`.
    fn decode_untransposed(
        &mut self,
        dst: &mut [u8],
        parts: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let stream_bytes = stream_bytes(dst.len(), parts)?;
        for part in dst.chunks_exact_mut(stream_bytes) {
            if let Some(stored) = self.stored_or_decoded(part, scratch)? {
                part.copy_from_slice(stored);
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::blosc::{Blosc, Compressor, Shuffle};
    use crate::codec::Codec;

    /// Elements of `element_bytes`: some planes are noise and stored, others become shorter.
    fn elements(element_bytes: usize, bytes: usize) -> Vec<u8> {
        let mut noise = 7u32;
        let byte = |at: usize| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if at % element_bytes < element_bytes.div_ceil(3) {
                (noise >> 24) as u8
            } else {
                (at / 5000) as u8
            }
        };
        (0..bytes).map(byte).collect()
    }

    #[test]
    fn planes_have_each_element_of_a_block() {
        let (mut split, mut stored, mut together) = (0, 0, 0);
        for cname in ["lz4", "lz4hc", "blosclz", "zlib", "zstd", "snappy"] {
            for (element_bytes, block_bytes) in [(2, 0), (3, 3000), (4, 8192), (8, 1025), (20, 999)]
            {
                // The last block is shorter, and has a part of an element.
                let decoded = elements(element_bytes, 20_011);
                let codec = Blosc {
                    compressor: Compressor::named(cname).unwrap(),
                    level: 5,
                    shuffle: Shuffle::Bytes,
                    element_bytes,
                    block_bytes,
                };
                let mut encoded = Vec::new();
                codec.encode(&decoded, &mut encoded, &mut Scratch::default()).unwrap();
                let frame = Frame::parse(&encoded, decoded.len()).unwrap();
                assert!(frame.has_planes());
                for (index, block) in decoded.chunks(frame.block_bytes()).enumerate() {
                    let mut memory = vec![0xA5; block.len()];
                    let planes =
                        frame.decode_planes(index, &mut memory, &mut Scratch::default()).unwrap();
                    split += usize::from(planes.is_split);
                    stored += planes.stored.iter().flatten().count();
                    together += usize::from(!planes.is_split);
                    for length in [1, element_bytes, element_bytes + 3, 61 * element_bytes + 1] {
                        for (at, wanted) in block.windows(length).enumerate() {
                            let mut got = vec![0; length];
                            planes.copy(&memory, at, &mut got);
                            assert_eq!(got, wanted, "{cname} {element_bytes} {index} {at}");
                        }
                    }
                }
            }
        }
        assert!(split > 0 && stored > 0 && together > 0, "{split} {stored} {together}");
    }

    #[test]
    fn frames_without_planes_are_refused() {
        let decoded = elements(4, 4096);
        for (shuffle, element_bytes) in
            [(Shuffle::None, 4), (Shuffle::Bits, 4), (Shuffle::Bytes, 1)]
        {
            let compressor = Compressor::named("lz4").unwrap();
            let codec = Blosc { compressor, level: 5, shuffle, element_bytes, block_bytes: 1024 };
            let mut encoded = Vec::new();
            codec.encode(&decoded, &mut encoded, &mut Scratch::default()).unwrap();
            let frame = Frame::parse(&encoded, decoded.len()).unwrap();
            assert!(!frame.has_planes());
            let mut memory = vec![0; frame.block_bytes()];
            assert!(frame.decode_planes(0, &mut memory, &mut Scratch::default()).is_err());
        }
    }
}
