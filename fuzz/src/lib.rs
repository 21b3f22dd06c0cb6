//! What the targets share: how an input is cut, what a decoder promises, arrays of one chunk.
//!
//! A target is one parser of foreign bytes. It does not only wait for a crash: it asserts what the
//! parser promises (nothing outside of the destination, the same answer regardless of its previous
//! content, the same elements whichever way they are read).

use std::sync::Arc;

use serde_json::Value;
use zarrix_codec::{Codec, Input, Scratch, from_config};
use zarrix_engine::{ArrayIO, AxisSelection, EngineError, Layout, Source, Target};
use zarrix_store::{Durability, Store};

/// What the target `compressors` decodes, by the first byte of its input: names and configurations.
pub const COMPRESSORS: [(&str, &str); 9] = [
    ("gzip", "{}"),
    ("numcodecs.zlib", "{}"),
    ("numcodecs.bz2", "{}"),
    ("numcodecs.lzma", r#"{"preset": 1}"#),
    ("numcodecs.lzma", r#"{"format": 2, "preset": 1}"#),
    (
        "numcodecs.lzma",
        r#"{"format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}"#,
    ),
    ("pcodec", r#"{"dtype": "<i4"}"#),
    ("pcodec", r#"{"dtype": "<f8"}"#),
    ("pcodec", r#"{"dtype": "<u2"}"#),
];

/// A configuration of a codec of pictures, and the rows and their bytes that it decodes to.
pub type PictureOf = (&'static str, usize, usize);

/// What the target `jpeg` decodes: pictures of some sizes.
pub const JPEG: [PictureOf; 3] = [
    (r#"{"height": 40, "width": 56, "channels": 3}"#, 40, 168),
    (r#"{"height": 33, "width": 17, "channels": 1}"#, 33, 17),
    (r#"{"height": 64, "width": 8, "channels": 3, "space": "ycbcr"}"#, 64, 24),
];

/// What the target `png` decodes.
pub const PNG: [PictureOf; 4] = [
    (r#"{"height": 40, "width": 56, "channels": 3}"#, 40, 168),
    (r#"{"height": 33, "width": 17, "channels": 1}"#, 33, 17),
    (r#"{"height": 16, "width": 8, "channels": 4}"#, 16, 32),
    (r#"{"height": 9, "width": 12, "channels": 1, "sample": 2}"#, 9, 24),
];

/// What the target `webp` decodes.
pub const WEBP: [PictureOf; 2] = [
    (r#"{"height": 40, "width": 56, "channels": 3}"#, 40, 168),
    (r#"{"height": 33, "width": 17, "channels": 4}"#, 33, 68),
];

/// Where each promise is looked at: bytes after a destination that must not be written.
const GUARD: [u8; 32] = [0xC3; 32];

/// A codec by its name and the JSON of its configuration.
#[must_use]
pub fn codec(name: &str, configuration: &str, item_bytes: usize) -> Arc<dyn Codec> {
    let configuration: Value = serde_json::from_str(configuration).expect("JSON");
    from_config(name, &configuration, Input { item_bytes }).expect("a native codec")
}

/// The first two bytes as a number, and the rest.
#[must_use]
pub fn number(input: &[u8]) -> Option<(usize, &[u8])> {
    let (head, rest) = input.split_first_chunk::<2>()?;
    Some((usize::from(u16::from_le_bytes(*head)), rest))
}

/// Decodes `src` as `declared` bytes and asserts what every decoder promises.
pub fn decode(codec: &dyn Codec, declared: usize, src: &[u8]) {
    let first = decode_declared(codec, declared, src);
    let mut scratch = Scratch::default();
    let mut bounded = Vec::new();
    match codec.decode_bounded(src, declared, &mut bounded, &mut scratch) {
        Ok(()) => {
            assert!(bounded.len() <= declared, "{codec:?} went beyond its limit");
            if let Some(first) = first {
                assert_eq!(first, bounded, "{codec:?} decodes one thing in two ways");
            }
        }
        Err(_) => assert_eq!(first, None, "{codec:?} refuses what it decodes elsewhere"),
    }
}

/// [`decode`] for a codec that is told nowhere but in the metadata how much there is.
pub fn decode_declared(codec: &dyn Codec, declared: usize, src: &[u8]) -> Option<Vec<u8>> {
    let mut scratch = Scratch::default();
    let first = decode_over(codec, declared, src, 0xA5, &mut scratch);
    let again = decode_over(codec, declared, src, 0x5A, &mut scratch);
    assert_eq!(first, again, "{codec:?} left bytes of its destination as they were");
    if let Some(whole) = &first {
        decode_prefix(codec, whole, src, &mut scratch);
    }
    first
}

/// Asserts that the beginnings of `whole`, decoded alone, are the same.
fn decode_prefix(codec: &dyn Codec, whole: &[u8], src: &[u8], scratch: &mut Scratch) {
    for needed in [0, whole.len() / 3, whole.len() / 2] {
        let mut room = vec![0x5A; whole.len()];
        room.extend_from_slice(&GUARD);
        let (dst, guard) = room.split_at_mut(whole.len());
        codec.decode_prefix(src, needed, dst, scratch).expect("a prefix of what decodes");
        assert_eq!(dst[..needed], whole[..needed], "{codec:?} decodes another beginning");
        assert_eq!(*guard, GUARD, "{codec:?} wrote beyond its destination");
    }
}

fn decode_over(
    codec: &dyn Codec,
    declared: usize,
    src: &[u8],
    before: u8,
    scratch: &mut Scratch,
) -> Option<Vec<u8>> {
    let mut room = vec![before; declared];
    room.extend_from_slice(&GUARD);
    let decoded = codec.decode_into(src, &mut room[..declared], scratch).is_ok();
    assert_eq!(room[declared..], GUARD, "{codec:?} wrote beyond its destination");
    room.truncate(declared);
    decoded.then_some(room)
}

/// Decodes a picture and, if the codec can, a part of it, which has to be that of the whole.
///
/// The first five bytes of the input select the picture and the part.
pub fn picture(name: &str, pictures: &[PictureOf], input: &[u8]) {
    let Some((head, stream)) = input.split_first_chunk::<5>() else { return };
    let (configuration, height, row) = pictures[usize::from(head[0]) % pictures.len()];
    let codec = codec(name, configuration, 1);
    let whole = decode_declared(&*codec, height * row, stream);
    let Some(picture) = codec.picture() else { return };
    let part = |from: u8, to: u8, length: usize| {
        let (a, b) = (usize::from(from) % length, usize::from(to) % length);
        a.min(b)..a.max(b) + 1
    };
    let (rows, bytes) = (part(head[1], head[2], height), part(head[3], head[4], row));
    let mut dst = vec![0; height * row];
    let mut scratch = Scratch::default();
    let done = picture.decode_part(stream, rows.clone(), bytes.clone(), &mut dst, &mut scratch);
    if let Some(whole) = whole {
        done.expect("a part of a picture that decodes");
        for y in rows {
            let cut = y * row + bytes.start..y * row + bytes.end;
            assert_eq!(dst[cut.clone()], whole[cut], "row {y}");
        }
    }
}

/// Everything of `length` elements, one by one.
fn range(start: usize, step: i64, count: usize) -> AxisSelection {
    AxisSelection::Range { start: start as u64, step, count: count as u64 }
}

/// An array of one axis and of bytes, in a store.
pub struct Line {
    io: ArrayIO,
    length: usize,
}

impl Line {
    /// # Errors
    /// As [`Layout::parse`].
    pub fn new(store: Arc<dyn Store>, layout: &str, length: usize) -> Result<Self, EngineError> {
        zarrix_engine::set_threads(1);
        Ok(Self { io: ArrayIO::new(store, "", Layout::parse(layout, &[], None)?), length })
    }

    fn selected(&self, selection: AxisSelection, count: usize) -> Result<Vec<u8>, EngineError> {
        let mut out = vec![0xA5; count];
        let (shape, strides) = ([count], [1]);
        // SAFETY: `out` is that long and nobody else's.
        let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
        self.io.read(&[selection], target, &|| false).map(|()| out)
    }

    /// All elements.
    ///
    /// # Errors
    /// As [`ArrayIO::read`].
    pub fn all(&self) -> Result<Vec<u8>, EngineError> {
        self.selected(range(0, 1, self.length), self.length)
    }

    /// Reads and writes parts, and asserts that they agree with `all`.
    ///
    /// What can be read as a whole can be read in parts, since those look at less of it.
    pub fn check(&self, all: Option<&[u8]>, at: usize, count: usize) {
        let at = at % self.length;
        let count = 1 + count % (self.length - at);
        for (selection, count) in [
            (range(at, 1, count), count),
            (range(at + count - 1, -1, count), count),
            (AxisSelection::List(vec![at as u64, 0, (at + count - 1) as u64]), 3),
        ] {
            let indices: Vec<usize> = match &selection {
                AxisSelection::Range { start, step, count } => (0..*count as i64)
                    .map(|i| usize::try_from(*start as i64 + i * step).expect("inside"))
                    .collect(),
                AxisSelection::List(list) => list.iter().map(|i| *i as usize).collect(),
                AxisSelection::Index(index) => vec![*index as usize],
            };
            let read = self.selected(selection, count);
            if let Some(all) = all {
                let wanted: Vec<u8> = indices.iter().map(|i| all[*i]).collect();
                assert_eq!(read.expect("a part of what can be read"), wanted);
            }
        }
        self.write(at, count, all);
    }

    fn write(&self, at: usize, count: usize, all: Option<&[u8]>) {
        let value = vec![0x3C; count];
        let (shape, strides) = ([count], [1]);
        // SAFETY: `value` is that long.
        let source = unsafe { Source::new(value.as_ptr(), &shape, &strides) };
        let written = self.io.write(&[range(at, 1, count)], source, Durability::Process, &|| false);
        if let Some(all) = all {
            written.expect("a write into what can be read");
            let mut wanted = all.to_vec();
            wanted[at..at + count].fill(0x3C);
            assert_eq!(self.all().expect("what was written"), wanted);
        }
    }
}
