//! Bit transposition: eight rows of bits become a plane of bytes, planes become elements.

use super::bytes::{MAX_PLANES, shuffle, unshuffle};

/// Elements per tile when elements are small; a multiple of what a kernel takes at once.
const TILE_ELEMENTS: usize = 1024;
/// Bytes of a tile of elements that become rows: it stays in the first cache.
const SHUFFLED_BYTES: usize = 8192;
/// Kernels take elements in multiples of this, or of twice as many, but at the end.
const STEP_ELEMENTS: usize = 128;

/// Transposes the 8 by 8 bits of a word: bit `k` of byte `i` becomes bit `i` of byte `k`.
fn transpose_8x8(mut x: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0)]
    {
        let swap = (x ^ (x >> shift)) & mask;
        x ^= swap ^ (swap << shift);
    }
    x
}

/// Makes the bytes of elements `8 * start..` of one plane from its eight rows of bits.
fn rows_to_bytes(plane: &[u8], start: usize, dst: &mut [u8]) {
    let row_bytes = plane.len() / 8;
    #[cfg(target_arch = "x86_64")]
    let done = super::x86::rows_to_bytes(plane, start, dst);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    for (i, eight) in dst.chunks_exact_mut(8).enumerate().skip(done) {
        let rows: [u8; 8] = std::array::from_fn(|k| plane[k * row_bytes + start + i]);
        eight.copy_from_slice(&transpose_8x8(u64::from_le_bytes(rows)).to_le_bytes());
    }
}

/// Bit-unshuffles planes into `dst`; all are equally long, whole eights, and fill `dst`.
pub(crate) fn bit_unshuffle(planes: &[&[u8]], dst: &mut [u8]) {
    match planes {
        [plane] => rows_to_bytes(plane, 0, dst),
        _ if planes.len() <= 16 => bit_unshuffle_tiled::<16, 8192>(planes, dst),
        _ => bit_unshuffle_tiled::<MAX_PLANES, 32768>(planes, dst),
    }
}

/// The same through tiles of bytes, so small that they stay in the first cache.
fn bit_unshuffle_tiled<const PLANES: usize, const TILE_BYTES: usize>(
    planes: &[&[u8]],
    dst: &mut [u8],
) {
    let element_bytes = planes.len();
    let room = TILE_BYTES / element_bytes / STEP_ELEMENTS * STEP_ELEMENTS;
    let tile_elements = room.clamp(STEP_ELEMENTS, TILE_ELEMENTS);
    let mut tile = [0; TILE_BYTES];
    for (index, out) in dst.chunks_mut(tile_elements * element_bytes).enumerate() {
        let elements = out.len() / element_bytes;
        let mut bytes: [&[u8]; PLANES] = [&[]; PLANES];
        let mut rest = &mut tile[..];
        for (bytes, plane) in bytes.iter_mut().zip(planes) {
            let (here, after) = rest.split_at_mut(elements);
            rows_to_bytes(plane, index * tile_elements / 8, here);
            *bytes = here;
            rest = after;
        }
        unshuffle(&bytes[..element_bytes], out);
    }
}

/// The inverse of [`rows_to_bytes`]: the bytes of elements `8 * start..` of one plane become bits.
fn bytes_to_rows(src: &[u8], start: usize, plane: &mut [u8]) {
    let row_bytes = plane.len() / 8;
    #[cfg(target_arch = "x86_64")]
    let done = super::x86::bytes_to_rows(src, start, plane);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    for (i, eight) in src.as_chunks().0.iter().enumerate().skip(done) {
        let rows = transpose_8x8(u64::from_le_bytes(*eight)).to_le_bytes();
        for (k, row) in rows.into_iter().enumerate() {
            plane[k * row_bytes + start + i] = row;
        }
    }
}

/// The inverse of [`bit_unshuffle`], to planes side by side, as c-blosc has it: bytes after the
/// last whole element are copied, and all bytes if the elements are not whole eights. Every byte of
/// `src` is read once.
pub(crate) fn bit_shuffle(src: &[u8], element_bytes: usize, dst: &mut [u8]) {
    assert!(element_bytes > 0 && src.len() == dst.len());
    let elements = src.len() / element_bytes;
    if elements == 0 || !elements.is_multiple_of(8) {
        dst.copy_from_slice(src);
        return;
    }
    let (whole, rest) = src.split_at(elements * element_bytes);
    let (planes, copied) = dst.split_at_mut(whole.len());
    copied.copy_from_slice(rest);
    if element_bytes == 1 {
        bytes_to_rows(whole, 0, planes);
        return;
    }
    let mut tile = [0; SHUFFLED_BYTES];
    // Whole steps, or at least whole eights: the longest elements have `MAX_PLANES` bytes.
    let room = SHUFFLED_BYTES / element_bytes;
    let tile_elements = room - room % if room < STEP_ELEMENTS { 8 } else { STEP_ELEMENTS };
    for (index, part) in whole.chunks(tile_elements * element_bytes).enumerate() {
        let bytes = &mut tile[..part.len()];
        shuffle(part, element_bytes, bytes);
        let here = bytes.chunks_exact(part.len() / element_bytes);
        for (bytes, plane) in here.zip(planes.chunks_exact_mut(elements)) {
            bytes_to_rows(bytes, index * tile_elements / 8, plane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transpose::unshuffle_block;

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
