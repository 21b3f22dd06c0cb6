//! Non-temporal copy: writes bypass the CPU caches. For results that are larger than the caches.
//!
//! An ordinary write to memory that is in no cache first reads the cache line. A non-temporal write
//! of a complete line does not. Writing a part of a line is slower than both, so that short rows are
//! not worth it. If the source has only an element of each row in one place, as when chunks of one
//! plane are read, rows are first put together in a tile that stays in cache.

use std::mem::MaybeUninit;

use zarrix_codec::nontemporal;

use crate::memory::strides::Dim;

const LINE_BYTES: usize = 64;
/// A small part of an L1 cache: with half of it, 100 planes took 1.08 times as long.
const TILE_BYTES: usize = 4 << 10;
/// Rows of this length consist of complete lines, wherever they begin, except for a few bytes.
const MIN_ROW_BYTES: usize = 512;
/// The shortest row of complete lines that is not written faster in the ordinary way.
const MIN_ALIGNED_ROW_BYTES: usize = 2 * LINE_BYTES;

#[repr(align(64))]
struct Tile([MaybeUninit<u8>; TILE_BYTES]);

/// Copies a box whose fastest axis is contiguous in the destination, unless ordinary writes are
/// faster; then, it does nothing and returns false.
///
/// # Safety
/// `dst` and `src` must be valid for every element that `dims` reach from them, and no element of
/// the destination may overlap one of the source.
pub(crate) unsafe fn copy(dst: *mut u8, src: *const u8, dims: &[Dim], item: usize) -> bool {
    let [.., row] = dims else { return false };
    if row.dst != item as isize {
        return false;
    }
    if row.src == item as isize {
        let pays = pays_for_rows(dst, dims, row.count * item);
        if pays {
            // SAFETY: the caller vouches for every element of the box.
            unsafe { copy_rows(dst, src, dims, item) };
            nontemporal::finish();
        }
        return pays;
    }
    let mut tile = Tile([MaybeUninit::uninit(); TILE_BYTES]);
    // SAFETY: the caller vouches for every element of the box.
    unsafe {
        match item {
            1 => rows::<u8>(dst, src, dims, &mut tile),
            2 => rows::<u16>(dst, src, dims, &mut tile),
            4 => rows::<u32>(dst, src, dims, &mut tile),
            8 => rows::<u64>(dst, src, dims, &mut tile),
            16 => rows::<u128>(dst, src, dims, &mut tile),
            _ => return false,
        }
    }
    nontemporal::finish();
    true
}

/// Whether rows of `row_bytes` that are contiguous on both sides have few incomplete lines.
fn pays_for_rows(dst: *mut u8, dims: &[Dim], row_bytes: usize) -> bool {
    let is_aligned = |bytes: usize| bytes.is_multiple_of(LINE_BYTES);
    let outer = &dims[..dims.len() - 1];
    row_bytes >= MIN_ROW_BYTES
        || row_bytes >= MIN_ALIGNED_ROW_BYTES
            && is_aligned(row_bytes)
            && is_aligned(dst.addr())
            && outer.iter().all(|dim| is_aligned(dim.dst.unsigned_abs()))
}

/// Copies rows that are contiguous on both sides.
unsafe fn copy_rows(dst: *mut u8, src: *const u8, dims: &[Dim], item: usize) {
    // SAFETY: every pointer below is one of the box's elements, which the caller vouches for.
    unsafe {
        match dims {
            [] => {}
            [row] => nontemporal::copy(dst, src, row.count * item),
            [outer, inner @ ..] => {
                for i in 0..outer.count as isize {
                    copy_rows(dst.offset(i * outer.dst), src.offset(i * outer.src), inner, item);
                }
            }
        }
    }
}

unsafe fn rows<T: Copy>(dst: *mut u8, src: *const u8, dims: &[Dim], tile: &mut Tile) {
    // SAFETY: every pointer below is one of the box's elements, which the caller vouches for.
    unsafe {
        match *dims {
            [] => {}
            [row] => plane::<T>(dst, src, [Dim { count: 1, dst: 0, src: 0 }, row], tile),
            [outer, row] => plane::<T>(dst, src, [outer, row], tile),
            [outer, ref inner @ ..] => {
                for i in 0..outer.count as isize {
                    rows::<T>(dst.offset(i * outer.dst), src.offset(i * outer.src), inner, tile);
                }
            }
        }
    }
}

/// Copies some rows, as many at once as the tile has room for.
unsafe fn plane<T: Copy>(dst: *mut u8, src: *const u8, [outer, row]: [Dim; 2], tile: &mut Tile) {
    let room = TILE_BYTES / size_of::<T>();
    for first in (0..row.count).step_by(room) {
        let across = Dim { count: room.min(row.count - first), ..row };
        let at_once = room / across.count;
        for begin in (0..outer.count).step_by(at_once) {
            let some = Dim { count: at_once.min(outer.count - begin), ..outer };
            let (i, j) = (begin as isize, first as isize);
            // SAFETY: a part of the box, whose elements the caller vouches for; the tile has room
            // for it.
            unsafe {
                let from = src.offset(i * outer.src + j * row.src);
                gather::<T>(tile, from, some, across);
                scatter(
                    dst.offset(i * outer.dst + j * row.dst),
                    tile,
                    some,
                    across.count * size_of::<T>(),
                );
            }
        }
    }
}

/// Puts rows together in the tile, one behind the other.
unsafe fn gather<T: Copy>(tile: &mut Tile, src: *const u8, outer: Dim, row: Dim) {
    let to = tile.0.as_mut_ptr().cast::<T>();
    // SAFETY: the elements of the box, which the caller vouches for, and their places in the tile;
    // they may be unaligned only in the source.
    let one = |i: usize, j: usize| unsafe {
        let from = src.offset(i as isize * outer.src + j as isize * row.src).cast::<T>();
        to.add(i * row.count + j).write(from.read_unaligned());
    };
    // The source is read in the order of its memory.
    if outer.src.unsigned_abs() < row.src.unsigned_abs() {
        (0..row.count).for_each(|j| (0..outer.count).for_each(|i| one(i, j)));
    } else {
        (0..outer.count).for_each(|i| (0..row.count).for_each(|j| one(i, j)));
    }
}

/// Copies the rows of a tile to where they belong, at once if they follow each other there.
unsafe fn scatter(dst: *mut u8, tile: &Tile, outer: Dim, row_bytes: usize) {
    let from = tile.0.as_ptr().cast::<u8>();
    // SAFETY: the tile has these rows, and the caller vouches for their destination.
    unsafe {
        if outer.dst == row_bytes as isize {
            return nontemporal::copy(dst, from, outer.count * row_bytes);
        }
        for i in 0..outer.count {
            nontemporal::copy(
                dst.offset(i as isize * outer.dst),
                from.add(i * row_bytes),
                row_bytes,
            );
        }
    }
}
