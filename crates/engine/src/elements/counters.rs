//! Many counters of one block, each for the elements of one bin or with the same leading bits.

use zarrix_codec::memory::zeros;

use crate::error::Result;

/// Each counter is divided among as many, so that equal neighbours do not wait for each other.
const LANES: usize = 4;

/// Counters of 32 bits, for a task of fewer elements.
pub(in crate::elements) struct Counters(Vec<[u32; LANES]>);

impl Counters {
    pub fn new(count: usize) -> Result<Self> {
        Ok(Self(zeros(count)?))
    }

    /// Counts each element of `values` under the number that `counter_of` returns.
    pub fn count_all<T: Copy>(&mut self, values: &[T], counter_of: impl Fn(T) -> u16) {
        let counters = self.0.as_mut_slice();
        let (groups, rest) = values.as_chunks::<LANES>();
        for group in groups {
            for (lane, value) in group.iter().enumerate() {
                counters[usize::from(counter_of(*value))][lane] += 1;
            }
        }
        for value in rest {
            counters[usize::from(counter_of(*value))][0] += 1;
        }
    }

    /// Counts the element at `position` of a buffer.
    #[inline]
    pub fn count(&mut self, counter: usize, position: usize) {
        self.0[counter][position % LANES] += 1;
    }

    /// Adds the counts to `totals`, which may have fewer of them.
    pub fn add_to(&self, totals: &mut [u64]) {
        for (total, lanes) in totals.iter_mut().zip(&self.0) {
            *total += lanes.iter().map(|count| u64::from(*count)).sum::<u64>();
        }
    }
}
