//! Byte transposition.

/// `dst[i * planes.len() + j] = planes[j][i]`; all planes are equally long and fill `dst`.
pub(crate) fn unshuffle(planes: &[&[u8]], dst: &mut [u8]) {
    if let [plane] = planes {
        dst.copy_from_slice(plane);
        return;
    }
    #[cfg(target_arch = "x86_64")]
    let done = super::x86::unshuffle(planes, dst);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    let element_bytes = planes.len();
    let elements = dst[done * element_bytes..].chunks_exact_mut(element_bytes);
    for (i, element) in elements.enumerate() {
        for (byte, plane) in element.iter_mut().zip(planes) {
            *byte = plane[done + i];
        }
    }
}

// c-blosc's own filter, from the library that is linked for its compressors: SSE2 on x86-64, which
// takes about a twentieth of the time of the fastest compressor.
unsafe extern "C" {
    fn blosc_internal_shuffle(element_bytes: usize, bytes: usize, src: *const u8, dst: *mut u8);
}

/// The inverse of [`unshuffle`], to planes side by side; bytes after the last whole element are
/// copied. Every byte of `src` is read once.
pub(crate) fn shuffle(src: &[u8], element_bytes: usize, dst: &mut [u8]) {
    assert!(element_bytes > 0 && src.len() == dst.len());
    // SAFETY: both are as long as is said, and do not overlap.
    unsafe { blosc_internal_shuffle(element_bytes, src.len(), src.as_ptr(), dst.as_mut_ptr()) }
}

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
