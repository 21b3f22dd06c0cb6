//! Members of zip archives: how the values of a zip store are compressed.
//!
//! These are not codecs of chunks, but use the same bounded decoders: the length of a member is
//! declared, and decoding stops there. The numbers are those of the format's specification (APPNOTE
//! 4.4.5).

use crate::bz2::Bz2;
use crate::codec::Codec;
use crate::deflate::Deflate;
use crate::error::{CodecError, Result};
use crate::libdeflate::{self, Wrapping};
use crate::lzma::{self, Lzma};
use crate::memory::{Grow, copied};
use crate::scratch::Scratch;
use crate::zstd::Zstd;

/// What a member of a zip archive is compressed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Nothing.
    Stored,
    /// RFC 1951, at level 6 when written.
    Deflate,
    /// One bzip2 stream.
    Bzip2,
    /// LZMA1 behind a header of its own.
    Lzma,
    /// A zstd frame.
    Zstd,
}

const METHODS: [(u16, Method); 6] = [
    (0, Method::Stored),
    (8, Method::Deflate),
    (12, Method::Bzip2),
    (14, Method::Lzma),
    (93, Method::Zstd),
    // The number of zstd before it got its own.
    (20, Method::Zstd),
];

/// The header of an LZMA member: the encoder's version, and the length of its properties.
const LZMA_HEADER: [u8; 4] = [9, 4, 5, 0];
const LZMA_PROPERTIES: usize = 5;
/// In the older .lzma files, a length that the stream's own end mark tells.
const LZMA_UNKNOWN_LENGTH: [u8; 8] = [0xFF; 8];

impl Method {
    /// The method of that number, if it is one that can be decoded.
    #[must_use]
    pub fn of(number: u16) -> Option<Self> {
        METHODS.iter().find(|(known, _)| *known == number).map(|(_, method)| *method)
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u16 {
        METHODS.iter().find(|(_, method)| *method == self).map_or(0, |(number, _)| *number)
    }

    /// `None` if the bytes are stored uncompressed, or wrapped in more than a codec.
    fn codec(self) -> Result<Option<Box<dyn Codec>>> {
        Ok(match self {
            Self::Stored | Self::Lzma => None,
            Self::Deflate => Some(Box::new(Deflate::new(Wrapping::Raw, -1)?)),
            Self::Bzip2 => Some(Box::new(Bz2::new(9)?)),
            Self::Zstd => Some(Box::new(Zstd::new(3, false)?)),
        })
    }

    /// Replaces the content of `dst` by the member for `src`.
    pub fn encode(self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        if let Some(codec) = self.codec()? {
            return codec.encode(src, dst, scratch);
        }
        if self == Self::Stored {
            dst.set_to(src)?;
            return Ok(());
        }
        let mut alone = Vec::new();
        alone_lzma()?.encode(src, &mut alone, scratch)?;
        let data = alone.get(LZMA_PROPERTIES + LZMA_UNKNOWN_LENGTH.len()..).unwrap_or_default();
        dst.set_to(&LZMA_HEADER)?;
        dst.append_slice(&alone[..LZMA_PROPERTIES.min(alone.len())])?;
        Ok(dst.append_slice(data)?)
    }

    /// Decodes the member `src` into exactly `dst.len()` bytes.
    pub fn decode_into(self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        if let Some(codec) = self.codec()? {
            return codec.decode_into(src, dst, scratch);
        }
        if self == Self::Stored {
            if src.len() != dst.len() {
                let reason = format!("{} bytes stored, {} declared", src.len(), dst.len());
                return Err(CodecError::corrupt("stored", reason));
            }
            dst.copy_from_slice(src);
            return Ok(());
        }
        alone_lzma()?.decode_into(&alone(src)?, dst, scratch)
    }

    /// Replaces the content of `dst` by the decoded form of the member `src`, at most `limit_bytes`
    /// long, in memory that grows with what is decoded.
    pub fn decode_bounded(
        self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        match self.codec()? {
            Some(codec) => codec.decode_bounded(src, limit_bytes, dst, scratch),
            None if self == Self::Stored => {
                dst.set_length(src.len())?;
                self.decode_into(src, dst, scratch)
            }
            None => alone_lzma()?.decode_bounded(&alone(src)?, limit_bytes, dst, scratch),
        }
    }
}

/// The older .lzma file that an LZMA member is.
fn alone(src: &[u8]) -> Result<Vec<u8>> {
    let cut = || CodecError::corrupt(lzma::NAME, "the member's header is cut or unknown");
    let (header, rest) = src.split_first_chunk::<4>().ok_or_else(cut)?;
    if usize::from(u16::from_le_bytes([header[2], header[3]])) != LZMA_PROPERTIES {
        return Err(cut());
    }
    let (properties, data) = rest.split_at_checked(LZMA_PROPERTIES).ok_or_else(cut)?;
    let mut file = copied(properties)?;
    file.append_slice(&LZMA_UNKNOWN_LENGTH)?;
    file.append_slice(data)?;
    Ok(file)
}

fn alone_lzma() -> Result<Lzma> {
    let preset = lzma::Tuning::preset(lzma::DEFAULT_PRESET);
    Lzma::new(lzma::Format::Alone, lzma::NO_CHECK, vec![lzma::Filter::Lzma1(preset)])
}

/// The checksum of members.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    libdeflate::crc32(bytes)
}
