//! Byte and bit transposition: the shuffle filters of Blosc and of numcodecs.
//!
//! Shuffled elements are *planes*: plane `j` holds byte `j` of every element. Bit-shuffled ones
//! are the same planes, each again split in eight rows, row `k` holding bit `k` of that byte. The
//! planes need not lie side by side, so a stream that Blosc stored as it is is read where it lies.
//!
//! Each direction is a plain loop that finishes what a vector kernel of `x86.rs` left over; on
//! other processors the loop does everything. Bytes are shuffled by c-blosc.

mod bits;
mod bytes;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use bits::{bit_shuffle, bit_unshuffle};
pub(crate) use bytes::{shuffle, unshuffle};

/// The most planes an element of Blosc can have.
pub(crate) const MAX_PLANES: usize = 255;

/// Unshuffles one run of adjacent planes, for any item size.
pub(crate) fn unshuffle_block(src: &[u8], element_bytes: usize, dst: &mut [u8]) {
    let elements = src.len() / element_bytes.max(1);
    if elements == 0 {
        dst.copy_from_slice(src);
        return;
    }
    let planes: Vec<&[u8]> = src.chunks_exact(elements).collect();
    unshuffle(&planes, dst);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without a period that a transposition could hide behind.
    fn data(bytes: usize) -> Vec<u8> {
        (0..bytes as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
    }

    #[test]
    fn unshuffle_is_the_inverse_of_shuffle_for_every_element_size() {
        for element_bytes in (1..40).chain([64, 100, 200, 255, 300]) {
            for elements in [0, 1, 7, 15, 16, 17, 31, 32, 33, 64, 100, 1000] {
                let src = data(elements * element_bytes);
                let (mut planes, mut back) = (vec![0; src.len()], vec![0; src.len()]);
                shuffle(&src, element_bytes, &mut planes);
                for (i, &byte) in src.iter().enumerate() {
                    assert_eq!(planes[i % element_bytes * elements + i / element_bytes], byte);
                }
                unshuffle_block(&planes, element_bytes, &mut back);
                assert_eq!(back, src, "{elements} elements of {element_bytes} bytes");
            }
        }
    }

    #[test]
    fn bit_shuffle_is_the_inverse_of_bit_unshuffle() {
        for element_bytes in [1, 2, 3, 4, 5, 8, 12, 16, 17, 64, 200, 255] {
            for elements in [8, 16, 120, 128, 136, 256, 264, 1024, 1032, 3000, 5000] {
                let src = data(elements * element_bytes);
                let (mut bits, mut back) = (vec![0; src.len()], vec![0; src.len()]);
                bit_shuffle(&src, element_bytes, &mut bits);
                let planes: Vec<&[u8]> = bits.chunks_exact(elements).collect();
                bit_unshuffle(&planes, &mut back);
                assert_eq!(back, src, "{elements} elements of {element_bytes} bytes");
            }
        }
    }

    #[test]
    fn what_is_not_whole_is_copied() {
        let src = data(4 * 16 + 3);
        let mut dst = vec![0; src.len()];
        bit_shuffle(&src, 4, &mut dst);
        assert_eq!(dst[64..], src[64..]);
        assert_ne!(dst[..64], src[..64]);
        for length in [0, 3, 4 * 15] {
            let src = data(length);
            let mut dst = vec![0; length];
            bit_shuffle(&src, 4, &mut dst);
            assert_eq!(dst, src);
        }
    }

    #[test]
    fn bit_unshuffle_puts_every_bit_in_its_place() {
        for element_bytes in [1, 2, 3, 4, 8, 12, 16, 17, 64, 200, 255] {
            for elements in [8, 16, 120, 128, 136, 256, 264, 1024, 1032, 3000] {
                let src = data(elements * element_bytes);
                let planes: Vec<&[u8]> = src.chunks_exact(elements).collect();
                let mut dst = vec![0; src.len()];
                bit_unshuffle(&planes, &mut dst);
                let row_bytes = elements / 8;
                for (i, element) in dst.chunks_exact(element_bytes).enumerate() {
                    for bit in 0..8 * element_bytes {
                        let stored = src[bit * row_bytes + i / 8] >> (i % 8) & 1;
                        assert_eq!(element[bit / 8] >> (bit % 8) & 1, stored);
                    }
                }
            }
        }
    }
}
