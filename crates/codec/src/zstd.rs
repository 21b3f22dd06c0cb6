//! Zstandard: one or more frames, decoded in one shot.
//!
//! The content size in a frame header is a hint and never an allocation: the decoder gets a
//! destination of the declared size and stops there.

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::{Grow, Refused};
use crate::scratch::Scratch;

const NAME: &str = "zstd";

/// First bytes of a frame of the format since 0.8.
const MAGIC: u32 = 0xFD2F_B528;
/// First bytes of a skippable frame, except the lowest four bits.
const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;

/// Decodes the frames in `src` into `dst`; returns how many bytes they hold, or zstd's error code.
///
/// Frames are told apart here and not by zstd, whose build may accept the formats of before 0.8:
/// no array was written with those, and their decoders are not ones to feed with damaged bytes.
pub(crate) fn decompress(
    mut src: &[u8],
    dst: &mut [u8],
    scratch: &mut Scratch,
) -> std::result::Result<usize, usize> {
    let mut at = 0;
    loop {
        let magic = src.first_chunk::<4>().map_or(0, |magic| u32::from_le_bytes(*magic));
        if magic != MAGIC && magic & !0xF != SKIPPABLE_MAGIC {
            return Err(unknown_prefix());
        }
        let (frame, rest) = match zstd_safe::find_frame_compressed_size(src) {
            Ok(bytes) => src.split_at_checked(bytes).ok_or_else(unknown_prefix)?,
            Err(code) => return Err(code),
        };
        at += scratch.zstd_decoder().map_err(|_| no_memory())?.decompress(&mut dst[at..], frame)?;
        if rest.is_empty() {
            return Ok(at);
        }
        src = rest;
    }
}

/// The longest block of a frame.
const BLOCK_BYTES: usize = 128 << 10;
/// In the byte after the magic number: the decoded bytes have a checksum.
const HAS_CHECKSUM: u8 = 1 << 2;

/// Whether `src` is one complete frame that declares `decoded_bytes`, and has no checksum.
fn is_one_plain_frame(src: &[u8], decoded_bytes: usize) -> bool {
    let [a, b, c, d, descriptor, ..] = *src else { return false };
    u32::from_le_bytes([a, b, c, d]) == MAGIC
        && descriptor & HAS_CHECKSUM == 0
        && zstd_safe::find_frame_compressed_size(src) == Ok(src.len())
        && zstd_safe::get_frame_content_size(src)
            .is_ok_and(|bytes| bytes == Some(decoded_bytes as u64))
}

/// Decodes the frame in `src` into `dst`, block by block, until `needed` bytes are decoded.
///
/// The parameter makes zstd decode to `dst` directly. Each call gets what the one before asked
/// for, which is one block: with the whole frame, zstd would decode all of it at once.
fn decompress_prefix(
    src: &[u8],
    needed: usize,
    dst: &mut [u8],
    decoder: &mut zstd_safe::DCtx<'static>,
) -> std::result::Result<(), usize> {
    use zstd_safe::{DParameter, InBuffer, OutBuffer, ResetDirective};
    decoder.reset(ResetDirective::SessionAndParameters)?;
    decoder.set_parameter(DParameter::StableOutBuffer(true))?;
    let mut output = OutBuffer::around(dst);
    // The longest header of a frame has 18 bytes.
    let (mut at, mut next) = (0, 18);
    while output.pos() < needed && next > 0 && at < src.len() {
        let mut input = InBuffer::around(&src[at..src.len().min(at + next)]);
        next = decoder.decompress_stream(&mut output, &mut input)?;
        at += input.pos();
    }
    let decoded = output.pos();
    decoder.reset(ResetDirective::SessionAndParameters)?;
    if decoded < needed { Err(too_short()) } else { Ok(()) }
}

/// A dictionary, with which other programs compress texts that are alike.
pub struct Dictionary(zstd_safe::DDict<'static>);

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dictionary")
    }
}

impl Dictionary {
    /// The dictionary in these bytes.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        let made = zstd_safe::DDict::try_create(bytes);
        made.map(Self).ok_or_else(|| CodecError::corrupt(NAME, "the dictionary is not valid"))
    }

    /// Fills `dst` with the frame in `src`, and returns its length; a longer one is an error.
    pub fn decode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        let magic = src.first_chunk::<4>().map_or(0, |magic| u32::from_le_bytes(*magic));
        if magic != MAGIC {
            return Err(corrupt(unknown_prefix(), src, dst.len()));
        }
        let most = dst.len();
        let done = scratch.zstd_decoder()?.decompress_using_ddict(dst, src, &self.0);
        done.map_err(|code| corrupt(code, src, most))
    }
}

/// zstd's code for `ZSTD_error_prefix_unknown`, the tenth of its errors.
fn unknown_prefix() -> usize {
    10_usize.wrapping_neg()
}

/// zstd's code for `ZSTD_error_srcSize_wrong`.
fn too_short() -> usize {
    72_usize.wrapping_neg()
}

/// zstd's code for `ZSTD_error_memory_allocation`.
fn no_memory() -> usize {
    64_usize.wrapping_neg()
}

/// The zstd codec, bound to its level and to whether frames carry a checksum.
#[derive(Debug)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    /// `level` is what zstd accepts (negative levels are faster, 0 is the default level).
    pub fn new(level: i32, checksum: bool) -> Result<Self> {
        let allowed = zstd_safe::min_c_level()..=zstd_safe::max_c_level();
        if !allowed.contains(&level) {
            return Err(CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: format!("level {level} is outside {}..={}", allowed.start(), allowed.end()),
            });
        }
        Ok(Self { level, checksum })
    }
}

fn encode_error(code: usize) -> CodecError {
    CodecError::Encode { codec: NAME, reason: zstd_safe::get_error_name(code).to_owned() }
}

fn corrupt(code: usize, src: &[u8], expected_bytes: usize) -> CodecError {
    if code == no_memory() {
        return CodecError::Memory(Refused { bytes: expected_bytes });
    }
    CodecError::corrupt(
        NAME,
        format!(
            "{} bytes do not decode to {expected_bytes}: {}",
            src.len(),
            zstd_safe::get_error_name(code)
        ),
    )
}

impl Codec for Zstd {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        // zstd's own bound overflows to an error code near the end of the address space.
        let slack = decoded_bytes / 128 + 1024;
        EncodedSize::AtMost(decoded_bytes.saturating_add(slack))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        use zstd_safe::CParameter;
        dst.clear();
        dst.make_room(zstd_safe::compress_bound(src.len()))?;
        let encoder = scratch.zstd_encoder()?;
        encoder
            .set_parameter(CParameter::CompressionLevel(self.level))
            .and_then(|_| encoder.set_parameter(CParameter::ChecksumFlag(self.checksum)))
            .and_then(|_| encoder.compress2(dst, src))
            .map_err(encode_error)?;
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let expected_bytes = dst.len();
        let bytes =
            decompress(src, dst, scratch).map_err(|code| corrupt(code, src, expected_bytes))?;
        if bytes != expected_bytes {
            return Err(CodecError::corrupt(
                NAME,
                format!("decodes to {bytes} bytes, {expected_bytes} expected"),
            ));
        }
        Ok(())
    }

    fn decode_prefix(
        &self,
        src: &[u8],
        needed: usize,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let decoded_bytes = dst.len();
        if needed.saturating_add(BLOCK_BYTES) > decoded_bytes
            || !is_one_plain_frame(src, decoded_bytes)
        {
            return self.decode_into(src, dst, scratch);
        }
        let decoder = scratch.zstd_decoder()?;
        decompress_prefix(src, needed, dst, decoder)
            .map_err(|code| corrupt(code, src, decoded_bytes))
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let hint = match zstd_safe::get_frame_content_size(src) {
            Ok(Some(bytes)) => usize::try_from(bytes).unwrap_or(usize::MAX),
            _ => src.len().saturating_mul(4),
        };
        crate::bounded::grow(dst, hint, limit_bytes, |room| match decompress(src, room, scratch) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(code) if is_too_small(code) => Ok(None),
            Err(code) => Err(corrupt(code, src, limit_bytes)),
        })
        .and_then(|fits| {
            if fits { Ok(()) } else { Err(crate::bounded::too_long(NAME, limit_bytes)) }
        })
    }
}

/// Whether `code` says that the destination is too small, the only error that another attempt can
/// avoid.
fn is_too_small(code: usize) -> bool {
    zstd_safe::get_error_name(code) == "Destination buffer is too small"
}
