//! PNG (ISO/IEC 15948): 8 or 16 bits of gray or color, with or without alpha.
//!
//! A stream is decoded only if its header has the size of the chunk, and what the stream has besides
//! pixels is skipped. Palettes and few bits become 8 bits of color, and a transparent color becomes
//! alpha, as in imagecodecs; the result has to be what the chunk is. Checksums are verified.

use std::io::{Cursor, Write};
use std::ops::Range;

use png::{
    BitDepth, ColorType, DecodeOptions, Decoder, DecodingError, DeflateCompression, Encoder,
    Filter, Limits, Reader, Transformations,
};

use crate::codec::{Codec, EncodedSize, Picture};
use crate::error::{CodecError, Result};
use crate::image::pixels::{Pixels, decode_bounded, outside};
use crate::memory::{self, Grow};
use crate::scratch::Scratch;

const NAME: &str = "png";
/// Rows between two looks at whether the call was cancelled.
const POLL_ROWS: usize = 64;
/// What the decoder may ask for beside rows: for palettes and other small parts of a stream.
const ROOM: usize = 1 << 20;

/// What a chunk is, and how it is encoded.
#[derive(Clone, Debug)]
pub(crate) struct PngSettings {
    pub(crate) pixels: Pixels,
    /// 0 to 9.
    pub(crate) level: u8,
}

/// One picture.
#[derive(Debug)]
pub(crate) struct Png(pub(crate) PngSettings);

fn corrupt(error: DecodingError) -> CodecError {
    match error {
        DecodingError::IoError(_) => CodecError::corrupt(NAME, "the stream ends early"),
        other => CodecError::corrupt(NAME, other.to_string()),
    }
}

/// From the byte order of PNG to that of memory, or back.
fn swap(samples: &mut [u8]) {
    for pair in samples.chunks_exact_mut(2) {
        pair.swap(0, 1);
    }
}

/// Appends to a vector, or returns an error if there is no memory.
struct Appended<'a>(&'a mut Vec<u8>);

impl Write for Appended<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let refused = |error| std::io::Error::new(std::io::ErrorKind::OutOfMemory, error);
        self.0.append_slice(bytes).map_err(refused)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl PngSettings {
    fn color(&self) -> ColorType {
        match self.pixels.channels {
            1 => ColorType::Grayscale,
            2 => ColorType::GrayscaleAlpha,
            3 => ColorType::Rgb,
            _ => ColorType::Rgba,
        }
    }

    fn depth(&self) -> BitDepth {
        if self.pixels.sample == 2 { BitDepth::Sixteen } else { BitDepth::Eight }
    }
}

impl Png {
    /// A decoder whose header is that of the chunk.
    fn reader<'a>(&self, src: &'a [u8]) -> Result<Reader<Cursor<&'a [u8]>>> {
        let pixels = self.0.pixels;
        let mut options = DecodeOptions::default();
        options.set_ignore_text_chunk(true);
        options.set_ignore_iccp_chunk(true);
        options.set_skip_ancillary_crc_failures(false);
        options.set_ignore_adler32(false);
        let mut decoder = Decoder::new_with_options(Cursor::new(src), options);
        decoder.set_limits(Limits { bytes: 4 * pixels.row_bytes() + ROOM });
        decoder.set_transformations(Transformations::EXPAND);
        let stated = decoder.read_header_info().map_err(corrupt)?.size();
        if stated != (pixels.width, pixels.height) {
            return Err(pixels.of_other_size(NAME, stated));
        }
        let reader = decoder.read_info().map_err(corrupt)?;
        let (color, depth) = reader.output_color_type();
        if (color, depth) != (self.0.color(), self.0.depth()) {
            let reason = format!(
                "has {} channels of {} bits, and the chunk {} of {}",
                color.samples(),
                depth as u8,
                pixels.channels,
                self.0.depth() as u8
            );
            return Err(CodecError::corrupt(NAME, reason));
        }
        Ok(reader)
    }

    /// Decodes the rows before `end`; those from `start` on are left in `dst`.
    fn decode_rows(
        &self,
        reader: &mut Reader<Cursor<&[u8]>>,
        rows: Range<usize>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let length = self.0.pixels.row_bytes();
        let mut spare = memory::zeros(length)?;
        for row in 0..rows.end {
            if row.is_multiple_of(POLL_ROWS) {
                scratch.poll()?;
            }
            let wanted = rows.contains(&row);
            let out = if wanted { &mut dst[row * length..][..length] } else { &mut spare[..] };
            if reader.read_row(out).map_err(corrupt)?.is_none() {
                return Err(CodecError::corrupt(NAME, "has fewer rows than its header says"));
            }
            if wanted && self.0.pixels.sample == 2 {
                swap(out);
            }
        }
        Ok(())
    }
}

impl Codec for Png {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        // A byte for each row, what deflate adds to what it cannot compress, and the header.
        let rows = decoded_bytes + self.0.pixels.height as usize;
        EncodedSize::AtMost(rows + rows / 8 + 4096)
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        self.0.pixels.check_decoded(NAME, decoded_bytes)
    }

    fn picture(&self) -> Option<&dyn Picture> {
        Some(self)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        self.check_decoded(src.len())?;
        scratch.poll()?;
        dst.clear();
        let refused = |error: png::EncodingError| CodecError::Encode {
            codec: NAME,
            reason: error.to_string(),
        };
        let mut encoder = Encoder::new(Appended(dst), self.0.pixels.width, self.0.pixels.height);
        encoder.set_color(self.0.color());
        encoder.set_depth(self.0.depth());
        encoder.set_filter(Filter::Adaptive);
        encoder.set_deflate_compression(match self.0.level {
            0 => DeflateCompression::NoCompression,
            level => DeflateCompression::Level(level),
        });
        let mut writer = encoder.write_header().map_err(refused)?;
        if self.0.pixels.sample == 1 {
            writer.write_image_data(src).map_err(refused)?;
        } else {
            let mut swapped = memory::copied(src)?;
            swap(&mut swapped);
            writer.write_image_data(&swapped).map_err(refused)?;
        }
        writer.finish().map_err(refused)
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let pixels = self.0.pixels;
        pixels.check_room(NAME, dst.len())?;
        let mut reader = self.reader(src)?;
        if reader.info().interlaced {
            reader.next_frame(dst).map_err(corrupt)?;
            if pixels.sample == 2 {
                swap(dst);
            }
        } else {
            self.decode_rows(&mut reader, 0..pixels.height as usize, dst, scratch)?;
        }
        // The rest of the stream, so that a cut or a damaged end is an error.
        reader.finish().map_err(corrupt)
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        decode_bounded((self, NAME), self.0.pixels.bytes(), src, (limit_bytes, dst), scratch)
    }
}

impl Picture for Png {
    fn row_bytes(&self) -> usize {
        self.0.pixels.row_bytes()
    }

    /// The rows above are decoded, too, and those below are not.
    fn decode_part(
        &self,
        src: &[u8],
        rows: Range<usize>,
        _bytes: Range<usize>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if rows.end >= self.0.pixels.height as usize || rows.start > rows.end {
            return self.decode_into(src, dst, scratch);
        }
        let mut reader = self.reader(src)?;
        if reader.info().interlaced {
            return self.decode_into(src, dst, scratch);
        }
        if dst.len() != self.0.pixels.bytes() {
            return Err(outside(NAME));
        }
        self.decode_rows(&mut reader, rows, dst, scratch)
    }
}
