//! Deflate with the gzip wrapping, the zlib wrapping or none.

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::libdeflate::{Failure, Wrapping};
use crate::memory::Refused;
use crate::scratch::Scratch;

/// The gzip and zlib codecs.
#[derive(Debug)]
pub struct Deflate {
    wrapping: Wrapping,
    level: i32,
}

impl Deflate {
    /// `level` is zlib's: 0 to 9, or -1 for the default.
    pub fn new(wrapping: Wrapping, level: i32) -> Result<Self> {
        match level {
            -1 => Ok(Self { wrapping, level: 6 }),
            0..=9 => Ok(Self { wrapping, level }),
            _ => Err(CodecError::Configuration {
                codec: wrapping.name().to_owned(),
                reason: format!("level {level} is outside 0..=9"),
            }),
        }
    }

    /// Decodes all of `src`; returns the bytes written.
    fn decode(
        &self,
        src: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<std::result::Result<usize, Failure>> {
        let name = self.wrapping.name();
        let inflater =
            scratch.inflater().ok_or(CodecError::Memory(Refused { bytes: dst.len() }))?;
        let (mut from, mut to) = (0, 0);
        loop {
            match inflater.decompress(self.wrapping, &src[from..], &mut dst[to..]) {
                Ok((read, written)) => {
                    from += read;
                    to += written;
                }
                Err(failure) => return Ok(Err(failure)),
            }
            let rest = &src[from..];
            let is_ignored = match self.wrapping {
                // Zeros after the last member are padding, as gzip itself reads them.
                Wrapping::Gzip => rest.iter().all(|&b| b == 0),
                // Python's zlib ignores bytes after its stream.
                Wrapping::Zlib => true,
                Wrapping::Raw => rest.is_empty(),
            };
            if is_ignored {
                scratch.ignore(rest.len());
                return Ok(Ok(to));
            }
            if self.wrapping != Wrapping::Gzip || !rest.starts_with(&[0x1f, 0x8b]) {
                return Err(CodecError::corrupt(
                    name,
                    format!("{} bytes of something else after the stream", rest.len()),
                ));
            }
        }
    }
}

impl Codec for Deflate {
    fn name(&self) -> &str {
        self.wrapping.name()
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        // Stored blocks are the worst case: five bytes each, at least 5000 bytes long.
        let stored = (decoded_bytes / 5000).saturating_add(1).saturating_mul(5);
        EncodedSize::AtMost(decoded_bytes.saturating_add(stored).saturating_add(64))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        if let Some(deflater) = scratch.deflater(self.level)
            && deflater.compress(self.wrapping, src, dst)?
        {
            return Ok(());
        }
        // The destination has room for the worst case.
        Err(CodecError::Memory(Refused { bytes: src.len() }))
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let name = self.wrapping.name();
        let expected = dst.len();
        let reason = match self.decode(src, dst, scratch)? {
            Ok(bytes) if bytes == expected => return Ok(()),
            Ok(bytes) => format!("decodes to {bytes} bytes, {expected} expected"),
            Err(Failure::TooSmall) => format!("decodes to more than {expected} bytes"),
            Err(Failure::Bad) => format!("{} damaged or cut bytes", src.len()),
        };
        Err(CodecError::corrupt(name, reason))
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let name = self.wrapping.name();
        let hint = src.len().saturating_mul(4);
        let fits = crate::bounded::grow(dst, hint, limit_bytes, |room| {
            match self.decode(src, room, scratch)? {
                Ok(bytes) => Ok(Some(bytes)),
                Err(Failure::TooSmall) => Ok(None),
                Err(Failure::Bad) => {
                    Err(CodecError::corrupt(name, format!("{} damaged or cut bytes", src.len())))
                }
            }
        })?;
        if fits { Ok(()) } else { Err(crate::bounded::too_long(name, limit_bytes)) }
    }
}
