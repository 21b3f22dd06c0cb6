//! The bands of rows of a JPEG stream that can be decoded alone, found by its restart markers.
//!
//! ITU-T T.81: between two restart markers, the entropy-coded data begins at a byte and depends on
//! nothing before it. A stream with markers at ends of rows of MCUs can therefore be cut there; the
//! header, whose height is replaced, with such a band is a complete stream.

use std::ops::Range;

/// Where a stream can be cut.
#[derive(Debug)]
pub(super) struct Bands {
    /// Position of the two bytes of the height.
    pub(super) height_at: usize,
    /// The end of the header, where the entropy-coded data begins.
    pub(super) data_at: usize,
    /// Rows of pixels of a band.
    pub(super) rows: usize,
    /// How many there are.
    pub(super) count: usize,
}

/// A band of a stream: from one restart marker to another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The entropy-coded data, without the markers at both ends.
    pub(super) data: Range<usize>,
    /// Rows of pixels.
    pub(super) rows: Range<usize>,
    /// The number, from 0 to 7, of the first marker inside.
    pub(super) first_marker: usize,
}

/// What the header says, as far as it has been read.
#[derive(Default)]
struct Stated {
    height_at: usize,
    height: usize,
    width: usize,
    across: usize,
    down: usize,
    components: u8,
    interval: usize,
}

fn two(stream: &[u8], at: usize) -> Option<usize> {
    let bytes = stream.get(at..at + 2)?;
    Some(usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
}

impl Stated {
    /// Baseline or extended sequential: one scan has all of the image.
    fn read(&mut self, stream: &[u8], at: usize) -> Option<()> {
        self.height_at = at + 1;
        (self.height, self.width) = (two(stream, at + 1)?, two(stream, at + 3)?);
        self.components = *stream.get(at + 5)?;
        (self.across, self.down) = (1, 1);
        for component in 0..usize::from(self.components) {
            let factors = *stream.get(at + 7 + 3 * component)?;
            self.across = self.across.max(usize::from(factors >> 4));
            self.down = self.down.max(usize::from(factors & 15));
        }
        if self.components == 1 {
            // A scan of one component has blocks of 8, regardless of its factors.
            (self.across, self.down) = (1, 1);
        }
        Some(())
    }

    fn bands(&self, data_at: usize) -> Option<Bands> {
        let in_row = self.width.div_ceil(8 * self.across);
        let whole_rows = self.interval.checked_rem(in_row)? == 0 && self.interval > 0;
        let rows = self.interval.checked_div(in_row)?.checked_mul(8 * self.down)?;
        whole_rows.then(|| Bands {
            height_at: self.height_at,
            data_at,
            rows,
            count: self.height.div_ceil(rows),
        })
    }
}

impl Bands {
    /// The bands of `stream`; `None` if it has no restart markers at ends of rows.
    ///
    /// Nothing is promised of a stream for which this is `None`: the decoder finds its faults.
    pub(super) fn of(stream: &[u8]) -> Option<Self> {
        let mut header = Stated::default();
        let mut at = 2;
        loop {
            let (mark, kind) = (*stream.get(at)?, *stream.get(at + 1)?);
            let length = two(stream, at + 2)?;
            if mark != 0xff || length < 2 {
                return None;
            }
            match kind {
                0xc0 | 0xc1 => header.read(stream, at + 4)?,
                0xdd => header.interval = two(stream, at + 4)?,
                // Before the header of the image, there is nothing to divide by.
                0xda if header.components == 0 => return None,
                0xda => {
                    let whole = *stream.get(at + 4)? == header.components;
                    let bands = header.bands(at + 2 + length);
                    return bands.filter(|bands| whole && bands.count > 1);
                }
                // Tables, comments and data of applications.
                0xc4 | 0xdb | 0xfe | 0xe0..=0xef => (),
                _ => return None,
            }
            at += 2 + length;
        }
    }

    /// The bands that have `rows`, with one more on each side, whose pixels those at the edges are
    /// interpolated with. `None` if the markers are not those of the header.
    pub(super) fn cut(&self, stream: &[u8], rows: Range<usize>, height: usize) -> Option<Cut> {
        let first = (rows.start / self.rows).saturating_sub(1);
        let last = (rows.end.div_ceil(self.rows) + 1).min(self.count);
        let data = stream.get(self.data_at..)?;
        let (mut start, mut passed) = (0, 0);
        let mut end = None;
        for at in memchr::memchr_iter(0xff, data) {
            let kind = *data.get(at + 1)?;
            match kind {
                0 | 0xff => continue,
                0xd0..=0xd7 if usize::from(kind - 0xd0) == passed % 8 => (),
                // The end of the image, which is that of the last band.
                0xd9 if passed + 1 == self.count && last == self.count => {
                    end = Some(at);
                    break;
                }
                _ => return None,
            }
            passed += 1;
            if passed == first {
                start = at + 2;
            }
            if passed == last {
                end = Some(at);
                break;
            }
        }
        let rows = first * self.rows..(last * self.rows).min(height);
        let data = self.data_at + start..self.data_at + end?;
        Some(Cut { data, rows, first_marker: first % 8 })
    }
}
