//! Copies and fills of strided memory, the one place where elements move.
//!
//! A box is a count per axis with a byte stride on each side. Axes of length one are dropped, axes
//! are ordered by the stride of the destination, and axes that are contiguous on both sides are
//! merged, so that most boxes become a few long `memcpy`s. What remains strided is copied element
//! by element with a kernel per element size. A source that runs across the order of the
//! destination is read in tiles that fit into cache.

use crate::memory::strides::{Dim, Dims, Grid, List, continues};

/// Rows and columns of a tile; 32 x 32 elements of 8 bytes on both sides fit into half of an L1.
const TILE: usize = 32;

/// Copies a box of elements of `item` bytes.
///
/// # Safety
/// `dst` and `src` must be valid for every element that `dims` reach from them, and no element of
/// the destination may overlap one of the source.
pub(crate) unsafe fn copy(dst: *mut u8, src: *const u8, dims: Dims, item: usize) {
    let Some(dims) = normalize(dims, item) else { return };
    // SAFETY: normalizing keeps the set of elements that the box reaches.
    unsafe { copy_normal(dst, src, &dims, item) }
}

/// Copies a box as [`copy`] does, to a buffer that is larger than the CPU caches: by non-temporal
/// writes where these are faster.
///
/// # Safety
/// As for [`copy`].
pub(crate) unsafe fn copy_nontemporal(dst: *mut u8, src: *const u8, dims: Dims, item: usize) {
    let Some(dims) = normalize(dims, item) else { return };
    // SAFETY: normalizing keeps the set of elements that the box reaches.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if crate::memory::copy_nontemporal::copy(dst, src, &dims, item) {
            return;
        }
        copy_normal(dst, src, &dims, item);
    }
}

/// Copies a box at every combination of the lists' offsets, the last list fastest.
///
/// # Safety
/// As for [`copy`], for every element that the grid reaches.
pub(crate) unsafe fn copy_grid(dst: *mut u8, src: *const u8, grid: Grid, item: usize) {
    let Some(dims) = normalize(grid.dims, item) else { return };
    // SAFETY: the caller vouches for every element of the grid.
    unsafe { copy_lists(dst, src, &grid.lists, &dims, item) }
}

unsafe fn copy_lists(dst: *mut u8, src: *const u8, lists: &[List], dims: &[Dim], item: usize) {
    // SAFETY: every pointer below is one of the grid's elements, which the caller vouches for.
    unsafe {
        match (lists, dims, item) {
            ([], _, _) => copy_normal(dst, src, dims, item),
            ([list], [], 1) => copy_list::<u8>(dst, src, list),
            ([list], [], 2) => copy_list::<u16>(dst, src, list),
            ([list], [], 4) => copy_list::<u32>(dst, src, list),
            ([list], [], 8) => copy_list::<u64>(dst, src, list),
            ([outer, inner @ ..], _, _) => {
                for (to, from) in outer.dst.iter().zip(&outer.src) {
                    copy_lists(dst.offset(*to), src.offset(*from), inner, dims, item);
                }
            }
        }
    }
}

unsafe fn copy_list<T: Copy>(dst: *mut u8, src: *const u8, list: &List) {
    for (to, from) in list.dst.iter().zip(&list.src) {
        // SAFETY: an element of the grid, which the caller vouches for.
        unsafe {
            dst.offset(*to)
                .cast::<T>()
                .write_unaligned(src.offset(*from).cast::<T>().read_unaligned());
        }
    }
}

unsafe fn copy_normal(dst: *mut u8, src: *const u8, dims: &[Dim], item: usize) {
    // SAFETY: the caller vouches for every element of the box.
    unsafe {
        match item {
            1 => copy_typed::<u8>(dst, src, dims),
            2 => copy_typed::<u16>(dst, src, dims),
            4 => copy_typed::<u32>(dst, src, dims),
            8 => copy_typed::<u64>(dst, src, dims),
            16 => copy_typed::<u128>(dst, src, dims),
            _ => copy_bytes(dst, src, dims, item),
        }
    }
}

/// Writes `pattern` to every element of a grid; the source side of it is ignored.
///
/// # Safety
/// `dst` must be valid for every element that the grid reaches from it.
pub(crate) unsafe fn fill(dst: *mut u8, mut grid: Grid, pattern: &[u8]) {
    for dim in &mut grid.dims {
        dim.src = 0;
    }
    for list in &mut grid.lists {
        list.src.fill(0);
    }
    let item = pattern.len();
    let Some(dims) = normalize(grid.dims, item) else { return };
    let one_byte = pattern.iter().all(|byte| *byte == pattern[0]);
    // SAFETY: the caller vouches for the destination; the pattern is one element long.
    unsafe {
        if one_byte && grid.lists.is_empty() {
            fill_byte(dst, &dims, pattern[0], item);
        } else {
            copy_lists(dst, pattern.as_ptr(), &grid.lists, &dims, item);
        }
    }
}

/// Sets all bytes of every element of `grid` to zero, as [`fill`] with `item` zeros does.
///
/// # Safety
/// As for [`fill`].
pub(crate) unsafe fn clear(dst: *mut u8, grid: Grid, item: usize) {
    let Some(dims) = normalize(grid.dims, item) else { return };
    // SAFETY: the caller vouches for the destination.
    unsafe { clear_lists(dst, &grid.lists, &dims, item) }
}

unsafe fn clear_lists(dst: *mut u8, lists: &[List], dims: &[Dim], item: usize) {
    // SAFETY: every pointer below is one of the grid's elements, which the caller vouches for.
    unsafe {
        match lists {
            [] => fill_byte(dst, dims, 0, item),
            [outer, inner @ ..] => {
                outer.dst.iter().for_each(|to| clear_lists(dst.offset(*to), inner, dims, item));
            }
        }
    }
}

/// Whether every element of `bytes` is `pattern`, bit for bit; stops at the first that is not.
pub(crate) fn is_filled(bytes: &[u8], pattern: &[u8]) -> bool {
    let item = pattern.len();
    bytes.len() < item
        || (bytes[..item] == *pattern && bytes[item..] == bytes[..bytes.len() - item])
}

/// Drops axes of one, orders by destination stride and merges; `None` when the box is empty.
pub(crate) fn normalize(mut dims: Dims, item: usize) -> Option<Dims> {
    if dims.iter().any(|dim| dim.count == 0) || item == 0 {
        return None;
    }
    dims.retain(|dim| dim.count != 1);
    dims.sort_by_key(|dim| std::cmp::Reverse(dim.dst.unsigned_abs()));
    let mut merged = Dims::with_capacity(dims.len());
    for dim in dims {
        match merged.last_mut() {
            Some(outer) if continues(outer, &dim) => {
                *outer = Dim { count: outer.count * dim.count, ..dim };
            }
            _ => merged.push(dim),
        }
    }
    Some(merged)
}

unsafe fn copy_typed<T: Copy>(dst: *mut u8, src: *const u8, dims: &[Dim]) {
    let item = size_of::<T>() as isize;
    // SAFETY: every pointer below is one of the box's elements, which the caller vouches for;
    // unaligned access is used throughout.
    unsafe {
        match dims {
            [] => dst.cast::<T>().write_unaligned(src.cast::<T>().read_unaligned()),
            [row] if row.dst == item && row.src == item => {
                std::ptr::copy_nonoverlapping(src, dst, row.count * size_of::<T>());
            }
            [row] => {
                let (mut to, mut from) = (dst, src);
                for _ in 0..row.count {
                    to.cast::<T>().write_unaligned(from.cast::<T>().read_unaligned());
                    to = to.wrapping_offset(row.dst);
                    from = from.wrapping_offset(row.src);
                }
            }
            [column, row] if across(column, row) => tiles::<T>(dst, src, *column, *row),
            [outer, inner @ ..] => {
                for i in 0..outer.count as isize {
                    copy_typed::<T>(dst.offset(i * outer.dst), src.offset(i * outer.src), inner);
                }
            }
        }
    }
}

/// Whether the source is contiguous along the axis along which the destination is not.
fn across(column: &Dim, row: &Dim) -> bool {
    column.src.unsigned_abs() < row.src.unsigned_abs() && row.src.unsigned_abs() >= 64
}

unsafe fn tiles<T: Copy>(dst: *mut u8, src: *const u8, column: Dim, row: Dim) {
    for y in (0..column.count).step_by(TILE) {
        for x in (0..row.count).step_by(TILE) {
            for i in y..(y + TILE).min(column.count) {
                for j in x..(x + TILE).min(row.count) {
                    let to = i as isize * column.dst + j as isize * row.dst;
                    let from = i as isize * column.src + j as isize * row.src;
                    // SAFETY: (i, j) is an element of the box, which the caller vouches for.
                    unsafe {
                        dst.offset(to)
                            .cast::<T>()
                            .write_unaligned(src.offset(from).cast::<T>().read_unaligned());
                    }
                }
            }
        }
    }
}

unsafe fn copy_bytes(dst: *mut u8, src: *const u8, dims: &[Dim], item: usize) {
    // SAFETY: every pointer below is one of the box's elements, which the caller vouches for.
    unsafe {
        match dims {
            [] => std::ptr::copy_nonoverlapping(src, dst, item),
            [row] if row.dst == item as isize && row.src == item as isize => {
                std::ptr::copy_nonoverlapping(src, dst, row.count * item);
            }
            [outer, inner @ ..] => {
                for i in 0..outer.count as isize {
                    copy_bytes(dst.offset(i * outer.dst), src.offset(i * outer.src), inner, item);
                }
            }
        }
    }
}

unsafe fn fill_byte(dst: *mut u8, dims: &[Dim], byte: u8, item: usize) {
    // SAFETY: every pointer below is one of the box's elements, which the caller vouches for.
    unsafe {
        match dims {
            [] => std::ptr::write_bytes(dst, byte, item),
            [row] if row.dst == item as isize => {
                std::ptr::write_bytes(dst, byte, row.count * item);
            }
            [outer, inner @ ..] => {
                for i in 0..outer.count as isize {
                    fill_byte(dst.offset(i * outer.dst), inner, byte, item);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies a box by definition: one element at a time, in any order.
    fn by_definition(dst: &mut [u8], src: &[u8], dims: &[Dim], item: usize, at: (isize, isize)) {
        match dims {
            [] => {
                let (to, from) = (at.0 as usize, at.1 as usize);
                dst[to..to + item].copy_from_slice(&src[from..from + item]);
            }
            [outer, inner @ ..] => {
                for i in 0..outer.count as isize {
                    let next = (at.0 + i * outer.dst, at.1 + i * outer.src);
                    by_definition(dst, src, inner, item, next);
                }
            }
        }
    }

    #[test]
    fn every_order_of_axes_and_every_element_size_copies_the_same_elements() {
        for item in [1usize, 2, 3, 4, 8, 12, 16] {
            for counts in [[1usize, 1, 1], [2, 3, 4], [5, 1, 40], [40, 70, 2], [3, 40, 65]] {
                let total = counts.iter().product::<usize>() * item;
                let src: Vec<u8> = (0..total).map(|i| (i * 31 % 251) as u8).collect();
                let i = item as isize;
                let c = counts.map(|count| count as isize);
                let strides_c = [c[1] * c[2] * i, c[2] * i, i];
                let strides_f = [i, c[0] * i, c[0] * c[1] * i];
                for (to, from) in [
                    (strides_c, strides_c),
                    (strides_c, strides_f),
                    (strides_f, strides_c),
                    (strides_f, strides_f),
                    (strides_c, [0, 0, 0]),
                ] {
                    let dims: Dims = (0..3)
                        .map(|a| Dim { count: counts[a], dst: to[a], src: from[a] })
                        .collect();
                    let mut expected = vec![0u8; total];
                    by_definition(&mut expected, &src, &dims, item, (0, 0));
                    let mut got = vec![0u8; total];
                    // SAFETY: both vectors hold the whole box.
                    unsafe { copy(got.as_mut_ptr(), src.as_ptr(), dims.clone(), item) };
                    assert_eq!(got, expected);
                    // SAFETY: the vector holds the whole box.
                    unsafe {
                        let grid = Grid { dims: dims.clone(), ..Grid::default() };
                        fill(got.as_mut_ptr(), grid, &src[..item]);
                    };
                    assert!(is_filled(&got, &src[..item]));
                }
            }
        }
    }

    #[test]
    fn a_nontemporal_copy_has_the_same_elements_wherever_they_begin() {
        for item in [1usize, 2, 3, 4, 8, 16] {
            // Rows that follow each other, that do not, and that are longer than a tile.
            let sizes = [(1, 9, 9), (5, 16, 17), (40, 16, 48), (40, 33, 99), (700, 47, 47)];
            for (rows, across, pitch) in sizes.into_iter().chain([(3, 20_000, 20_001)]) {
                let i = item as isize;
                let src: Vec<u8> = (0..rows * across * item).map(|k| (k % 251) as u8).collect();
                let turned = [i, rows as isize * i];
                let in_order = [across as isize * i, i];
                for begin in [0, 1, 8, 13, 16, 32, 63] {
                    for from in [turned, in_order] {
                        let dims: Dims = [
                            Dim { count: rows, dst: pitch as isize * i, src: from[0] },
                            Dim { count: across, dst: i, src: from[1] },
                        ]
                        .into_iter()
                        .collect();
                        let mut expected = vec![7u8; begin + rows * pitch * item];
                        let mut got = expected.clone();
                        by_definition(&mut expected[begin..], &src, &dims, item, (0, 0));
                        // SAFETY: both vectors hold the whole box.
                        unsafe {
                            copy_nontemporal(got[begin..].as_mut_ptr(), src.as_ptr(), dims, item)
                        };
                        assert!(got == expected, "{item} {rows} {across} {begin} {from:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_of_complete_lines_are_copied() {
        let src: Vec<u8> = (0..64 * 640).map(|k| (k % 251) as u8).collect();
        for (row_bytes, pitch) in [(64, 128), (128, 128), (128, 192), (256, 640), (640, 640)] {
            let mut expected = vec![7u8; 64 + 64 * pitch];
            let mut got = expected.clone();
            let begin = got.as_ptr().align_offset(64);
            let same = expected.as_ptr().align_offset(64);
            let dims: Dims = [
                Dim { count: 64, dst: pitch as isize, src: row_bytes as isize },
                Dim { count: row_bytes / 4, dst: 4, src: 4 },
            ]
            .into_iter()
            .collect();
            by_definition(&mut expected[same..], &src, &dims, 4, (0, 0));
            // SAFETY: both vectors hold the whole box.
            unsafe { copy_nontemporal(got[begin..].as_mut_ptr(), src.as_ptr(), dims, 4) };
            assert!(got[begin..begin + 64 * pitch] == expected[same..same + 64 * pitch]);
        }
    }

    #[test]
    fn a_list_copies_its_offsets_in_order() {
        for item in [1usize, 3, 8] {
            let src: Vec<u8> = (0..200).collect();
            let i = item as isize;
            let list = |dst: &[isize], src: &[isize]| List {
                dst: dst.iter().map(|at| at * i).collect(),
                src: src.iter().map(|at| at * i).collect(),
            };
            let rows = list(&[0, 6, 3], &[8, 0, 8]);
            let columns = list(&[2, 0, 1, 0], &[1, 7, 3, 2]);
            let mut got = vec![0u8; 9 * item];
            let grid = Grid { dims: Dims::new(), lists: [rows, columns].into_iter().collect() };
            // SAFETY: all offsets lie in the vectors.
            unsafe { copy_grid(got.as_mut_ptr(), src.as_ptr(), grid, item) };
            let expected: Vec<u8> = [10usize, 11, 9, 10, 11, 9, 2, 3, 1]
                .iter()
                .flat_map(|at| src[at * item..(at + 1) * item].to_vec())
                .collect();
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn one_different_byte_is_not_filled() {
        let mut bytes = vec![7u8; 64];
        assert!(is_filled(&bytes, &[7; 8]));
        bytes[63] = 8;
        assert!(!is_filled(&bytes, &[7; 8]));
        assert!(is_filled(&[], &[7; 8]));
    }
}
