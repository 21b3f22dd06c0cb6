//! Strings, bytes and arrays of any length, in the form of numcodecs and of the registered
//! `vlen-utf8` and `vlen-bytes`.
//!
//! A chunk is the number of items and then the items, each after its length, all in four
//! little-endian bytes. Such a chunk has no size that metadata could declare, so these are functions
//! and not codecs. Parsing is a walk over the lengths that proves every one of them to lie in the
//! chunk; what it returns is a view, and no count or length of the data is ever an allocation.

use crate::error::{CodecError, Result};
use crate::memory::Grow;

const NAME: &str = "vlen";
const LENGTH_BYTES: usize = 4;

/// The items of a chunk whose lengths have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Items<'a> {
    count: usize,
    /// Lengths and items, without the count.
    payload: &'a [u8],
}

/// The items one by one.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    left: usize,
    payload: &'a [u8],
}

impl<'a> Items<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of all items together, without their lengths.
    pub fn item_bytes(&self) -> usize {
        self.payload.len() - self.count * LENGTH_BYTES
    }

    /// The items in their order.
    pub fn iter(&self) -> Iter<'a> {
        Iter { left: self.count, payload: self.payload }
    }

    /// Checks that every item is UTF-8.
    ///
    /// # Errors
    ///
    /// [`CodecError::Corrupt`] with the number of the first item that is not.
    pub fn check_utf8(&self) -> Result<()> {
        // Short items of ASCII have lengths that are ASCII too: one pass over all of it.
        if self.payload.is_ascii() {
            return Ok(());
        }
        for (index, item) in self.iter().enumerate() {
            std::str::from_utf8(item).map_err(|error| {
                let at = error.valid_up_to();
                CodecError::corrupt(NAME, format!("item {index} is not UTF-8 from byte {at} on"))
            })?;
        }
        Ok(())
    }

    /// Checks that every item is whole elements of `element_bytes`.
    ///
    /// # Errors
    ///
    /// [`CodecError::Corrupt`] with the number of the first item that is not.
    pub fn check_elements(&self, element_bytes: usize) -> Result<()> {
        let whole = |item: &[u8]| item.len().is_multiple_of(element_bytes);
        match self.iter().position(|item| !whole(item)) {
            None => Ok(()),
            Some(index) => Err(CodecError::corrupt(
                NAME,
                format!("item {index} is not a whole number of {element_bytes}-byte elements"),
            )),
        }
    }
}

impl<'a> IntoIterator for Items<'a> {
    type Item = &'a [u8];
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

fn split_item(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = payload.split_first_chunk::<LENGTH_BYTES>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.left == 0 {
            return None;
        }
        let (item, rest) = split_item(self.payload)?;
        self.payload = rest;
        self.left -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// Checks all lengths of a chunk and gives a view of its items.
///
/// # Errors
///
/// [`CodecError::Corrupt`] when the count or a length says more than there are bytes, or when
/// bytes are left over.
pub fn parse(src: &[u8]) -> Result<Items<'_>> {
    let Some((count, payload)) = src.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(CodecError::corrupt(NAME, format!("{} bytes, no count of items", src.len())));
    };
    let count = u32::from_le_bytes(*count);
    let most = payload.len() / LENGTH_BYTES;
    let Some(count) = usize::try_from(count).ok().filter(|count| *count <= most) else {
        return Err(CodecError::corrupt(
            NAME,
            format!("{count} items in {} bytes, which have room for {most}", src.len()),
        ));
    };
    let mut rest = payload;
    for index in 0..count {
        let Some((_, after)) = split_item(rest) else {
            return Err(CodecError::corrupt(
                NAME,
                format!("item {index} of {count} ends beyond the {} bytes left", rest.len()),
            ));
        };
        rest = after;
    }
    if !rest.is_empty() {
        return Err(CodecError::corrupt(
            NAME,
            format!("{} bytes after the last of {count} items", rest.len()),
        ));
    }
    Ok(Items { count, payload })
}

/// Like [`parse`], for text.
///
/// # Errors
///
/// As [`parse`], and [`CodecError::Corrupt`] with the number of an item that is not UTF-8.
pub fn parse_utf8(src: &[u8]) -> Result<Items<'_>> {
    let items = parse(src)?;
    items.check_utf8()?;
    Ok(items)
}

/// Like [`parse`], for arrays of elements of `element_bytes`.
///
/// # Errors
///
/// As [`parse`], and [`CodecError::Corrupt`] with the number of an item that is not complete elements.
pub fn parse_arrays(src: &[u8], element_bytes: usize) -> Result<Items<'_>> {
    let items = parse(src)?;
    items.check_elements(element_bytes)?;
    Ok(items)
}

/// Replaces the content of `dst` by a chunk of `items`.
///
/// # Errors
///
/// [`CodecError::Encode`] when a count or a length does not fit four bytes.
pub fn write<'a>(items: impl ExactSizeIterator<Item = &'a [u8]>, dst: &mut Vec<u8>) -> Result<()> {
    let too_many = |what: String| CodecError::Encode {
        codec: NAME,
        reason: format!("{what}, more than {}", u32::MAX),
    };
    let count =
        u32::try_from(items.len()).map_err(|_| too_many(format!("{} items", items.len())))?;
    dst.set_to(&count.to_le_bytes())?;
    for (index, item) in items.enumerate() {
        let length = u32::try_from(item.len())
            .map_err(|_| too_many(format!("item {index} has {} bytes", item.len())))?;
        dst.make_room(LENGTH_BYTES + item.len())?;
        dst.extend_from_slice(&length.to_le_bytes());
        dst.extend_from_slice(item);
    }
    Ok(())
}
