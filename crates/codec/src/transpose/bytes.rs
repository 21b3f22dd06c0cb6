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

/// The inverse of [`unshuffle`], to planes side by side; `src` is whole elements.
pub(crate) fn shuffle(src: &[u8], element_bytes: usize, dst: &mut [u8]) {
    /// Elements that stay in cache while each of their bytes is visited.
    const TILE: usize = 256;
    let elements = src.len() / element_bytes;
    if element_bytes == 1 || elements == 0 {
        dst.copy_from_slice(src);
        return;
    }
    for (tile, bytes) in src.chunks(TILE * element_bytes).enumerate() {
        let start = tile * TILE;
        let end = elements.min(start + TILE);
        for j in 0..element_bytes {
            let plane = &mut dst[j * elements + start..j * elements + end];
            for (byte, element) in plane.iter_mut().zip(bytes.chunks_exact(element_bytes)) {
                *byte = element[j];
            }
        }
    }
}
