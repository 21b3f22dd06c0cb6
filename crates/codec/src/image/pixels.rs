//! What all codecs of pictures have in common: the pixels of a chunk, which a stream has to have.

use crate::bounded;
use crate::codec::Codec;
use crate::error::{CodecError, Result};
use crate::memory::Grow;
use crate::scratch::Scratch;

/// The pixels of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pixels {
    pub(crate) height: u32,
    pub(crate) width: u32,
    /// 1 to 4: gray, with alpha, RGB, with alpha.
    pub(crate) channels: u32,
    /// Bytes of a sample: 1 or 2.
    pub(crate) sample: u32,
}

impl Pixels {
    pub(crate) fn row_bytes(self) -> usize {
        self.width as usize * self.channels as usize * self.sample as usize
    }

    pub(crate) fn bytes(self) -> usize {
        self.height as usize * self.row_bytes()
    }

    /// An error if a chunk of `decoded_bytes` is not these pixels.
    pub(crate) fn check_decoded(self, codec: &'static str, decoded_bytes: usize) -> Result<()> {
        if decoded_bytes == self.bytes() {
            return Ok(());
        }
        let Self { height, width, channels, sample } = self;
        Err(CodecError::Configuration {
            codec: codec.to_owned(),
            reason: format!(
                "a chunk of {decoded_bytes} bytes is not a picture of {height} x {width} x \
                 {channels}, of {} bits",
                8 * sample
            ),
        })
    }

    /// An error if memory of `room_bytes` is not what the pixels need.
    pub(crate) fn check_room(self, codec: &'static str, room_bytes: usize) -> Result<()> {
        if room_bytes == self.bytes() {
            return Ok(());
        }
        let Self { height, width, .. } = self;
        Err(CodecError::corrupt(
            codec,
            format!("{room_bytes} bytes are not {height} x {width} pixels"),
        ))
    }

    /// The error of a stream whose header says another size.
    pub(crate) fn of_other_size(
        self,
        codec: &'static str,
        stated: (impl std::fmt::Display, impl std::fmt::Display),
    ) -> CodecError {
        let Self { height, width, .. } = self;
        let (across, down) = stated;
        let reason = format!("is {across} x {down} pixels, and the chunk {width} x {height}");
        CodecError::corrupt(codec, reason)
    }
}

/// Decodes a whole picture of `bytes` bytes, if that is at most `limit_bytes`.
pub(crate) fn decode_bounded(
    (codec, name): (&dyn Codec, &'static str),
    bytes: usize,
    src: &[u8],
    (limit_bytes, dst): (usize, &mut Vec<u8>),
    scratch: &mut Scratch,
) -> Result<()> {
    if bytes > limit_bytes {
        return Err(bounded::too_long(name, limit_bytes));
    }
    dst.set_length(bytes)?;
    codec.decode_into(src, dst, scratch)
}

/// The error of a part that does not lie in the picture.
pub(crate) fn outside(codec: &'static str) -> CodecError {
    CodecError::corrupt(codec, "the part is outside of the picture")
}
