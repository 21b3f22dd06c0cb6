//! Single instructions of SSE2, which every x86-64 processor has, as plain functions.
//!
//! The compiler has no other name for them: Rust's casts saturate where the processor does not, and
//! a mask of bytes is found in no loop.

use std::arch::x86_64::{
    _mm_cmpeq_epi8, _mm_cvttsd_si32, _mm_cvttsd_si64, _mm_movemask_epi8, _mm_set_epi64x,
    _mm_set_sd, _mm_setzero_si128,
};

/// Cut to 32 bits; `i32::MIN` for what they cannot hold.
#[inline(always)]
pub(crate) fn cut_to_i32(value: f64) -> i32 {
    // SAFETY: SSE2 is part of x86-64, and nothing here touches memory.
    unsafe { _mm_cvttsd_si32(_mm_set_sd(value)) }
}

/// Cut to 64 bits; `i64::MIN` for what they cannot hold.
#[inline(always)]
pub(crate) fn cut_to_i64(value: f64) -> i64 {
    // SAFETY: SSE2 is part of x86-64, and nothing here touches memory.
    unsafe { _mm_cvttsd_si64(_mm_set_sd(value)) }
}

/// Bit `i` says whether byte `i` is not 0.
#[inline(always)]
pub(crate) fn nonzero_mask(bytes: [u8; 16]) -> u16 {
    let bytes = u128::from_le_bytes(bytes);
    // SAFETY: SSE2 is part of x86-64, and nothing here touches memory.
    let zeros = unsafe {
        let bytes = _mm_set_epi64x((bytes >> 64) as i64, bytes as i64);
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()))
    };
    !zeros as u16
}
