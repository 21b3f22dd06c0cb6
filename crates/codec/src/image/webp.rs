//! WebP (RFC 9649), lossless or lossy, by libwebp: RGB, or RGB and alpha, of 8 bits.
//!
//! A stream is decoded only if its header has the size of the chunk. Animations are refused.
//! In a lossless stream, the colors of transparent pixels are kept.

use std::ffi::{c_int, c_void};

use libwebp_sys as webp;

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::image::pixels::{Pixels, decode_bounded};
use crate::memory::{self, Grow, Refused};
use crate::scratch::Scratch;

const NAME: &str = "webp";

/// What a chunk is, and how it is encoded.
#[derive(Clone, Debug)]
pub(crate) struct WebpSettings {
    /// Of 3 or 4 channels.
    pub(crate) pixels: Pixels,
    pub(crate) lossless: bool,
    /// 0 to 100: the quality of a lossy stream, the effort for a lossless one.
    pub(crate) quality: f32,
    /// 0 to 6: from fast to small.
    pub(crate) method: i32,
    /// The alpha of a stream is left out if the chunk has none; else it is an error.
    pub(crate) drops_alpha: bool,
}

/// One picture.
#[derive(Debug)]
pub(crate) struct Webp(pub(crate) WebpSettings);

/// What libwebp writes to.
struct Written {
    bytes: Vec<u8>,
    refused: bool,
}

/// Appends what libwebp has encoded.
unsafe extern "C" fn write(
    data: *const u8,
    length: usize,
    picture: *const webp::WebPPicture,
) -> c_int {
    // SAFETY: the pointer is that of `Webp::encode`, which holds the output during the call.
    let out = unsafe { &mut *(*picture).custom_ptr.cast::<Written>() };
    if length == 0 {
        return 1;
    }
    // SAFETY: libwebp passes that many bytes.
    let encoded = unsafe { std::slice::from_raw_parts(data, length) };
    out.refused = out.bytes.append_slice(encoded).is_err();
    c_int::from(!out.refused)
}

/// The picture of libwebp, freed in any case.
struct Owned(webp::WebPPicture);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it was initialized; what it has not allocated is null.
        unsafe { webp::WebPPictureFree(&raw mut self.0) }
    }
}

fn other_version<T>((): ()) -> Result<T> {
    Err(CodecError::Unsupported { codec: NAME, reason: "libwebp has another version".to_owned() })
}

impl Webp {
    fn failed(&self, status: webp::VP8StatusCode) -> CodecError {
        let reason = match status {
            // libwebp says so of damaged alpha, too. It asks for a few times the picture.
            webp::VP8StatusCode::VP8_STATUS_OUT_OF_MEMORY => {
                match memory::with_room::<u8>(self.0.pixels.bytes().saturating_mul(4)) {
                    Err(refused) => return CodecError::Memory(refused),
                    Ok(_) => "the stream is damaged",
                }
            }
            webp::VP8StatusCode::VP8_STATUS_NOT_ENOUGH_DATA
            | webp::VP8StatusCode::VP8_STATUS_SUSPENDED => "the stream ends early",
            webp::VP8StatusCode::VP8_STATUS_UNSUPPORTED_FEATURE => "has an unknown feature",
            _ => "the stream is damaged, or not WebP",
        };
        CodecError::corrupt(NAME, reason)
    }

    /// Compares the header with the chunk.
    fn check_header(&self, src: &[u8], features: &mut webp::WebPBitstreamFeatures) -> Result<()> {
        let WebpSettings { pixels, drops_alpha, .. } = self.0;
        // SAFETY: the bytes are those of `src`, and the result has the type that is filled.
        let status = unsafe { webp::WebPGetFeatures(src.as_ptr(), src.len(), features) };
        if status != webp::VP8StatusCode::VP8_STATUS_OK {
            return Err(self.failed(status));
        }
        let stated = (features.width, features.height);
        if stated != (pixels.width as c_int, pixels.height as c_int) {
            return Err(pixels.of_other_size(NAME, stated));
        }
        let reason = if features.has_animation != 0 {
            "is an animation"
        } else if features.has_alpha != 0 && pixels.channels == 3 && !drops_alpha {
            "has 4 channels, and the chunk 3"
        } else {
            return Ok(());
        };
        Err(CodecError::corrupt(NAME, reason))
    }

    fn config(&self) -> Result<webp::WebPConfig> {
        let mut config = webp::WebPConfig::new().or_else(other_version)?;
        config.lossless = c_int::from(self.0.lossless);
        config.quality = self.0.quality;
        config.method = self.0.method;
        config.exact = c_int::from(self.0.lossless);
        Ok(config)
    }
}

impl Codec for Webp {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::AtMost(decoded_bytes.saturating_mul(2).saturating_add(4096))
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        self.0.pixels.check_decoded(NAME, decoded_bytes)
    }

    fn is_lossy(&self) -> bool {
        !self.0.lossless
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        self.check_decoded(src.len())?;
        scratch.poll()?;
        let config = self.config()?;
        let mut out = Written { bytes: std::mem::take(dst), refused: false };
        out.bytes.clear();
        let mut picture = Owned(webp::WebPPicture::new().or_else(other_version)?);
        let pixels = self.0.pixels;
        picture.0.width = pixels.width as c_int;
        picture.0.height = pixels.height as c_int;
        picture.0.use_argb = config.lossless;
        picture.0.writer = Some(write);
        picture.0.custom_ptr = (&raw mut out).cast::<c_void>();
        let stride = pixels.row_bytes() as c_int;
        // SAFETY: `src` has the rows of the size that was compared above; `out` outlives the calls,
        // and nothing else touches it during them.
        let done = unsafe {
            let import = if pixels.channels == 4 {
                webp::WebPPictureImportRGBA
            } else {
                webp::WebPPictureImportRGB
            };
            import(&raw mut picture.0, src.as_ptr(), stride) != 0
                && webp::WebPEncode(&raw const config, &raw mut picture.0) != 0
        };
        let error = picture.0.error_code;
        *dst = out.bytes;
        match error {
            _ if done => Ok(()),
            webp::WebPEncodingError::VP8_ENC_ERROR_OUT_OF_MEMORY
            | webp::WebPEncodingError::VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY => {
                Err(CodecError::Memory(Refused { bytes: pixels.bytes() }))
            }
            _ if out.refused => Err(CodecError::Memory(Refused { bytes: pixels.bytes() })),
            other => Err(CodecError::Encode { codec: NAME, reason: format!("{other:?}") }),
        }
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let pixels = self.0.pixels;
        pixels.check_room(NAME, dst.len())?;
        scratch.poll()?;
        let mut config = webp::WebPDecoderConfig::new().or_else(other_version)?;
        self.check_header(src, &mut config.input)?;
        config.output.colorspace = match pixels.channels {
            4 => webp::WEBP_CSP_MODE::MODE_RGBA,
            _ => webp::WEBP_CSP_MODE::MODE_RGB,
        };
        config.output.is_external_memory = 1;
        config.output.u.RGBA = webp::WebPRGBABuffer {
            rgba: dst.as_mut_ptr(),
            stride: pixels.row_bytes() as c_int,
            size: dst.len(),
        };
        // SAFETY: the bytes are those of `src`; the output is `dst`, of the size that its fields say.
        let status = unsafe { webp::WebPDecode(src.as_ptr(), src.len(), &raw mut config) };
        if status == webp::VP8StatusCode::VP8_STATUS_OK {
            return Ok(());
        }
        Err(self.failed(status))
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
