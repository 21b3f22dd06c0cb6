//! What part of an array a call is about, and which part of which chunk that is.

use smallvec::SmallVec;

use crate::{EngineError, Result};

/// Small fixed lists, one entry an axis; longer ones go to the heap.
pub(crate) type PerAxis<T> = SmallVec<[T; 6]>;

/// What is wanted along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisSelection {
    /// One index; the buffer has no axis for it.
    Index(u64),
    /// `count` indices from `start` on, `step` apart; the step may be negative, never 0.
    Range {
        /// First index.
        start: u64,
        /// Distance to the next.
        step: i64,
        /// How many.
        count: u64,
    },
}

/// One [`AxisSelection`] per axis of the array.
pub type Selection = SmallVec<[AxisSelection; 6]>;

/// The part of an axis' selection that falls into one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Index of the chunk along this axis.
    pub chunk: u64,
    /// First selected position inside the chunk.
    pub first: usize,
    /// Distance to the next, at least 1.
    pub step: usize,
    /// How many.
    pub count: usize,
    /// Bytes from the buffer's base to the element of `first`.
    pub buffer_offset: isize,
    /// Bytes in the buffer from one of these to the next.
    pub buffer_stride: isize,
}

/// One axis of a planned call: its segments in ascending chunk order.
pub(crate) type AxisPlan = SmallVec<[Segment; 2]>;

/// A call, planned: the tasks are all combinations of the axes' segments.
#[derive(Debug)]
pub(crate) struct Plan {
    pub axes: PerAxis<AxisPlan>,
    pub tasks: usize,
}

impl Plan {
    /// Splits `selection` by chunks, for a buffer of `buffer_shape` and `buffer_strides`.
    pub fn new(
        selection: &[AxisSelection],
        shape: &[u64],
        chunk_shape: &[usize],
        buffer_strides: &[isize],
    ) -> Result<Self> {
        let mut axes = PerAxis::with_capacity(shape.len());
        let mut strides = buffer_strides.iter();
        let mut tasks = 1usize;
        for (axis, selected) in selection.iter().enumerate() {
            let plan = match *selected {
                AxisSelection::Index(index) => {
                    plan_range(axis, shape[axis], chunk_shape[axis], (index, 1, 1), 0)?
                }
                AxisSelection::Range { start, step, count } => {
                    let stride = strides.next().copied().unwrap_or(0);
                    plan_range(axis, shape[axis], chunk_shape[axis], (start, step, count), stride)?
                }
            };
            tasks = tasks.checked_mul(plan.len()).ok_or_else(|| {
                EngineError::Selection(
                    "the selection touches more chunks than fit in memory".into(),
                )
            })?;
            axes.push(plan);
        }
        Ok(Self { axes, tasks })
    }

    /// The segments of task number `task`, one per axis; the last axis varies fastest.
    pub fn task(&self, mut task: usize) -> PerAxis<Segment> {
        let mut segments: PerAxis<Segment> = self
            .axes
            .iter()
            .rev()
            .map(|plan| {
                let segment = plan[task % plan.len()];
                task /= plan.len();
                segment
            })
            .collect();
        segments.reverse();
        segments
    }
}

/// Shape of the buffer that `selection` fills.
pub(crate) fn buffer_shape(selection: &[AxisSelection]) -> PerAxis<usize> {
    selection
        .iter()
        .filter_map(|selected| match selected {
            AxisSelection::Index(_) => None,
            AxisSelection::Range { count, .. } => Some(*count as usize),
        })
        .collect()
}

fn plan_range(
    axis: usize,
    length: u64,
    chunk: usize,
    (start, step, count): (u64, i64, u64),
    stride: isize,
) -> Result<AxisPlan> {
    let mut plan = AxisPlan::new();
    if count == 0 {
        return Ok(plan);
    }
    let out_of_bounds = || {
        EngineError::Selection(format!(
            "axis {axis}: {count} indices from {start} on, {step} apart, leave the length {length}"
        ))
    };
    if step == 0 || start >= length || count > isize::MAX as u64 {
        return Err(out_of_bounds());
    }
    // A negative step is the same indices from the other end, written backwards.
    let reach = i128::from(step) * i128::from(count - 1);
    let last = i128::from(start) + reach;
    if last < 0 || last >= i128::from(length) {
        return Err(out_of_bounds());
    }
    let (low, step, mut offset, stride) = if step > 0 {
        (start, step as u64, 0isize, stride)
    } else {
        (last as u64, step.unsigned_abs(), stride * (count as isize - 1), -stride)
    };
    let chunk = chunk as u64;
    let high = low + step * (count - 1);
    let mut position = low;
    while position <= high {
        let index = position / chunk;
        let first = position - index * chunk;
        let in_chunk = ((chunk - 1 - first) / step + 1).min((high - position) / step + 1);
        plan.push(Segment {
            chunk: index,
            first: first as usize,
            step: step as usize,
            count: in_chunk as usize,
            buffer_offset: offset,
            buffer_stride: stride,
        });
        offset += stride * in_chunk as isize;
        match position.checked_add(step * in_chunk) {
            Some(next) => position = next,
            None => break,
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(plan: &AxisPlan, chunk: u64) -> Vec<(u64, isize)> {
        plan.iter()
            .flat_map(|s| {
                (0..s.count).map(move |i| {
                    (
                        s.chunk * chunk + (s.first + i * s.step) as u64,
                        s.buffer_offset + s.buffer_stride * i as isize,
                    )
                })
            })
            .collect()
    }

    #[test]
    fn every_range_reaches_the_indices_numpy_reaches() {
        for length in 1u64..12 {
            for chunk in 1usize..14 {
                for start in 0..length {
                    for step in [-5i64, -3, -2, -1, 1, 2, 3, 7] {
                        let mut count = 0u64;
                        loop {
                            let last = start as i64 + step * count as i64;
                            if last < 0 || last >= length as i64 {
                                break;
                            }
                            count += 1;
                            let plan = plan_range(0, length, chunk, (start, step, count), 8)
                                .unwrap_or_default();
                            let mut got = indices(&plan, chunk as u64);
                            got.sort_by_key(|(_, offset)| *offset);
                            let wanted: Vec<(u64, isize)> = (0..count)
                                .map(|i| ((start as i64 + step * i as i64) as u64, 8 * i as isize))
                                .collect();
                            assert_eq!(got, wanted);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_beyond_the_axis_is_refused() {
        assert!(plan_range(1, 10, 4, (8, 1, 3), 1).is_err());
        assert!(plan_range(1, 10, 4, (2, -1, 4), 1).is_err());
        assert!(plan_range(1, 10, 4, (u64::MAX, 1, 1), 1).is_err());
        assert!(plan_range(1, 10, 4, (0, i64::MAX, 2), 1).is_err());
    }

    #[test]
    fn a_step_over_a_huge_axis_plans_only_what_it_touches() {
        let plan = plan_range(0, u64::MAX, 1, (0, 1 << 61, 7), 1).unwrap_or_default();
        assert_eq!(plan.len(), 7);
    }
}
