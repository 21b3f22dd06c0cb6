//! Boxes of strided memory: a count for each axis, with a byte stride on each side.

use smallvec::SmallVec;

/// One axis of a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim {
    pub count: usize,
    pub dst: isize,
    pub src: isize,
}

pub(crate) type Dims = SmallVec<[Dim; 6]>;

/// An axis of a box whose elements are not evenly spaced: their offsets in bytes, in copy order.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub dst: SmallVec<[isize; 4]>,
    pub src: SmallVec<[isize; 4]>,
}

/// A box of evenly spaced axes, repeated at every combination of the lists' offsets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    pub dims: Dims,
    pub lists: SmallVec<[List; 2]>,
}

impl Grid {
    /// The same elements, copied in the other direction.
    pub fn reversed(self) -> Self {
        let dims = self.dims.into_iter();
        let lists = self.lists.into_iter();
        Self {
            dims: dims.map(|d| Dim { count: d.count, dst: d.src, src: d.dst }).collect(),
            lists: lists.map(|l| List { dst: l.src, src: l.dst }).collect(),
        }
    }
}

/// Whether a step of `outer` continues after all steps of `inner`, on both sides.
pub(crate) fn continues(outer: &Dim, inner: &Dim) -> bool {
    outer.dst == inner.dst * inner.count as isize && outer.src == inner.src * inner.count as isize
}
