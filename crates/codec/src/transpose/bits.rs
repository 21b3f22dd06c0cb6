//! Bit transposition without any instruction set, and the choice of a faster one.

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

/// Bit-unshuffles planes of `8 * rows` elements into `dst`.
pub(crate) fn bit_unshuffle(planes: &[&[u8]], dst: &mut [u8]) {
    let element_bytes = planes.len();
    for (j, plane) in planes.iter().enumerate() {
        let row_bytes = plane.len() / 8;
        for (i, eight) in dst.chunks_exact_mut(8 * element_bytes).enumerate().take(row_bytes) {
            let rows: [u8; 8] = std::array::from_fn(|k| plane[k * row_bytes + i]);
            let elements = transpose_8x8(u64::from_le_bytes(rows)).to_le_bytes();
            for (k, byte) in elements.into_iter().enumerate() {
                eight[k * element_bytes + j] = byte;
            }
        }
    }
}
