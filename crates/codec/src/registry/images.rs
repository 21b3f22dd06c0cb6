//! The configurations of the codecs of images.
//!
//! Metadata has the shape of a chunk elsewhere; here it is `height`, `width` and `channels`. Bytes
//! are lists of numbers.

use std::sync::Arc;

use serde_json::Value;

use super::options::Options;
use super::row::Input;
use crate::codec::Codec;
use crate::error::Result;
use crate::image::jpeg::{Jpeg, Settings, Space};

pub(super) const JPEG_KEYS: &[&str] = &[
    "height",
    "width",
    "channels",
    "quality",
    "subsampling",
    "optimize",
    "stored_space",
    "space",
    "tables",
    "header",
];

/// The longest side of a picture in JPEG.
const MOST_PIXELS: usize = 65500;

fn side(options: &Options<'_>, key: &str) -> Result<u32> {
    match options.size(key, 0)? {
        length @ 1..=MOST_PIXELS => Ok(length as u32),
        _ => Err(options.wrong(key, "1 to 65500")),
    }
}

fn space(options: &Options<'_>, key: &str) -> Result<Option<Space>> {
    match options.text(key, Some("default"))? {
        "default" => Ok(None),
        "gray" => Ok(Some(Space::Gray)),
        "rgb" => Ok(Some(Space::Rgb)),
        "ycbcr" => Ok(Some(Space::YCbCr)),
        _ => Err(options.wrong(key, "gray, rgb or ycbcr")),
    }
}

fn bytes(options: &Options<'_>, key: &str) -> Result<Vec<u8>> {
    let byte = |value: &Value| value.as_u64().and_then(|n| u8::try_from(n).ok());
    Ok(options.list_of(key, "a list of bytes", byte)?.unwrap_or_default())
}

pub(super) fn jpeg(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let channels = match options.size("channels", 1)? {
        1 => 1,
        3 => 3,
        _ => return Err(options.wrong("channels", "1 or 3")),
    };
    let (stored, given) = (space(options, "stored_space")?, space(options, "space")?);
    let fits =
        |space: Option<Space>| space.is_none_or(|one| (one == Space::Gray) == (channels == 1));
    if !fits(stored) || !fits(given) {
        return Err(options.wrong("space", "one with the channels of the chunk"));
    }
    let quality = options.int("quality", 95)?;
    if !(0..=100).contains(&quality) {
        return Err(options.wrong("quality", "0 to 100"));
    }
    let subsampling = match options.text("subsampling", Some("444"))? {
        _ if channels == 1 || stored == Some(Space::Rgb) => (1, 1),
        "444" => (1, 1),
        "422" => (2, 1),
        "420" => (2, 2),
        "440" => (1, 2),
        "411" => (4, 1),
        "410" => (4, 2),
        _ => return Err(options.wrong("subsampling", "444, 422, 420, 440, 411 or 410")),
    };
    Ok(Arc::new(Jpeg(Settings {
        height: side(options, "height")?,
        width: side(options, "width")?,
        channels,
        quality,
        subsampling,
        optimize: options.flag("optimize", false)?,
        stored_space: stored,
        space: given.unwrap_or(if channels == 1 { Space::Gray } else { Space::Rgb }),
        tables: bytes(options, "tables")?,
        header: bytes(options, "header")?,
    })))
}
