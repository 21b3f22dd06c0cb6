//! Rows of a version, one for each value, and pages of them.
//!
//! A page is lines of JSON, sorted by key. It ends after a key whose hash begins with
//! [`PAGE_BITS`] zeros, so that a row more or less changes one page, and two versions share all
//! pages whose rows are equal.

use std::ffi::CStr;
use std::fmt::Write;
use std::io::{self, Read};

use ring::digest::{Context, SHA256, digest};

use crate::sys;

/// The zeros at the end of a page: it has 4096 rows on average.
const PAGE_BITS: u32 = 12;
/// The most rows of a page.
const MOST_ROWS: u64 = 16_384;

/// What tells one version of a value from the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// When its file was modified, in nanoseconds, and the number of the file.
    File(u64, u64),
    /// The SHA-256 of the value.
    Digest([u8; 32]),
    /// Another text, such as an ETag, and the version of the object.
    Text(String, Option<String>),
}

impl Tag {
    pub(crate) const fn file((modified, number): (u64, u64)) -> Self {
        Self::File(modified, number)
    }

    /// The digest of a file.
    pub(crate) fn of_file(path: &CStr) -> io::Result<Self> {
        let mut file = sys::open(path, sys::READ)?;
        let (mut hash, mut buffer) = (Context::new(&SHA256), vec![0; 1 << 18]);
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hash.finish().as_ref());
        Ok(Self::Digest(bytes))
    }
}

/// A value of a version.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its canonical key.
    pub key: String,
    /// The key that it is stored under, if that is another one.
    pub stored: Option<String>,
    /// Its length in bytes.
    pub size: u64,
    /// What tells it from the next one.
    pub tag: Tag,
}

impl Row {
    /// The key that the value is stored under.
    #[must_use]
    pub fn stored(&self) -> &str {
        self.stored.as_deref().unwrap_or(&self.key)
    }
}

/// A run of rows.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The key of its first row.
    pub first: String,
    /// The number of rows.
    pub rows: u64,
    /// The bytes of their values.
    pub bytes: u64,
    /// A line for each row.
    pub lines: Vec<u8>,
}

/// Divides sorted rows into pages.
#[must_use]
pub fn pages(rows: &[Row]) -> Vec<Page> {
    let (mut pages, mut page) = (Vec::new(), Page::default());
    let mut line = String::new();
    for row in rows {
        if page.rows == 0 {
            page.first.clone_from(&row.key);
        }
        line.clear();
        write_line(row, &mut line);
        page.lines.extend_from_slice(line.as_bytes());
        page.rows += 1;
        page.bytes += row.size;
        if page.rows == MOST_ROWS || ends_page(&row.key) {
            pages.push(std::mem::take(&mut page));
        }
    }
    if page.rows > 0 {
        pages.push(page);
    }
    pages
}

fn ends_page(key: &str) -> bool {
    let hash = digest(&SHA256, key.as_bytes());
    let bytes = hash.as_ref();
    u16::from_be_bytes([bytes[0], bytes[1]]).leading_zeros() >= PAGE_BITS
}

fn write_line(row: &Row, line: &mut String) {
    line.push('[');
    write_text(&row.key, line);
    // Writing to a string cannot fail.
    let _ = write!(line, ",{},", row.size);
    match &row.tag {
        Tag::File(modified, number) => {
            let _ = write!(line, "\"{modified:x}-{number:x}\"");
        }
        Tag::Digest(bytes) => {
            line.push_str("\"sha256:");
            bytes.iter().for_each(|byte| {
                let _ = write!(line, "{byte:02x}");
            });
            line.push('"');
        }
        Tag::Text(tag, version) => {
            write_text(tag, line);
            if let Some(version) = version {
                line.push(',');
                write_text(version, line);
            }
        }
    }
    line.push_str("]\n");
}

/// A string of JSON; other than the necessary characters are as they are.
fn write_text(text: &str, line: &mut String) {
    line.push('"');
    for letter in text.chars() {
        match letter {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\u{0}'..='\u{1f}' => {
                let _ = write!(line, "\\u{:04x}", u32::from(letter));
            }
            letter => line.push(letter),
        }
    }
    line.push('"');
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    fn rows(count: u64) -> Vec<Row> {
        let row =
            |n| Row { key: format!("a/c/{n:09}"), stored: None, size: n, tag: Tag::File(n * 7, n) };
        (0..count).map(row).collect()
    }

    #[test]
    fn a_row_more_changes_one_page() {
        let mut all = rows(50_000);
        let before = pages(&all);
        assert!(before.len() > 4 && before.len() < 40, "{}", before.len());
        assert_eq!(before.iter().map(|page| page.rows).sum::<u64>(), 50_000);
        let row = Row { key: "a/c/000020000x".into(), stored: None, size: 1, tag: Tag::File(1, 1) };
        all.insert(20_001, row);
        let lines = |pages: &[Page]| pages.iter().map(|p| p.lines.clone()).collect::<Vec<_>>();
        let (old, new) = (lines(&before), lines(&pages(&all)));
        assert!(new.iter().filter(|page| !old.contains(page)).count() <= 2);
    }

    #[test]
    fn a_line_is_json_without_spaces() {
        let text = |key: &str, tag| {
            let row = Row { key: key.to_owned(), stored: None, size: 5, tag };
            String::from_utf8(pages(&[row]).remove(0).lines).unwrap()
        };
        assert_eq!(text("a/é\"\n", Tag::File(255, 16)), "[\"a/é\\\"\\u000a\",5,\"ff-10\"]\n");
        let digest = text("k", Tag::Digest([1; 32]));
        assert_eq!(digest, format!("[\"k\",5,\"sha256:{}\"]\n", "01".repeat(32)));
        assert_eq!(text("k", Tag::Text("e".into(), Some("v".into()))), "[\"k\",5,\"e\",\"v\"]\n");
    }
}
