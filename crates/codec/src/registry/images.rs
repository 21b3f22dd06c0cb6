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
use crate::image::pixels::Pixels;
use crate::image::png::{Png, PngSettings};
use crate::image::webp::{Webp, WebpSettings};

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
    "reduction",
];

pub(super) const PNG_KEYS: &[&str] = &["height", "width", "channels", "sample", "level"];

pub(super) const WEBP_KEYS: &[&str] =
    &["height", "width", "channels", "lossless", "quality", "method", "drops_alpha"];

/// The longest side of a picture in JPEG.
const MOST_OF_JPEG: usize = 65500;
/// In WebP.
const MOST_OF_WEBP: usize = 16383;
/// In PNG, where more is a chunk that no machine decodes.
const MOST_OF_PNG: usize = 1 << 24;

fn side(options: &Options<'_>, key: &str, limit: usize) -> Result<u32> {
    match options.size(key, 0)? {
        length if (1..=limit).contains(&length) => Ok(length as u32),
        _ => Err(options.wrong(key, &format!("1 to {limit}"))),
    }
}

/// The pixels of a chunk of 8 bits a sample.
fn pixels(options: &Options<'_>, channels: u32, longest: usize) -> Result<Pixels> {
    let height = side(options, "height", longest)?;
    Ok(Pixels { height, width: side(options, "width", longest)?, channels, sample: 1 })
}

/// A whole number from `least` to `limit`.
fn within(options: &Options<'_>, key: &str, default: i32, least: i32, limit: i32) -> Result<i32> {
    match options.int(key, default)? {
        number if (least..=limit).contains(&number) => Ok(number),
        _ => Err(options.wrong(key, &format!("{least} to {limit}"))),
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
    let quality = within(options, "quality", 95, 0, 100)?;
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
    let reduction = match options.size("reduction", 1)? {
        reduction @ (1 | 2 | 4 | 8) => reduction as u32,
        _ => return Err(options.wrong("reduction", "1, 2, 4 or 8")),
    };
    Ok(Arc::new(Jpeg(Settings {
        reduction,
        pixels: pixels(options, channels, MOST_OF_JPEG)?,
        quality,
        subsampling,
        optimize: options.flag("optimize", false)?,
        stored_space: stored,
        space: given.unwrap_or(if channels == 1 { Space::Gray } else { Space::Rgb }),
        tables: bytes(options, "tables")?,
        header: bytes(options, "header")?,
    })))
}

pub(super) fn png(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let channels = within(options, "channels", 1, 1, 4)? as u32;
    let sample = within(options, "sample", 1, 1, 2)? as u32;
    Ok(Arc::new(Png(PngSettings {
        pixels: Pixels { sample, ..pixels(options, channels, MOST_OF_PNG)? },
        level: within(options, "level", 6, 0, 9)? as u8,
    })))
}

pub(super) fn webp(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let channels = within(options, "channels", 3, 3, 4)? as u32;
    Ok(Arc::new(Webp(WebpSettings {
        pixels: pixels(options, channels, MOST_OF_WEBP)?,
        lossless: options.flag("lossless", true)?,
        quality: within(options, "quality", 75, 0, 100)? as f32,
        method: within(options, "method", 4, 0, 6)?,
        drops_alpha: options.flag("drops_alpha", false)?,
    })))
}
