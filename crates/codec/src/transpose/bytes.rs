//! Byte transposition without any instruction set, and the choice of a faster one.

/// `dst[i * planes.len() + j] = planes[j][i]`; all planes are equally long and fill `dst`.
pub(crate) fn unshuffle(planes: &[&[u8]], dst: &mut [u8]) {
    if let [plane] = planes {
        dst.copy_from_slice(plane);
        return;
    }
    for (j, plane) in planes.iter().enumerate() {
        for (element, &byte) in dst.chunks_exact_mut(planes.len()).zip(*plane) {
            element[j] = byte;
        }
    }
}

/// The inverse of [`unshuffle`] for whole elements.
pub(crate) fn shuffle(src: &[u8], element_bytes: usize, dst: &mut [u8]) {
    let elements = src.len() / element_bytes;
    if element_bytes == 1 || elements == 0 {
        dst.copy_from_slice(src);
        return;
    }
    for (j, plane) in dst.chunks_exact_mut(elements).enumerate() {
        for (byte, element) in plane.iter_mut().zip(src.chunks_exact(element_bytes)) {
            *byte = element[j];
        }
    }
}
