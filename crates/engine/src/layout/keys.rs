//! Keys of chunks: coordinates to key and back.

use std::fmt::Write;

use crate::layout::document::Layout;

/// Replaces `key` by the key of the chunk at `coords`, below `prefix`.
pub(crate) fn write_key(
    key: &mut String,
    prefix: &str,
    layout: &Layout,
    coords: impl Iterator<Item = u64>,
) {
    key.clear();
    key.push_str(prefix);
    key.push_str(layout.key_prefix);
    let begin = key.len();
    let mut first = layout.key_prefix.is_empty();
    for coord in coords {
        if !first {
            key.push(layout.separator);
        }
        first = false;
        push_number(key, coord);
    }
    if key.len() == begin && layout.key_prefix.is_empty() {
        key.push('0');
    }
    key.push_str(&layout.key_suffix);
}

fn push_number(key: &mut String, number: u64) {
    if number < 10 {
        key.push((b'0' + number as u8) as char);
    } else {
        // Writing to a String cannot fail.
        let _ = write!(key, "{number}");
    }
}

/// The chunk coordinates in `key`, if it is the key of a chunk with the array's number of axes.
pub(crate) fn parse_key(key: &str, layout: &Layout) -> Option<Vec<u64>> {
    let axes = layout.shape.len();
    let rest = key.strip_prefix(layout.key_prefix)?.strip_suffix(layout.key_suffix.as_str())?;
    if axes == 0 {
        let whole = if layout.key_prefix.is_empty() { "0" } else { "" };
        return (rest == whole).then(Vec::new);
    }
    let rest =
        if layout.key_prefix.is_empty() { rest } else { rest.strip_prefix(layout.separator)? };
    let coords: Option<Vec<u64>> = rest
        .split(layout.separator)
        .map(|part| {
            let canonical = part.bytes().all(|byte| byte.is_ascii_digit())
                && (part.len() == 1 || !part.starts_with('0'));
            if canonical { part.parse().ok() } else { None }
        })
        .collect();
    coords.filter(|coords| coords.len() == axes)
}
