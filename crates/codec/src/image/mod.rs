//! Codecs of images: a chunk is one picture, as a file of its own would have it.

pub(crate) mod jpeg;
pub(crate) mod jpeg_bands;
pub(crate) mod pixels;
pub(crate) mod png;
pub(crate) mod webp;
