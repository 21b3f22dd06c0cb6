//! Where the chunks of an array lie along each axis.
//!
//! In a regular grid a division finds the chunk of an index; in a rectilinear grid, a binary search
//! over runs of equal chunks: a billion equal chunks are one run and cost as much as one chunk.
//! Which kind an axis is, is decided once a call and not once a chunk.

use serde::Deserialize;

use crate::error::{Result, fault};
use crate::layout::axes::PerAxis;

/// A chunk along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Its number.
    pub chunk: u64,
    /// Where it begins, in elements.
    pub begin: u64,
    pub length: u64,
}

/// How an axis is divided; a length divides at its multiples.
pub(crate) trait Cuts {
    /// The chunk with `position`, which must lie in the grid.
    fn find(&self, position: u64) -> Extent;
}

impl Cuts for u64 {
    fn find(&self, position: u64) -> Extent {
        let chunk = position / self;
        Extent { chunk, begin: chunk * self, length: *self }
    }
}

/// Chunks along one axis, in runs of equal ones; never empty.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The first chunk of each run.
    firsts: Vec<Extent>,
    /// The chunk that would follow the last one.
    end: Extent,
}

impl Cuts for Runs {
    fn find(&self, position: u64) -> Extent {
        let after = self.firsts.partition_point(|first| first.begin <= position);
        nth(&self.firsts[after - 1], |first| (position - first.begin) / first.length)
    }
}

fn nth(first: &Extent, number: impl FnOnce(&Extent) -> u64) -> Extent {
    let number = number(first);
    let begin = first.begin + number * first.length;
    Extent { chunk: first.chunk + number, begin, length: first.length }
}

impl Runs {
    /// Runs of a length and a count, each at least 1.
    fn new(runs: &[(u64, u64)]) -> Option<Self> {
        let mut end = Extent { chunk: 0, begin: 0, length: 0 };
        let mut firsts = Vec::with_capacity(runs.len());
        for (length, count) in runs {
            if *length == 0 || *count == 0 || isize::try_from(*length).is_err() {
                return None;
            }
            firsts.push(Extent { length: *length, ..end });
            end.begin = end.begin.checked_add(length.checked_mul(*count)?)?;
            end.chunk = end.chunk.checked_add(*count)?;
        }
        (!firsts.is_empty()).then_some(Self { firsts, end })
    }

    fn chunk(&self, number: u64) -> Option<Extent> {
        if number >= self.end.chunk {
            return None;
        }
        let after = self.firsts.partition_point(|first| first.chunk <= number);
        Some(nth(&self.firsts[after - 1], |first| number - first.chunk))
    }
}

/// The chunks along one axis.
#[derive(Debug)]
pub(crate) enum AxisGrid {
    /// All have one length, and there are as many as needed.
    Even(u64),
    Runs(Runs),
}

impl AxisGrid {
    /// The chunk with `position`, which must lie in the grid.
    pub fn find(&self, position: u64) -> Extent {
        match self {
            Self::Even(length) => length.find(position),
            Self::Runs(runs) => runs.find(position),
        }
    }

    /// Chunk number `number`; `None` if the grid does not have it.
    pub fn chunk(&self, number: u64) -> Option<Extent> {
        match self {
            Self::Even(length) => number.checked_mul(*length).map(|begin| Extent {
                chunk: number,
                begin,
                length: *length,
            }),
            Self::Runs(runs) => runs.chunk(number),
        }
    }

    /// How many chunks an axis of `size` has; 1 where it is empty.
    pub fn count(&self, size: u64) -> u64 {
        size.checked_sub(1).map_or(1, |last| self.find(last).chunk + 1)
    }

    /// The longest chunk.
    pub fn longest(&self) -> u64 {
        match self {
            Self::Even(length) => *length,
            Self::Runs(runs) => runs.firsts.iter().map(|first| first.length).max().unwrap_or(1),
        }
    }
}

/// An axis of a layout document: a length, or runs of a length and a count.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum AxisDocument {
    Even(u64),
    Runs(Vec<(u64, u64)>),
}

/// The grid that `axes` describe, for an array of `shape`.
pub(crate) fn grid_of(axes: &[AxisDocument], shape: &[u64]) -> Result<PerAxis<AxisGrid>> {
    let axis_of = |(axis, size): (&AxisDocument, &u64)| match axis {
        AxisDocument::Even(length) if *length > 0 && isize::try_from(*length).is_ok() => {
            Ok(AxisGrid::Even(*length))
        }
        AxisDocument::Even(length) => {
            Err(fault("chunk_grid", format!("{length} along one axis; at least 1")))
        }
        AxisDocument::Runs(runs) => {
            Runs::new(runs).filter(|runs| runs.end.begin >= *size).map(AxisGrid::Runs).ok_or_else(
                || fault("chunk_grid", format!("chunks that do not cover an axis of {size}")),
            )
        }
    };
    axes.iter().zip(shape).map(axis_of).collect()
}

#[cfg(test)]
impl AxisGrid {
    /// An axis of runs of a length and a count.
    pub fn of_runs(runs: &[(u64, u64)]) -> Result<Self> {
        Runs::new(runs).map(Self::Runs).ok_or_else(|| fault("chunk_grid", "no runs"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(runs: &[(u64, u64)]) -> Vec<u64> {
        runs.iter().flat_map(|(length, count)| vec![*length; *count as usize]).collect()
    }

    #[test]
    fn every_position_is_found_in_the_chunk_that_holds_it() -> Result<()> {
        for runs in [vec![(1, 1)], vec![(3, 2), (1, 4), (7, 1), (2, 2)], vec![(5, 3)]] {
            let grid = AxisGrid::of_runs(&runs)?;
            let mut begin = 0;
            for (chunk, length) in (0..).zip(lengths(&runs)) {
                let expected = Extent { chunk, begin, length };
                assert_eq!(grid.chunk(chunk), Some(expected));
                for position in begin..begin + length {
                    assert_eq!(grid.find(position), expected);
                    assert_eq!(grid.count(position + 1), chunk + 1);
                }
                begin += length;
            }
            assert_eq!(grid.chunk(lengths(&runs).len() as u64), None);
        }
        Ok(())
    }

    #[test]
    fn a_billion_equal_chunks_are_one_run() -> Result<()> {
        let grid = AxisGrid::of_runs(&[(1 << 20, 1_000_000_000), (3, 1)])?;
        assert_eq!(grid.find((1 << 20) * 999_999_999 + 5).chunk, 999_999_999);
        assert_eq!(grid.chunk(1_000_000_000).map(|extent| extent.length), Some(3));
        assert_eq!(grid.longest(), 1 << 20);
        Ok(())
    }

    #[test]
    fn runs_that_make_no_sense_are_refused() {
        for runs in
            [vec![], vec![(0, 1)], vec![(1, 0)], vec![(u64::MAX, 1)], vec![(1 << 40, 1 << 40)]]
        {
            assert!(Runs::new(&runs).is_none(), "{runs:?}");
        }
        assert!(grid_of(&[AxisDocument::Runs(vec![(3, 2)])], &[7]).is_err());
        assert!(grid_of(&[AxisDocument::Runs(vec![(3, 2)])], &[5]).is_ok());
        assert!(grid_of(&[AxisDocument::Even(0)], &[5]).is_err());
    }
}
