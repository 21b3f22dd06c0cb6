//! Where the blocks of a frame lie, for readers that fetch only some of them.

use std::ops::Range;

use super::config::corrupt;
use super::decode::{Frame, decode_streams};
use super::header::{Format, HEADER_BYTES, Header, LENGTH_BYTES, check_offset};
use crate::error::Result;
use crate::scratch::Scratch;

impl Frame<'_> {
    /// Length of the header, which [`Frame::prefix_bytes`] needs.
    pub const HEADER_BYTES: usize = HEADER_BYTES;

    /// Length of header and offset table of the frame that begins with `header` and lies at the
    /// start of `stored_bytes`.
    ///
    /// # Errors
    ///
    /// As [`Frame::parse`], for what the header alone shows.
    pub fn prefix_bytes(
        header: &[u8; HEADER_BYTES],
        stored_bytes: usize,
        decoded_bytes: usize,
    ) -> Result<usize> {
        let header = Header::of(header, stored_bytes, decoded_bytes)?;
        Ok(HEADER_BYTES + if header.stored { 0 } else { header.n_blocks() * LENGTH_BYTES })
    }

    /// Which bytes of the frame each block needs; only header and offset table are looked at.
    ///
    /// Blocks may lie in any order. One reaches to the next that begins behind it, which is known
    /// without reading any, and never more than the frame has.
    ///
    /// # Errors
    ///
    /// [`crate::error::CodecError::Corrupt`] when an offset lies outside of the frame's data.
    pub fn extents(&self) -> Result<Vec<Range<usize>>> {
        extents(&self.header(), self.as_slice())
    }

    /// The frame's header and where its blocks lie.
    ///
    /// # Errors
    ///
    /// As [`Frame::extents`].
    pub fn table(&self) -> Result<BlockTable> {
        Ok(BlockTable { header: self.header(), extents: self.extents()? })
    }
}

/// A frame's header and where its blocks lie: a block decodes from it and its own bytes alone.
#[derive(Clone, Debug)]
pub struct BlockTable {
    header: Header,
    extents: Vec<Range<usize>>,
}

impl BlockTable {
    /// The table of the frame that begins with `prefix`, which has [`Frame::prefix_bytes`], and
    /// lies at the start of `stored_bytes`.
    ///
    /// # Errors
    /// As [`Frame::parse`] and [`Frame::extents`].
    pub fn parse(prefix: &[u8], stored_bytes: usize, decoded_bytes: usize) -> Result<Self> {
        let Some(header) = prefix.first_chunk() else {
            return Err(corrupt(format!("{} bytes, shorter than the header", prefix.len())));
        };
        let header = Header::of(header, stored_bytes, decoded_bytes)?;
        Ok(Self { extents: extents(&header, prefix)?, header })
    }

    /// Decoded length of each block except the last.
    pub fn block_bytes(&self) -> usize {
        self.header.block_bytes
    }

    /// Whether the frame is uncompressed.
    pub fn is_stored(&self) -> bool {
        self.header.stored
    }

    /// Whether decoding takes about as long as copying.
    pub fn is_fast(&self) -> bool {
        self.is_stored()
            || matches!(self.header.format, Format::Lz4 | Format::BloscLz | Format::Snappy)
    }

    /// Which bytes of the frame each block needs.
    pub fn extents(&self) -> &[Range<usize>] {
        &self.extents
    }

    /// Decodes block `index` from `extent`, its bytes of the frame, into `dst`, of its length.
    ///
    /// # Errors
    ///
    /// [`crate::error::CodecError::Corrupt`] when the bytes do not decode to that length.
    pub fn decode_block(
        &self,
        index: usize,
        extent: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.header.check_block(index, dst.len())?;
        if !self.header.stored {
            return decode_streams(&self.header, (extent, 0), dst, scratch);
        }
        if extent.len() != dst.len() {
            return Err(corrupt(format!("block {index} of {} bytes is cut short", dst.len())));
        }
        dst.copy_from_slice(extent);
        Ok(())
    }
}

/// Where the blocks of a frame lie, of which `src` has header and offset table.
fn extents(header: &Header, src: &[u8]) -> Result<Vec<Range<usize>>> {
    let (blocks, encoded_bytes) = (header.n_blocks(), header.encoded_bytes);
    if header.stored {
        let begin = |block: usize| (HEADER_BYTES + block * header.block_bytes).min(encoded_bytes);
        return Ok((0..blocks).map(|block| begin(block)..begin(block + 1)).collect());
    }
    let begin = HEADER_BYTES + blocks * LENGTH_BYTES;
    let table = src.get(HEADER_BYTES..begin).ok_or_else(|| corrupt("no offset table"))?;
    let offsets = table.chunks_exact(LENGTH_BYTES).map(|entry| {
        let offset = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]) as usize;
        check_offset(header, offset, encoded_bytes)
    });
    let offsets = offsets.collect::<Result<Vec<_>>>()?;
    let mut sorted = offsets.clone();
    sorted.sort_unstable();
    Ok(offsets
        .into_iter()
        .map(|offset| {
            let next = sorted.partition_point(|other| *other <= offset);
            offset..sorted.get(next).copied().unwrap_or(encoded_bytes)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::blosc::{Blosc, Compressor, Shuffle};
    use crate::codec::Codec;

    #[test]
    fn a_block_decodes_from_its_extent_and_the_prefix_alone() {
        let decoded: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(i) / 977) as u8).collect();
        for (cname, shuffle) in
            [("lz4", Shuffle::Bytes), ("zstd", Shuffle::Bits), ("blosclz", Shuffle::None)]
        {
            let compressor = Compressor::named(cname).unwrap();
            let codec =
                Blosc { compressor, level: 5, shuffle, element_bytes: 4, block_bytes: 8192 };
            let mut encoded = Vec::new();
            codec.encode(&decoded, &mut encoded, &mut Scratch::default()).unwrap();
            let header = encoded.first_chunk().unwrap();
            let prefix = Frame::prefix_bytes(header, encoded.len(), decoded.len()).unwrap();
            let extents = Frame::parse(&encoded, decoded.len()).unwrap().extents().unwrap();
            for (block, extent) in extents.iter().enumerate() {
                let mut sparse = vec![0xA5; encoded.len()];
                sparse[..prefix].copy_from_slice(&encoded[..prefix]);
                sparse[extent.clone()].copy_from_slice(&encoded[extent.clone()]);
                let frame = Frame::parse(&sparse, decoded.len()).unwrap();
                let begin = block * frame.block_bytes();
                let end = (begin + frame.block_bytes()).min(decoded.len());
                let mut got = vec![0; end - begin];
                frame.decode_block(block, &mut got, &mut Scratch::default()).unwrap();
                assert_eq!(got, decoded[begin..end]);
                let table =
                    BlockTable::parse(&encoded[..prefix], encoded.len(), decoded.len()).unwrap();
                got.fill(0);
                let bytes = &encoded[table.extents()[block].clone()];
                table.decode_block(block, bytes, &mut got, &mut Scratch::default()).unwrap();
                assert_eq!(got, decoded[begin..end]);
            }
        }
    }

    #[test]
    fn an_offset_outside_of_the_frame_is_refused() {
        let codec = Blosc {
            compressor: Compressor::named("lz4").unwrap(),
            level: 5,
            shuffle: Shuffle::Bytes,
            element_bytes: 4,
            block_bytes: 512,
        };
        let mut encoded = Vec::new();
        codec.encode(&[7; 4096], &mut encoded, &mut Scratch::default()).unwrap();
        for bad in [0u32, 15, u32::MAX, i32::MAX as u32] {
            encoded[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&bad.to_le_bytes());
            let frame = Frame::parse(&encoded, 4096).unwrap();
            assert!(frame.extents().is_err());
            assert!(frame.decode_into(&mut [0; 4096], &mut Scratch::default()).is_err());
        }
    }
}
