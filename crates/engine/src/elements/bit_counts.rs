//! How many elements begin with the same 16 bits.

use crate::elements::counters::Counters;
use crate::elements::scalar::Scalar;
use crate::error::Result;

/// Counts of one block: as many as 16 bits have values.
pub const BIT_COUNTS: usize = 1 << 16;

/// Whose leading bits are counted, as an integer that is ordered as the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeadingBits {
    /// The `float32` that is nearest to each element.
    Float32,
    /// The elements themselves.
    Own,
}

/// The counts of a task.
pub(in crate::elements) struct BitCounts {
    leading: LeadingBits,
    counters: Counters,
}

impl BitCounts {
    pub fn new(leading: LeadingBits) -> Result<Self> {
        Ok(Self { leading, counters: Counters::new(BIT_COUNTS)? })
    }

    pub fn add<T: Scalar>(&mut self, values: &[T]) {
        match self.leading {
            LeadingBits::Own => self.counters.count_all(values, T::own_bits),
            LeadingBits::Float32 => self.counters.count_all(values, T::float_bits),
        }
    }

    pub fn add_to(&self, totals: &mut [u64]) {
        self.counters.add_to(totals);
    }
}
