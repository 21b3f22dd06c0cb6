//! Vector kernels for x86-64: SSE2, which every such processor has, and AVX2 where it is found.
//!
//! Both widths are one macro, since the instructions have the same shape: interleaving two
//! registers (`unpack`) byte by byte, then pair by pair, and so on, turns planes into elements.
//! AVX2 interleaves within 128-bit lanes, so its registers are two of SSE2's side by side and are
//! put in order when they are stored. Wider registers would not pay: the blocks come from the
//! second cache and go to memory. Processors with GFNI transpose the bits of interleaved rows with
//! one instruction for each register.
//!
//! Every kernel does the multiple of its step that fits and returns how far it got.

use std::arch::x86_64::*;

/// Unshuffles whole steps of elements; returns how many elements.
pub(super) fn unshuffle(planes: &[&[u8]], dst: &mut [u8]) -> usize {
    let Some(elements) = planes.first().map(|plane| plane.len()) else {
        return 0;
    };
    assert!(planes.iter().all(|plane| plane.len() == elements));
    assert_eq!(dst.len(), elements * planes.len());
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was found; planes are equally long and fill `dst`.
        unsafe { avx2::unshuffle(planes, elements, dst.as_mut_ptr()) }
    } else {
        // SAFETY: SSE2 is part of x86-64; planes are equally long and fill `dst`.
        unsafe { sse2::unshuffle(planes, elements, dst.as_mut_ptr()) }
    }
}

/// Makes bytes from the eight rows of `plane`, from byte `start` of each row, until `dst` is full;
/// returns how many bytes of each row were taken.
pub(super) fn rows_to_bytes(plane: &[u8], start: usize, dst: &mut [u8]) -> usize {
    let row_bytes = plane.len() / 8;
    let count = dst.len() / 8;
    assert!(start <= row_bytes && count <= row_bytes - start);
    if is_x86_feature_detected!("gfni") && is_x86_feature_detected!("avx2") {
        // SAFETY: both were found; every row has `count` bytes from `start`, `dst` eight times that.
        unsafe { rows_to_bytes_gfni(plane.as_ptr(), row_bytes, start, count, dst.as_mut_ptr()) }
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was found; rows and `dst` as above.
        unsafe { avx2::rows_to_bytes(plane.as_ptr(), row_bytes, start, count, dst.as_mut_ptr()) }
    } else {
        // SAFETY: SSE2 is part of x86-64; rows and `dst` as above.
        unsafe { sse2::rows_to_bytes(plane.as_ptr(), row_bytes, start, count, dst.as_mut_ptr()) }
    }
}

/// The inverse of [`rows_to_bytes`]: `src` goes to the eight rows of `plane`, from byte `start` of
/// each row; returns how many bytes of each row were written.
pub(super) fn bytes_to_rows(src: &[u8], start: usize, plane: &mut [u8]) -> usize {
    let row_bytes = plane.len() / 8;
    let count = src.len() / 8;
    assert!(start <= row_bytes && count <= row_bytes - start);
    if is_x86_feature_detected!("gfni") && is_x86_feature_detected!("avx2") {
        // SAFETY: both were found; every row has `count` bytes from `start`, `src` eight times that.
        unsafe { bytes_to_rows_gfni(src.as_ptr(), count, row_bytes, start, plane.as_mut_ptr()) }
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was found; rows and `src` as above.
        unsafe { avx2::bytes_to_rows(src.as_ptr(), count, row_bytes, start, plane.as_mut_ptr()) }
    } else {
        // SAFETY: SSE2 is part of x86-64; rows and `src` as above.
        unsafe { sse2::bytes_to_rows(src.as_ptr(), count, row_bytes, start, plane.as_mut_ptr()) }
    }
}

macro_rules! kernels {
    (
        $name:ident, $feature:literal, $vector:ty, lanes = $lanes:literal,
        zero = $zero:ident, load = $load:ident, lo = [$lo8:ident, $lo16:ident, $lo32:ident, $lo64:ident],
        hi = [$hi8:ident, $hi16:ident, $hi32:ident, $hi64:ident],
        xor = $xor:ident, and = $and:ident, shl = $shl:ident, shr = $shr:ident, set = $set:ident,
        movemask = $movemask:ident, add = $add:ident, store = $store:ident,
    ) => {
        mod $name {
            use super::*;

            /// Elements (or bytes of a row) per step: the bytes of a register.
            const STEP: usize = 16 * $lanes;

            /// Interleaves the registers of two halves of an element, `8 << LEVEL` bits at a time.
            #[inline]
            #[target_feature(enable = $feature)]
            fn interleave<const LEVEL: u32, const N: usize, const M: usize>(
                a: [$vector; N],
                b: [$vector; N],
            ) -> [$vector; M] {
                let mut out = [a[0]; M];
                for k in 0..N {
                    (out[2 * k], out[2 * k + 1]) = match LEVEL {
                        0 => ($lo8(a[k], b[k]), $hi8(a[k], b[k])),
                        1 => ($lo16(a[k], b[k]), $hi16(a[k], b[k])),
                        2 => ($lo32(a[k], b[k]), $hi32(a[k], b[k])),
                        _ => ($lo64(a[k], b[k]), $hi64(a[k], b[k])),
                    };
                }
                out
            }

            #[inline]
            #[target_feature(enable = $feature)]
            fn pairs(p: [$vector; 2]) -> [$vector; 2] {
                interleave::<0, 1, 2>([p[0]], [p[1]])
            }

            #[inline]
            #[target_feature(enable = $feature)]
            fn fours(p: [$vector; 4]) -> [$vector; 4] {
                interleave::<1, 2, 4>(pairs([p[0], p[1]]), pairs([p[2], p[3]]))
            }

            #[inline]
            #[target_feature(enable = $feature)]
            pub(super) fn eights(p: [$vector; 8]) -> [$vector; 8] {
                let [a, b, c, d, e, f, g, h] = p;
                interleave::<2, 4, 8>(fours([a, b, c, d]), fours([e, f, g, h]))
            }

            #[inline]
            #[target_feature(enable = $feature)]
            fn sixteens(p: [$vector; 16]) -> [$vector; 16] {
                let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q] = p;
                let first = eights([a, b, c, d, e, f, g, h]);
                let second = eights([i, j, k, l, m, n, o, q]);
                interleave::<3, 8, 16>(first, second)
            }

            /// Byte `i..` of `N` planes.
            ///
            /// # Safety
            ///
            /// Each plane has `STEP` bytes from `i`.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn load<const N: usize>(planes: &[*const u8; N], i: usize) -> [$vector; N] {
                let mut registers = [$zero(); N];
                // Counting to a constant is what lets the registers stay registers.
                for j in 0..N {
                    // SAFETY: the caller's promise.
                    registers[j] = unsafe { $load(planes[j].add(i).cast()) };
                }
                registers
            }

            /// Where `N` planes from the first start.
            #[inline]
            fn starts<const N: usize>(planes: &[&[u8]]) -> [*const u8; N] {
                std::array::from_fn(|j| planes[j].as_ptr())
            }

            /// Unshuffles elements of exactly `N` bytes.
            ///
            /// # Safety
            ///
            /// There are `N` planes of `elements` bytes, and `dst` has room for all elements.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn unshuffle_exact<const N: usize>(
                planes: &[&[u8]],
                elements: usize,
                dst: *mut u8,
                merge: impl Fn([$vector; N]) -> [$vector; N],
            ) -> usize {
                let done = elements / STEP * STEP;
                let planes = starts::<N>(planes);
                for i in (0..done).step_by(STEP) {
                    // SAFETY: `i + STEP <= elements`, the length of each plane.
                    let registers = merge(unsafe { load(&planes, i) });
                    // SAFETY: `N` registers are `STEP` elements of `N` bytes.
                    unsafe { $store(registers, dst.add(i * N)) };
                }
                done
            }

            /// Unshuffles elements of any size in groups of `N` planes, the last group reaching
            /// back over the one before it.
            ///
            /// # Safety
            ///
            /// There are `N` planes or more, each of `elements` bytes, and `dst` has room for all.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn unshuffle_groups<const N: usize>(
                planes: &[&[u8]],
                elements: usize,
                dst: *mut u8,
                merge: impl Fn([$vector; N]) -> [$vector; N],
            ) -> usize {
                let element_bytes = planes.len();
                let done = elements / STEP * STEP;
                for i in (0..done).step_by(STEP) {
                    for group in (0..element_bytes).step_by(N) {
                        let group = group.min(element_bytes - N);
                        // SAFETY: `i + STEP <= elements`, the length of each plane.
                        let registers = merge(unsafe { load(&starts::<N>(&planes[group..]), i) });
                        let mut pieces = [0_u8; 16 * STEP];
                        // SAFETY: `N <= 16` registers are `STEP` pieces of `N` bytes.
                        unsafe { $store(registers, pieces.as_mut_ptr()) };
                        for (k, piece) in pieces.chunks_exact(N).take(STEP).enumerate() {
                            let at = (i + k) * element_bytes + group;
                            // SAFETY: element `i + k` ends inside `dst`, and the piece inside it.
                            unsafe { dst.add(at).copy_from_nonoverlapping(piece.as_ptr(), N) };
                        }
                    }
                }
                done
            }

            /// # Safety
            ///
            /// The planes have `elements` bytes each, and `dst` has room for all elements.
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn unshuffle(
                planes: &[&[u8]],
                elements: usize,
                dst: *mut u8,
            ) -> usize {
                // SAFETY: the caller's promise, and the number of planes is matched.
                unsafe {
                    match planes.len() {
                        2 => unshuffle_exact(planes, elements, dst, |p| pairs(p)),
                        4 => unshuffle_exact(planes, elements, dst, |p| fours(p)),
                        8 => unshuffle_exact(planes, elements, dst, |p| eights(p)),
                        16 => unshuffle_exact(planes, elements, dst, |p| sixteens(p)),
                        0..=3 => 0,
                        5..=7 => unshuffle_groups(planes, elements, dst, |p| fours(p)),
                        9..=15 => unshuffle_groups(planes, elements, dst, |p| eights(p)),
                        _ => unshuffle_groups(planes, elements, dst, |p| sixteens(p)),
                    }
                }
            }

            /// Transposes the 8 by 8 bits at each byte of eight registers.
            #[inline]
            #[target_feature(enable = $feature)]
            fn transpose_bits(mut r: [$vector; 8]) -> [$vector; 8] {
                macro_rules! swap {
                    ($shift:literal, $mask:literal, $first:expr) => {
                        // Not filtered by a closure, which has no target feature to be inlined by.
                        for k in $first {
                            let differ = $xor($shr::<$shift>(r[k]), r[k + $shift]);
                            let differ = $and(differ, $set($mask));
                            r[k + $shift] = $xor(r[k + $shift], differ);
                            r[k] = $xor(r[k], $shl::<$shift>(differ));
                        }
                    };
                }
                swap!(4, 0x0F, [0, 1, 2, 3]);
                swap!(2, 0x33, [0, 1, 4, 5]);
                swap!(1, 0x55, [0, 2, 4, 6]);
                r
            }

            /// # Safety
            ///
            /// Each of the eight rows of `row_bytes` at `plane` has `count` bytes from `start`,
            /// and `dst` has room for eight times that.
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn rows_to_bytes(
                plane: *const u8,
                row_bytes: usize,
                start: usize,
                count: usize,
                dst: *mut u8,
            ) -> usize {
                let done = count / STEP * STEP;
                for i in (0..done).step_by(STEP) {
                    let row = |k: usize| {
                        // SAFETY: row `k` has `STEP` bytes from `start + i`.
                        unsafe { $load(plane.add(k * row_bytes + start + i).cast()) }
                    };
                    let rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
                    // SAFETY: eight registers are `STEP` times eight bytes.
                    unsafe { $store(eights(transpose_bits(rows)), dst.add(i * 8)) };
                }
                done
            }

            /// Collects the top bits of a register of bytes in the last row, then the next bits in
            /// the row before.
            ///
            /// # Safety
            ///
            /// `src` has `8 * count` bytes, and each of the eight rows of `row_bytes` at `plane`
            /// has room for `count` bytes from `start`.
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn bytes_to_rows(
                src: *const u8,
                count: usize,
                row_bytes: usize,
                start: usize,
                plane: *mut u8,
            ) -> usize {
                const BITS: usize = STEP / 8;
                let done = count / BITS * BITS;
                for i in (0..done).step_by(BITS) {
                    // SAFETY: `src` has `STEP` bytes from `8 * i`.
                    let mut bytes = unsafe { $load(src.add(8 * i).cast()) };
                    for k in (0..8).rev() {
                        let bits = $movemask(bytes).to_le_bytes();
                        let row = bits.as_ptr();
                        // SAFETY: row `k` has `BITS` bytes from `start + i`, and `bits` has four.
                        unsafe {
                            let to = plane.add(k * row_bytes + start + i);
                            to.copy_from_nonoverlapping(row, BITS);
                        }
                        bytes = $add(bytes, bytes);
                    }
                }
                done
            }
        }
    };
}

kernels! {
    sse2, "sse2", __m128i, lanes = 1,
    zero = _mm_setzero_si128, load = _mm_loadu_si128,
    lo = [_mm_unpacklo_epi8, _mm_unpacklo_epi16, _mm_unpacklo_epi32, _mm_unpacklo_epi64],
    hi = [_mm_unpackhi_epi8, _mm_unpackhi_epi16, _mm_unpackhi_epi32, _mm_unpackhi_epi64],
    xor = _mm_xor_si128, and = _mm_and_si128, shl = _mm_slli_epi16, shr = _mm_srli_epi16,
    set = _mm_set1_epi8, movemask = _mm_movemask_epi8, add = _mm_add_epi8,
    store = store_sse2,
}

kernels! {
    avx2, "avx2", __m256i, lanes = 2,
    zero = _mm256_setzero_si256, load = _mm256_loadu_si256,
    lo = [_mm256_unpacklo_epi8, _mm256_unpacklo_epi16, _mm256_unpacklo_epi32,
          _mm256_unpacklo_epi64],
    hi = [_mm256_unpackhi_epi8, _mm256_unpackhi_epi16, _mm256_unpackhi_epi32,
          _mm256_unpackhi_epi64],
    xor = _mm256_xor_si256, and = _mm256_and_si256, shl = _mm256_slli_epi16,
    shr = _mm256_srli_epi16, set = _mm256_set1_epi8, movemask = _mm256_movemask_epi8,
    add = _mm256_add_epi8,
    store = store_avx2,
}

/// As `avx2::rows_to_bytes`, with the instruction that multiplies matrices of 8 by 8 bits.
///
/// Each byte of the first operand is a vector, and each word of the second one a matrix, whose
/// first row is its last byte. The eight unit vectors give the columns of the matrix.
///
/// # Safety
///
/// Each of the eight rows of `row_bytes` at `plane` has `count` bytes from `start`, and `dst` has
/// room for eight times that.
#[target_feature(enable = "avx2,gfni")]
unsafe fn rows_to_bytes_gfni(
    plane: *const u8,
    row_bytes: usize,
    start: usize,
    count: usize,
    dst: *mut u8,
) -> usize {
    const STEP: usize = 32;
    let units = _mm256_set1_epi64x(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let done = count / STEP * STEP;
    for i in (0..done).step_by(STEP) {
        let row = |k: usize| {
            // SAFETY: row `k` has `STEP` bytes from `start + i`.
            unsafe { _mm256_loadu_si256(plane.add(k * row_bytes + start + i).cast()) }
        };
        let rows = [row(7), row(6), row(5), row(4), row(3), row(2), row(1), row(0)];
        let mut registers = avx2::eights(rows);
        for register in &mut registers {
            *register = _mm256_gf2p8affine_epi64_epi8::<0>(units, *register);
        }
        // SAFETY: eight registers are `STEP` times eight bytes.
        unsafe { store_avx2(registers, dst.add(i * 8)) };
    }
    done
}

/// As `avx2::bytes_to_rows`, by the product of [`rows_to_bytes_gfni`], whose matrices are eight
/// bytes in reverse. The bytes of the products are then collected by rows.
///
/// # Safety
///
/// `src` has `8 * count` bytes, and each of the eight rows of `row_bytes` at `plane` has room for
/// `count` bytes from `start`.
#[target_feature(enable = "avx2,gfni")]
unsafe fn bytes_to_rows_gfni(
    src: *const u8,
    count: usize,
    row_bytes: usize,
    start: usize,
    plane: *mut u8,
) -> usize {
    const STEP: usize = 32;
    let units = _mm256_set1_epi64x(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let both = |lane: [i8; 16]| {
        // SAFETY: 16 bytes are read.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(lane.as_ptr().cast()) })
    };
    let reversed = both([7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]);
    let paired = both([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]);
    let done = count / STEP * STEP;
    for i in (0..done).step_by(STEP) {
        // Two words of the first half of a step, and two of the second one, in its lane.
        let words = |j: usize| {
            // SAFETY: `src` has `8 * STEP` bytes from `8 * i`.
            unsafe {
                let low = _mm_loadu_si128(src.add(8 * i + 16 * j).cast());
                let high = _mm_loadu_si128(src.add(8 * i + 128 + 16 * j).cast());
                _mm256_set_m128i(high, low)
            }
        };
        let mut r =
            [words(0), words(1), words(2), words(3), words(4), words(5), words(6), words(7)];
        for register in &mut r {
            let product =
                _mm256_gf2p8affine_epi64_epi8::<0>(units, _mm256_shuffle_epi8(*register, reversed));
            // Pairs of bytes of the same row.
            *register = _mm256_shuffle_epi8(product, paired);
        }
        // A transposition of 8 by 8 pairs.
        let twos = |a, b| (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b));
        let fours = |a, b| (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let eights = |a, b| [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)];
        let ((a, b), (c, d)) = (twos(r[0], r[1]), twos(r[2], r[3]));
        let ((e, f), (g, h)) = (twos(r[4], r[5]), twos(r[6], r[7]));
        let ((a, c), (b, d)) = (fours(a, c), fours(b, d));
        let ((e, g), (f, h)) = (fours(e, g), fours(f, h));
        let rows = [eights(a, e), eights(c, g), eights(b, f), eights(d, h)];
        for (k, row) in rows.as_flattened().iter().enumerate() {
            // SAFETY: row `k` has `STEP` bytes from `start + i`.
            unsafe { _mm256_storeu_si256(plane.add(k * row_bytes + start + i).cast(), *row) };
        }
    }
    done
}

/// Stores registers one behind the other.
///
/// # Safety
///
/// `dst` has room for `16 * N` bytes.
#[inline]
#[target_feature(enable = "sse2")]
unsafe fn store_sse2<const N: usize>(registers: [__m128i; N], dst: *mut u8) {
    for (k, register) in registers.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { _mm_storeu_si128(dst.add(16 * k).cast(), register) };
    }
}

/// Stores the first lanes of all registers one behind the other, then the second lanes.
///
/// # Safety
///
/// `dst` has room for `32 * N` bytes; `N` is even.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_avx2<const N: usize>(registers: [__m256i; N], dst: *mut u8) {
    for k in 0..N / 2 {
        let (a, b) = (registers[2 * k], registers[2 * k + 1]);
        let (first, second) =
            (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b));
        // SAFETY: the caller's promise; each half is `16 * N` bytes.
        unsafe {
            _mm256_storeu_si256(dst.add(32 * k).cast(), first);
            _mm256_storeu_si256(dst.add(16 * N + 32 * k).cast(), second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_widths_give_the_same_bytes() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        let src: Vec<u8> =
            (0..20 * 640_u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8).collect();
        for element_bytes in 2..20 {
            let planes: Vec<&[u8]> = src.chunks_exact(640).take(element_bytes).collect();
            let (mut narrow, mut wide) = ([0; 20 * 640], [0; 20 * 640]);
            // SAFETY: the processor has both; planes of 640 bytes fit both destinations.
            let done = unsafe {
                (
                    sse2::unshuffle(&planes, 640, narrow.as_mut_ptr()),
                    avx2::unshuffle(&planes, 640, wide.as_mut_ptr()),
                )
            };
            assert_eq!(done, if element_bytes == 3 { (0, 0) } else { (640, 640) });
            assert_eq!(narrow, wide);
        }
        let (mut narrow, mut wide) = ([0; 5120], [0; 5120]);
        // SAFETY: the processor has both; eight rows of 640 bytes fit both destinations.
        let done = unsafe {
            (
                sse2::rows_to_bytes(src.as_ptr(), 640, 0, 640, narrow.as_mut_ptr()),
                avx2::rows_to_bytes(src.as_ptr(), 640, 0, 640, wide.as_mut_ptr()),
            )
        };
        assert_eq!(done, (640, 640));
        assert_eq!(narrow, wide);
        if is_x86_feature_detected!("gfni") {
            let mut products = [0; 5120];
            // SAFETY: the processor has both; rows and destination are those from above.
            let done =
                unsafe { rows_to_bytes_gfni(src.as_ptr(), 640, 0, 640, products.as_mut_ptr()) };
            assert_eq!(done, 640);
            assert_eq!(narrow, products);
        }
    }

    #[test]
    fn rows_become_bytes_and_rows_again() {
        let src: Vec<u8> =
            (0..5120_u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8).collect();
        let (mut bytes, mut rows) = ([0; 5120], [0; 5120]);
        // SAFETY: SSE2 is part of x86-64; eight rows of 640 bytes fit both destinations.
        let done = unsafe {
            sse2::rows_to_bytes(src.as_ptr(), 640, 0, 640, bytes.as_mut_ptr());
            sse2::bytes_to_rows(bytes.as_ptr(), 640, 640, 0, rows.as_mut_ptr())
        };
        assert_eq!(done, 640);
        assert_eq!(rows[..], src);
        if is_x86_feature_detected!("avx2") {
            let mut rows = [0; 5120];
            // SAFETY: AVX2 was found, and lengths are those from above.
            let done =
                unsafe { avx2::bytes_to_rows(bytes.as_ptr(), 640, 640, 0, rows.as_mut_ptr()) };
            assert_eq!(done, 640);
            assert_eq!(rows[..], src);
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("gfni") {
            let mut rows = [0; 5120];
            // SAFETY: both were found, and lengths are those from above.
            let done =
                unsafe { bytes_to_rows_gfni(bytes.as_ptr(), 640, 640, 0, rows.as_mut_ptr()) };
            assert_eq!(done, 640);
            assert_eq!(rows[..], src);
        }
    }
}
