//! Byte and bit transposition: the shuffle filters of Blosc and of numcodecs.
//!
//! Shuffled elements are *planes*: plane `j` holds byte `j` of every element. Bit-shuffled ones
//! are the same planes, each again split in eight rows, row `k` holding bit `k` of that byte. The
//! planes need not lie side by side, so a stream that Blosc stored as it is is read where it lies.
//!
//! Each direction is a plain loop that finishes what a vector kernel of `x86.rs` left over; on
//! other processors the loop does everything. Bytes are shuffled by c-blosc.

pub(crate) mod bits;
pub(crate) mod bytes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

pub(crate) use bits::{bit_shuffle, bit_unshuffle};
pub(crate) use bytes::{MAX_PLANES, shuffle, unshuffle, unshuffle_block};
