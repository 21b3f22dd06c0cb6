//! Contexts of libdeflate, and its checksums.
//!
//! libdeflate decodes complete buffers, and a chunk is one. It is two to three times as fast as
//! zlib, and detects exactly if a stream does not fill or overfills its destination. It has no
//! streaming, which we do not need.

use std::ffi::c_void;
use std::ptr::NonNull;

use libdeflate_sys as ffi;

use crate::error::Result;
use crate::memory::Grow;

/// How a deflate stream is wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapping {
    /// RFC 1952: any number of members.
    Gzip,
    /// RFC 1950: one stream.
    Zlib,
    /// RFC 1951: one stream without a header or a checksum, as in zip archives.
    Raw,
}

impl Wrapping {
    /// The name of the codec, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
            Self::Raw => "deflate",
        }
    }
}

/// Why a stream could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The destination is too small.
    TooSmall,
    /// The bytes are not such a stream, or its checksum does not match.
    Bad,
}

/// CRC-32 of zlib.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    // SAFETY: the pointer is valid for the length given.
    unsafe { ffi::libdeflate_crc32(0, bytes.as_ptr().cast::<c_void>(), bytes.len()) }
}

/// Adler-32 of zlib.
pub(crate) fn adler32(bytes: &[u8]) -> u32 {
    // libdeflate takes a null pointer for "the initial value"; an empty slice's is not null.
    // SAFETY: the pointer is valid for the length given.
    unsafe { ffi::libdeflate_adler32(1, bytes.as_ptr().cast::<c_void>(), bytes.len()) }
}

/// A decoding context.
pub(crate) struct Decompressor(NonNull<ffi::libdeflate_decompressor>);

// SAFETY: libdeflate contexts have no thread affinity; `&mut self` keeps uses apart.
unsafe impl Send for Decompressor {}

impl Decompressor {
    /// `None` when memory is exhausted.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: no precondition; null means no memory.
        NonNull::new(unsafe { ffi::libdeflate_alloc_decompressor() }).map(Self)
    }

    /// Decodes one stream from the start of `src`; returns the bytes read and the bytes written.
    pub(crate) fn decompress(
        &mut self,
        wrapping: Wrapping,
        src: &[u8],
        dst: &mut [u8],
    ) -> std::result::Result<(usize, usize), Failure> {
        let decode = match wrapping {
            Wrapping::Gzip => ffi::libdeflate_gzip_decompress_ex,
            Wrapping::Zlib => ffi::libdeflate_zlib_decompress_ex,
            Wrapping::Raw => ffi::libdeflate_deflate_decompress_ex,
        };
        let (mut read, mut written) = (0, 0);
        // SAFETY: the context is alive, both buffers are valid for the lengths given and do not
        // overlap, and libdeflate stays inside them for any input.
        let result = unsafe {
            decode(
                self.0.as_ptr(),
                src.as_ptr().cast::<c_void>(),
                src.len(),
                dst.as_mut_ptr().cast::<c_void>(),
                dst.len(),
                &raw mut read,
                &raw mut written,
            )
        };
        match result {
            ffi::libdeflate_result_LIBDEFLATE_SUCCESS => Ok((read, written)),
            ffi::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(Failure::TooSmall),
            _ => Err(Failure::Bad),
        }
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` and freed once.
        unsafe { ffi::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

/// An encoding context, made for one level.
pub(crate) struct Compressor {
    context: NonNull<ffi::libdeflate_compressor>,
    level: i32,
}

// SAFETY: libdeflate contexts have no thread affinity; `&mut self` keeps uses apart.
unsafe impl Send for Compressor {}

impl Compressor {
    /// `None` when memory is exhausted or the level is not 0 to 12.
    pub(crate) fn new(level: i32) -> Option<Self> {
        // SAFETY: no precondition; null means no memory or a bad level.
        let context = NonNull::new(unsafe { ffi::libdeflate_alloc_compressor(level) })?;
        Some(Self { context, level })
    }

    /// The level it was made for.
    pub(crate) fn level(&self) -> i32 {
        self.level
    }

    /// Replaces `dst` by the encoded form of `src`; false when libdeflate refuses.
    pub(crate) fn compress(
        &mut self,
        wrapping: Wrapping,
        src: &[u8],
        dst: &mut Vec<u8>,
    ) -> Result<bool> {
        let (bound, encode) = match wrapping {
            Wrapping::Gzip => (
                ffi::libdeflate_gzip_compress_bound as unsafe extern "C" fn(_, _) -> _,
                ffi::libdeflate_gzip_compress as unsafe extern "C" fn(_, _, _, _, _) -> _,
            ),
            Wrapping::Zlib => (
                ffi::libdeflate_zlib_compress_bound as unsafe extern "C" fn(_, _) -> _,
                ffi::libdeflate_zlib_compress as unsafe extern "C" fn(_, _, _, _, _) -> _,
            ),
            Wrapping::Raw => (
                ffi::libdeflate_deflate_compress_bound as unsafe extern "C" fn(_, _) -> _,
                ffi::libdeflate_deflate_compress as unsafe extern "C" fn(_, _, _, _, _) -> _,
            ),
        };
        // SAFETY: the context is alive.
        let room: usize = unsafe { bound(self.context.as_ptr(), src.len()) };
        dst.set_length(room)?;
        // SAFETY: the context is alive and both buffers are valid for the lengths given.
        let written: usize = unsafe {
            encode(
                self.context.as_ptr(),
                src.as_ptr().cast::<c_void>(),
                src.len(),
                dst.as_mut_ptr().cast::<c_void>(),
                dst.len(),
            )
        };
        dst.truncate(written);
        Ok(written > 0)
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` and freed once.
        unsafe { ffi::libdeflate_free_compressor(self.context.as_ptr()) }
    }
}
