//! Copies that bypass the CPU caches, for results that are larger than the caches.
//!
//! An ordinary write to memory that is in no cache first reads the cache line. A non-temporal write
//! of a complete line does not. Writes of both kinds to one line are the slowest, so that parts of
//! lines are written by non-temporal words, too.

/// Copies `bytes` to `dst` by non-temporal writes, where the processor has them, except for single
/// bytes. [`finish`] has to be called before another thread may read them.
///
/// # Safety
/// `dst` must be valid for writes of `bytes`, `src` for reads, and they must not overlap.
#[inline]
pub unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as the caller vouches.
    unsafe {
        x86::copy(dst, src, bytes);
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: as the caller vouches.
    unsafe {
        std::ptr::copy_nonoverlapping(src, dst, bytes);
    }
}

/// Makes what was written visible to every thread that learns of it later.
pub fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE2.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_stream_si32, _mm_stream_si64, _mm_stream_si128,
    };

    const LANE_BYTES: usize = size_of::<__m128i>();

    #[inline]
    pub(super) unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize) {
        let head = dst.align_offset(LANE_BYTES).min(bytes);
        let end = head + (bytes - head) / LANE_BYTES * LANE_BYTES;
        // SAFETY: the caller vouches for both sides; lanes begin at aligned addresses of the
        // destination; every x86-64 has SSE2.
        unsafe {
            short(dst, src, head);
            for at in (head..end).step_by(LANE_BYTES) {
                let lane = _mm_loadu_si128(src.add(at).cast::<__m128i>());
                _mm_stream_si128(dst.add(at).cast::<__m128i>(), lane);
            }
            short(dst.add(end), src.add(end), bytes - end);
        }
    }

    /// Copies fewer bytes than a lane, words of them by non-temporal writes.
    unsafe fn short(dst: *mut u8, src: *const u8, bytes: usize) {
        let mut at = 0;
        // SAFETY: the caller vouches for both sides; every x86-64 has SSE2.
        unsafe {
            while at < bytes {
                let (to, from, left) = (dst.add(at), src.add(at), bytes - at);
                at += if left >= 8 && to.addr().is_multiple_of(8) {
                    _mm_stream_si64(to.cast(), from.cast::<i64>().read_unaligned());
                    8
                } else if left >= 4 && to.addr().is_multiple_of(4) {
                    _mm_stream_si32(to.cast(), from.cast::<i32>().read_unaligned());
                    4
                } else {
                    to.write(from.read());
                    1
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_is_copied_wherever_it_begins() {
        let src: Vec<u8> = (0..1000).map(|at| (at % 251) as u8).collect();
        for begin in 0..70 {
            for length in (0..200).chain([511, 512, 513, 900]) {
                let mut dst = vec![7; 1000];
                // SAFETY: both vectors hold the bytes.
                unsafe { super::copy(dst[begin..].as_mut_ptr(), src[9..].as_ptr(), length) };
                super::finish();
                let mut expected = vec![7; 1000];
                expected[begin..begin + length].copy_from_slice(&src[9..9 + length]);
                assert!(dst == expected, "{begin} {length}");
            }
        }
    }
}
