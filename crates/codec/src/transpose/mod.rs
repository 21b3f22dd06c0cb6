//! Byte and bit transposition: the shuffle filters of Blosc and of numcodecs.
//!
//! Shuffled elements are *planes*: plane `j` holds byte `j` of every element. Bit-shuffled ones
//! are the same planes, each again split in eight rows, row `k` holding bit `k` of that byte. The
//! planes need not lie side by side, so a stream that Blosc stored as it is is read where it lies.
//!
//! Each direction is a plain loop that finishes what a vector kernel of `x86.rs` left over; on
//! other processors the loop does everything.

mod bits;
mod bytes;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use bits::bit_unshuffle;
pub(crate) use bytes::{shuffle, unshuffle};

/// The most planes an element of Blosc can have.
pub(crate) const MAX_PLANES: usize = 255;

/// Unshuffles one run of planes that lie side by side, whatever the size of an element.
pub(crate) fn unshuffle_block(src: &[u8], element_bytes: usize, dst: &mut [u8]) {
    let elements = src.len() / element_bytes.max(1);
    if elements == 0 {
        dst.copy_from_slice(src);
        return;
    }
    let planes: Vec<&[u8]> = src.chunks_exact(elements).collect();
    unshuffle(&planes, dst);
}
