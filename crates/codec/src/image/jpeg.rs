//! JPEG (ITU-T T.81), by libjpeg: the values are those of libjpeg-turbo, to the bit.
//!
//! A stream is decoded only if its header has the size and the components of the chunk. Warnings of
//! libjpeg are errors. The encoder writes baseline streams with a restart marker after each row of
//! MCUs, of which a part can be decoded alone ([`Bands`]).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

// The shim calls it; nothing of it is named here.
use mozjpeg_sys as _;

use crate::bounded;
use crate::codec::{Codec, EncodedSize, Picture};
use crate::error::{CodecError, Result};
use crate::image::jpeg_bands::{Bands, Cut};
use crate::image::pixels::{Pixels, decode_bounded, outside};
use crate::memory::Refused;
use crate::scratch::Scratch;

const NAME: &str = "jpeg";
const END_OF_IMAGE: [u8; 2] = [0xff, 0xd9];
/// Room for a message of the shim.
const MESSAGE: usize = 200;

/// How libjpeg numbers color spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Space {
    /// One component.
    Gray = 1,
    /// Red, green, blue.
    Rgb = 2,
    /// Brightness, and two differences of color.
    YCbCr = 3,
}

/// What a chunk is, and how it is encoded.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Those of the stream, of 1 or 3 channels.
    pub(crate) pixels: Pixels,
    /// 0 to 100.
    pub(crate) quality: i32,
    /// Pixels across and down for each sample of color.
    pub(crate) subsampling: (i32, i32),
    pub(crate) optimize: bool,
    /// What the stream has; `None` as its header says.
    pub(crate) stored_space: Option<Space>,
    pub(crate) space: Space,
    /// A stream of tables only, to be read before that of a chunk.
    pub(crate) tables: Vec<u8>,
    /// The bytes before a chunk that make it a stream.
    pub(crate) header: Vec<u8>,
    /// 1, or 2, 4 or 8: the chunk has the picture with each side divided by it, for reading only.
    pub(crate) reduction: u32,
}

/// One picture of 8 bits, gray or of three components.
#[derive(Debug)]
pub(crate) struct Jpeg(pub(crate) Settings);

#[repr(C)]
struct Piece {
    bytes: *const u8,
    length: usize,
}

impl Piece {
    fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.as_ptr(), length: bytes.len() }
    }
}

#[repr(C)]
struct Read {
    pieces: *const Piece,
    n_pieces: usize,
    tables: Piece,
    width: u32,
    height: u32,
    channels: u32,
    stored_space: i32,
    space: i32,
    first_restart: i32,
    reduction: u32,
    left: u32,
    columns: u32,
    top: u32,
    rows: u32,
    out: *mut u8,
    stride: usize,
    poll: extern "C" fn(*mut c_void) -> c_int,
    polled: *mut c_void,
}

#[repr(C)]
struct Write {
    pixels: *const u8,
    width: u32,
    height: u32,
    channels: u32,
    stored_space: i32,
    space: i32,
    quality: i32,
    horizontal: i32,
    vertical: i32,
    optimize: i32,
    out: *mut u8,
    room: usize,
    written: usize,
}

unsafe extern "C" {
    fn zarrix_jpeg_decode(read: *const Read, message: *mut c_char) -> c_int;
    fn zarrix_jpeg_encode(write: *mut Write, message: *mut c_char) -> c_int;
}

/// Whether the call was cancelled.
extern "C" fn poll(scratch: *mut c_void) -> c_int {
    // SAFETY: the pointer is that of `Jpeg::decode`, which holds the scratch during the call.
    let scratch = unsafe { &*scratch.cast::<Scratch>() };
    c_int::from(scratch.poll().is_err())
}

/// A box of pixels of the stream that is decoded.
struct Window {
    rows: Range<usize>,
    columns: Range<usize>,
}

/// The text that the shim left.
fn text(message: &[u8; MESSAGE]) -> String {
    let text = CStr::from_bytes_until_nul(message).unwrap_or_default();
    text.to_string_lossy().into_owned()
}

impl Jpeg {
    /// Decodes a window of a stream of `height` rows to `out`, with the chunk's bytes of a row from
    /// one row to the next.
    fn decode(
        &self,
        pieces: &[Piece],
        (height, first_restart): (usize, usize),
        window: &Window,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let settings = &self.0;
        let Pixels { width, channels, .. } = settings.pixels;
        let stride = settings.decoded().row_bytes();
        let (rows, columns) = (window.rows.len(), window.columns.len());
        let reached = (rows.saturating_sub(1)) * stride + columns * channels as usize;
        if rows == 0 || columns == 0 || reached > out.len() {
            return Err(outside(NAME));
        }
        let read = Read {
            pieces: pieces.as_ptr(),
            n_pieces: pieces.len(),
            tables: Piece::of(&settings.tables),
            width,
            height: height as u32,
            channels,
            stored_space: settings.stored_space.map_or(-1, |space| space as i32),
            space: settings.space as i32,
            first_restart: first_restart as i32,
            reduction: settings.reduction,
            left: window.columns.start as u32,
            columns: columns as u32,
            top: window.rows.start as u32,
            rows: rows as u32,
            out: out.as_mut_ptr(),
            stride,
            poll,
            polled: std::ptr::from_mut(scratch).cast(),
        };
        let mut message = [0_u8; MESSAGE];
        // SAFETY: all pointers are valid during the call; the shim writes `rows` rows of `columns`
        // pixels, `stride` apart, which `out` has room for, and a message of at most MESSAGE bytes.
        let status = unsafe { zarrix_jpeg_decode(&raw const read, message.as_mut_ptr().cast()) };
        match status {
            0 => Ok(()),
            2 => Err(CodecError::Memory(Refused { bytes: settings.decoded().bytes() })),
            3 => Err(CodecError::Interrupted),
            _ => Err(CodecError::corrupt(NAME, text(&message))),
        }
    }

    fn decode_window(
        &self,
        src: &[u8],
        window: &Window,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let height = self.0.pixels.height as usize;
        if !self.0.header.is_empty() {
            let pieces = [&self.0.header, src, &END_OF_IMAGE].map(Piece::of);
            return self.decode(&pieces, (height, 0), window, out, scratch);
        }
        let Some((bands, cut)) = self.cut(src, &window.rows) else {
            return self.decode(&[Piece::of(src)], (height, 0), window, out, scratch);
        };
        let rows = cut.rows.len();
        let patch = (rows as u16).to_be_bytes();
        let (before, after) = (&src[..bands.height_at], &src[bands.height_at + 2..bands.data_at]);
        let pieces = [before, &patch, after, &src[cut.data], &END_OF_IMAGE].map(Piece::of);
        let (top, end) = (window.rows.start - cut.rows.start, window.rows.end - cut.rows.start);
        let window = Window { rows: top..end, columns: window.columns.clone() };
        self.decode(&pieces, (rows, cut.first_marker), &window, out, scratch)
    }

    /// The bands for `rows`, if they are less than the picture.
    fn cut(&self, src: &[u8], rows: &Range<usize>) -> Option<(Bands, Cut)> {
        let height = self.0.pixels.height as usize;
        if rows.len() == height || self.0.reduction > 1 {
            return None;
        }
        let bands = Bands::of(src)?;
        // Another height or width than that of the chunk is an error of the whole stream.
        let stated = [bands.height_at, bands.height_at + 2].map(|at| src.get(at..at + 2));
        let expected =
            [self.0.pixels.height, self.0.pixels.width].map(|side| (side as u16).to_be_bytes());
        if stated != [Some(expected[0].as_slice()), Some(expected[1].as_slice())] {
            return None;
        }
        let cut = bands.cut(src, rows.clone(), height)?;
        (cut.rows.len() < height).then_some((bands, cut))
    }
}

impl Settings {
    /// The pixels of the chunk: as many as the stream has, or those of a smaller picture.
    fn decoded(&self) -> Pixels {
        let Pixels { height, width, .. } = self.pixels;
        let [height, width] = [height, width].map(|side| side.div_ceil(self.reduction));
        Pixels { height, width, ..self.pixels }
    }

    /// More than any stream of this encoder: 6 bytes for each pixel of whole MCUs, as libjpeg-turbo
    /// states, and markers.
    fn most_encoded(&self) -> usize {
        let whole = |side: u32| (side as usize).next_multiple_of(32);
        let Pixels { height, width, channels, .. } = self.pixels;
        let pixels = whole(width).saturating_mul(whole(height));
        pixels.saturating_mul(2 * channels as usize).saturating_add(4096)
    }
}

impl Codec for Jpeg {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, _decoded_bytes: usize) -> EncodedSize {
        EncodedSize::AtMost(self.0.most_encoded())
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        self.0.decoded().check_decoded(NAME, decoded_bytes)
    }

    fn reads_source_once(&self) -> bool {
        // What it reads are samples; whichever they are, the stream decodes.
        true
    }

    fn is_lossy(&self) -> bool {
        true
    }

    fn picture(&self) -> Option<&dyn Picture> {
        (self.0.reduction == 1).then_some(self as &dyn Picture)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let settings = &self.0;
        self.check_decoded(src.len())?;
        if settings.reduction > 1 {
            let reason = "smaller copies of pictures are read-only".to_owned();
            return Err(CodecError::Encode { codec: NAME, reason });
        }
        scratch.poll()?;
        let Pixels { height, width, channels, .. } = settings.pixels;
        let gray = channels == 1;
        let stored = settings.stored_space.unwrap_or(if gray { Space::Gray } else { Space::YCbCr });
        let most = settings.most_encoded();
        let done = bounded::grow(dst, src.len() / 2 + 4096, most, |out| {
            let mut write = Write {
                pixels: src.as_ptr(),
                width,
                height,
                channels,
                stored_space: stored as i32,
                space: settings.space as i32,
                quality: settings.quality,
                horizontal: settings.subsampling.0,
                vertical: settings.subsampling.1,
                optimize: i32::from(settings.optimize),
                out: out.as_mut_ptr(),
                room: out.len(),
                written: 0,
            };
            let mut message = [0_u8; MESSAGE];
            // SAFETY: the pixels are those of the size that was compared above, the room is that of
            // `out`, and a message has at most MESSAGE bytes.
            let status = unsafe { zarrix_jpeg_encode(&raw mut write, message.as_mut_ptr().cast()) };
            match status {
                0 => Ok(Some(write.written)),
                2 => Err(CodecError::Memory(Refused { bytes: most })),
                4 => Ok(None),
                _ => Err(CodecError::Encode { codec: NAME, reason: text(&message) }),
            }
        })?;
        if done {
            return Ok(());
        }
        Err(CodecError::Encode { codec: NAME, reason: format!("needs more than {most} bytes") })
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let pixels = self.0.decoded();
        pixels.check_room(NAME, dst.len())?;
        let (rows, columns) = (0..pixels.height as usize, 0..pixels.width as usize);
        self.decode_window(src, &Window { rows, columns }, dst, scratch)
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        decode_bounded((self, NAME), self.0.decoded().bytes(), src, (limit_bytes, dst), scratch)
    }
}

impl Picture for Jpeg {
    fn row_bytes(&self) -> usize {
        self.0.decoded().row_bytes()
    }

    fn decode_part(
        &self,
        src: &[u8],
        rows: Range<usize>,
        bytes: Range<usize>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let pixel = self.0.pixels.channels as usize;
        let columns = bytes.start / pixel..bytes.end.div_ceil(pixel);
        let at = rows.start * self.row_bytes() + columns.start * pixel;
        let Some(out) = dst.get_mut(at..) else { return Err(outside(NAME)) };
        self.decode_window(src, &Window { rows, columns }, out, scratch)
    }
}
