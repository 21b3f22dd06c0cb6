//! How many elements are between two edges.

use crate::elements::counters::Counters;
use crate::elements::scalar::Scalar;
use crate::error::Result;

/// The bins of a task. The last one has its upper edge, too.
pub(in crate::elements) struct Histogram<T: Scalar> {
    first_edge: T::Edge,
    last_edge: T::Edge,
    /// The edges of each bin; nothing is above the upper one of the last bin.
    bins: Vec<(T::Edge, T::Edge)>,
    /// One more than there are bins, for what is outside.
    counters: Counters,
}

impl<T: Scalar> Histogram<T> {
    /// `None` for fewer than two edges.
    pub fn new(edges: &[T::Edge]) -> Result<Option<Self>> {
        let &[first_edge, .., last_edge] = edges else { return Ok(None) };
        let upper = |index: usize| if index + 1 == edges.len() { T::NONE } else { edges[index] };
        let bins = (1..edges.len()).map(|index| (edges[index - 1], upper(index))).collect();
        let counters = Counters::new(edges.len())?;
        Ok(Some(Self { first_edge, last_edge, bins, counters }))
    }

    pub fn add(&mut self, values: &[T]) {
        let Self { first_edge: first, last_edge: last, ref bins, .. } = *self;
        let outside = bins.len();
        let per_bin = T::per_bin(first, last, outside);
        for (position, value) in values.iter().enumerate() {
            let value = value.on_edges();
            let is_inside = value >= first && value <= last;
            let bin = if is_inside {
                let estimate = (T::estimated_bin(value, first, per_bin) as usize).min(outside - 1);
                let (low, high) = bins[estimate];
                let bin = estimate.wrapping_sub(usize::from(value < low));
                bin.wrapping_add(usize::from(value >= high))
            } else {
                // NaN, too, is in no bin.
                outside
            };
            self.counters.count(bin, position);
        }
    }

    pub fn add_to(&self, totals: &mut [u64]) {
        self.counters.add_to(totals);
    }
}
