//! The fill value: what elements of missing chunks read as.
//!
//! An element may have gigabytes (`|S2147483647` is a few bytes of metadata). The trailing zeros of
//! an element longer than a page are not stored, so that the cost of opening an array depends on
//! the length of its metadata.

use zarrix_codec::memory::Grow;

use crate::error::{Result, fault};
use crate::memory::copy;
use crate::memory::strides::Grid;

/// Elements up to this length are stored completely, and filled in one pass.
const WHOLE_BYTES: usize = 4096;

/// The fill value of one element.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    /// The element; a long one without its trailing zeros.
    bytes: Vec<u8>,
    item_bytes: usize,
}

impl Fill {
    /// From the hex digits of an element, which may lack trailing zeros; all zeros if `None`.
    pub fn of(hex: Option<&str>, item_bytes: usize) -> Result<Self> {
        let mut bytes = decode_hex(hex.unwrap_or_default())
            .filter(|fill| fill.len() <= item_bytes)
            .ok_or_else(|| fault("fill_value", format!("{hex:?} is not the hex of one element")))?;
        if item_bytes <= WHOLE_BYTES {
            bytes.set_length(item_bytes)?;
        } else {
            bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        }
        Ok(Self { bytes, item_bytes })
    }

    /// Writes the value to all elements of a box; the source side of the grid is ignored.
    ///
    /// # Safety
    /// `dst` must be valid for every element that the grid reaches from it.
    pub unsafe fn put(&self, dst: *mut u8, grid: Grid) {
        // SAFETY: the caller vouches for the elements; the value is not longer than one.
        unsafe {
            if self.bytes.len() == self.item_bytes {
                return copy::fill(dst, grid, &self.bytes);
            }
            copy::clear(dst, grid.clone(), self.item_bytes);
            copy::fill(dst, grid, &self.bytes);
        }
    }

    /// The bytes of an element that is short enough to be a number.
    pub fn number(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether every element of `bytes` is the fill value, bit for bit; stops at the first that is
    /// not.
    pub fn is_all(&self, bytes: &[u8]) -> bool {
        let (length, item) = (self.bytes.len(), self.item_bytes);
        if length == item {
            return copy::is_filled(bytes, &self.bytes);
        }
        bytes.len() < item
            || bytes[..length] == *self.bytes
                && bytes[length..item].iter().all(|byte| *byte == 0)
                && bytes[item..] == bytes[..bytes.len() - item]
    }
}

fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.is_ascii() {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::memory::strides::{Dim, Dims};

    #[test]
    fn a_long_element_is_put_and_found_as_a_whole_one_is() {
        for item in [1, 4, WHOLE_BYTES, WHOLE_BYTES + 1, 3 * WHOLE_BYTES] {
            for hex in [None, Some("00"), Some("07"), Some("07000900"), Some("00000007")] {
                let Ok(fill) = Fill::of(hex, item) else { continue };
                let mut one = decode_hex(hex.unwrap_or_default()).unwrap();
                one.resize(item, 0);
                let mut elements = vec![0xAA; 3 * item];
                let all = Dim { count: 3, dst: item as isize, src: 0 };
                let grid = Grid { dims: Dims::from_slice(&[all]), ..Grid::default() };
                // SAFETY: three elements, one after the other.
                unsafe { fill.put(elements.as_mut_ptr(), grid) };
                assert_eq!(elements, one.repeat(3), "{hex:?} of {item} bytes");
                assert!(fill.is_all(&elements));
                for at in [0, item - 1, item, 3 * item - 1] {
                    elements[at] ^= 1;
                    assert!(!fill.is_all(&elements), "{hex:?} of {item} bytes, changed at {at}");
                    elements[at] ^= 1;
                }
            }
        }
        assert!(Fill::of(Some("0102"), 1).is_err());
        assert!(Fill::of(Some("07"), isize::MAX as usize).is_ok());
    }
}
