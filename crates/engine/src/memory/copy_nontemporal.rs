//! Non-temporal copy: writes bypass the CPU caches. For the scatter of neighbouring chunks.
//!
//! An ordinary write of a few elements to memory that is in no cache first reads the cache line. A
//! non-temporal write of a complete line does not.

use std::arch::x86_64::{__m128i, _mm_sfence, _mm_stream_si128};

use crate::memory::strides::Dim;

const LANE: usize = size_of::<__m128i>();

/// Copies a box whose fastest axis is contiguous in the destination and not in the source; for any
/// other box, does nothing and returns false.
///
/// # Safety
/// `dst` and `src` must be valid for every element that `dims` reach from them, and no element of
/// the destination may overlap one of the source.
pub(crate) unsafe fn copy(dst: *mut u8, src: *const u8, dims: &[Dim], item: usize) -> bool {
    let [.., row] = dims else { return false };
    if row.dst != item as isize || row.src == item as isize {
        return false;
    }
    // SAFETY: the caller vouches for every element of the box; every x86-64 has SSE2.
    unsafe {
        match item {
            1 => rows::<u8, 16>(dst, src, dims),
            2 => rows::<u16, 8>(dst, src, dims),
            4 => rows::<u32, 4>(dst, src, dims),
            8 => rows::<u64, 2>(dst, src, dims),
            16 => rows::<u128, 1>(dst, src, dims),
            _ => return false,
        }
        // A thread that learns that the call is done must find its elements, on any processor.
        _mm_sfence();
    }
    true
}

unsafe fn rows<T: Copy, const N: usize>(dst: *mut u8, src: *const u8, dims: &[Dim]) {
    // SAFETY: every pointer below is one of the box's elements, which the caller vouches for.
    unsafe {
        match dims {
            [] => {}
            [row] => one_row::<T, N>(dst, src, *row),
            [outer, inner @ ..] => {
                for i in 0..outer.count as isize {
                    rows::<T, N>(dst.offset(i * outer.dst), src.offset(i * outer.src), inner);
                }
            }
        }
    }
}

unsafe fn one_row<T: Copy, const N: usize>(dst: *mut u8, src: *const u8, row: Dim) {
    const { assert!(size_of::<T>() * N == LANE) };
    // SAFETY: `i` counts elements of the row, which the caller vouches for. Accesses may be
    // unaligned, except those of lanes, which begin at aligned addresses; every x86-64 has SSE2.
    unsafe {
        let load = |i: usize| src.offset(i as isize * row.src).cast::<T>().read_unaligned();
        let single = |i: usize| dst.add(i * size_of::<T>()).cast::<T>().write_unaligned(load(i));
        let until_aligned = dst.align_offset(LANE);
        let head = match until_aligned.is_multiple_of(size_of::<T>()) {
            true => (until_aligned / size_of::<T>()).min(row.count),
            false => row.count,
        };
        (0..head).for_each(single);
        let mut i = head;
        while i + N <= row.count {
            let lane: [T; N] = std::array::from_fn(|k| load(i + k));
            let lane = std::mem::transmute_copy::<[T; N], __m128i>(&lane);
            _mm_stream_si128(dst.add(i * size_of::<T>()).cast::<__m128i>(), lane);
            i += N;
        }
        (i..row.count).for_each(single);
    }
}
