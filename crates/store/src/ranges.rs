//! Ranges of one version of a value: how they are cut and coalesced, and how often a read is repeated
//! because the value was replaced.

use std::io::ErrorKind;
use std::ops::{Range, Sub};

use zarrix_codec::memory::Grow;

use crate::error::{Result, StoreError};
use crate::store::{Edge, Store};

/// How often a read is repeated because the value was replaced meanwhile.
pub const READ_ATTEMPTS: usize = 100;

impl StoreError {
    /// The error of a value at `path` that was replaced in every one of [`READ_ATTEMPTS`].
    #[must_use]
    pub fn replaced(path: String) -> Self {
        let problem = format!("it was replaced {READ_ATTEMPTS} times while it was read");
        Self::Io { operation: "read", path, source: std::io::Error::other(problem) }
    }
}

/// Replaces the content of `dst` by the requested ranges of a value, concatenated.
pub fn cut_ranges(key: &str, value: &[u8], ranges: &[Range<u64>], dst: &mut Vec<u8>) -> Result<()> {
    dst.clear();
    for range in ranges {
        let bounds = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let Some(part) = bounds.and_then(|(start, end)| value.get(start..end)) else {
            dst.clear();
            return Err(StoreError::beyond_end(key, range, value.len() as u64));
        };
        dst.append_slice(part).map_err(StoreError::memory(key))?;
    }
    Ok(())
}

/// The bytes of a value from `start` up to `end` or its end, whichever comes first; empty if the
/// value ends before `start`.
pub fn get_slice_into(
    store: &(impl Store + ?Sized),
    key: &str,
    start: u64,
    end: Option<u64>,
    dst: &mut Vec<u8>,
) -> Result<bool> {
    match (start, end) {
        (0, None) => return Ok(store.get_into(key, dst)?.is_some()),
        (0, Some(end)) => return Ok(store.get_edge_into(key, Edge::First(end), dst)?.is_some()),
        (start, Some(end)) if start < end => {
            match store.get_ranges_into(key, std::slice::from_ref(&(start..end)), dst) {
                Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::UnexpectedEof => {
                }
                found => return Ok(found?.is_some()),
            }
        }
        _ => {}
    }
    dst.clear();
    let Some(total) = store.size(key)? else { return Ok(false) };
    let end = end.map_or(total, |end| end.min(total));
    if start >= end {
        return Ok(true);
    }
    Ok(store.get_ranges_into(key, std::slice::from_ref(&(start..end)), dst)?.is_some())
}

/// Groups items whose ranges are at most `gap` apart; each group has the range that covers it.
///
/// The items are sorted by the start of their ranges.
pub fn coalesce<T, N: Copy + Ord + Sub<Output = N>>(
    sorted: &[T],
    gap: N,
    range_of: impl Fn(&T) -> Range<N>,
) -> Vec<(Range<N>, &[T])> {
    let mut groups = Vec::new();
    let mut rest = sorted;
    while let Some(first) = rest.first() {
        let mut all = range_of(first);
        let mut count = 1;
        for item in &rest[1..] {
            let Range { start, end } = range_of(item);
            if start > all.end && start - all.end > gap {
                break;
            }
            all.end = all.end.max(end);
            count += 1;
        }
        let (group, after) = rest.split_at(count);
        groups.push((all, group));
        rest = after;
    }
    groups
}

/// Ranges in ascending order; those that are at most `gap` apart are coalesced.
#[must_use]
pub fn coalesce_ranges<N: Copy + Ord + Sub<Output = N>>(
    mut ranges: Vec<Range<N>>,
    gap: N,
) -> Vec<Range<N>> {
    ranges.sort_unstable_by_key(|range| range.start);
    coalesce(&ranges, gap, Range::clone).into_iter().map(|(all, _)| all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined_over_gaps_up_to_the_limit() {
        let ranges = vec![20..30_u64, 0..4, 4..6, 8..10, 9..9, 31..33];
        assert_eq!(coalesce_ranges(ranges.clone(), 0), [0..6, 8..10, 20..30, 31..33]);
        assert_eq!(coalesce_ranges(ranges.clone(), 2), [0..10, 20..33]);
        assert_eq!(coalesce_ranges(ranges, u64::MAX).first(), Some(&(0..33)));
        assert!(coalesce_ranges(Vec::<Range<u64>>::new(), 5).is_empty());
        // A range inside another does not end a group early.
        let inside = vec![0..100_usize, 5..6, 90..120, 130..131];
        assert_eq!(coalesce_ranges(inside, 0), [0..120, 130..131]);
    }
}
