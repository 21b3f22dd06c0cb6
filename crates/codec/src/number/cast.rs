//! Runs of elements from one type to another, and from one byte order to the other.

use super::types::{
    NumberKind, Type, cut_to_i32, cut_to_i64, cut_to_u32, cut_to_u64, double_to_half,
    half_to_single,
};

/// Elements that are worked on at a time where a run passes through an intermediate form.
pub(crate) const BLOCK: usize = 512;

/// A boolean in memory: any byte but 0 is true.
#[derive(Clone, Copy)]
struct Bool(u8);

/// Half precision, as its bits.
#[derive(Clone, Copy)]
pub(crate) struct Half(pub(super) u16);

/// An element in this machine's byte order.
pub(crate) trait Element: Copy {
    type Bytes: Copy;
    fn chunks(run: &[u8]) -> &[Self::Bytes];
    fn chunks_mut(run: &mut [u8]) -> &mut [Self::Bytes];
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;
}

macro_rules! element {
    ($($element:ty: $bytes:literal, $load:expr, $store:expr;)*) => {$(
        impl Element for $element {
            type Bytes = [u8; $bytes];
            #[inline(always)]
            fn chunks(run: &[u8]) -> &[Self::Bytes] {
                run.as_chunks().0
            }
            #[inline(always)]
            fn chunks_mut(run: &mut [u8]) -> &mut [Self::Bytes] {
                run.as_chunks_mut().0
            }
            #[inline(always)]
            fn load(bytes: Self::Bytes) -> Self {
                $load(bytes)
            }
            #[inline(always)]
            fn store(self) -> Self::Bytes {
                $store(self)
            }
        }
    )*};
}

element! {
    Bool: 1, |bytes: [u8; 1]| Bool(u8::from(bytes[0] != 0)), |element: Bool| [element.0];
    Half: 2, |bytes| Half(u16::from_ne_bytes(bytes)), |element: Half| element.0.to_ne_bytes();
    i8: 1, i8::from_ne_bytes, i8::to_ne_bytes;
    i16: 2, i16::from_ne_bytes, i16::to_ne_bytes;
    i32: 4, i32::from_ne_bytes, i32::to_ne_bytes;
    i64: 8, i64::from_ne_bytes, i64::to_ne_bytes;
    u8: 1, u8::from_ne_bytes, u8::to_ne_bytes;
    u16: 2, u16::from_ne_bytes, u16::to_ne_bytes;
    u32: 4, u32::from_ne_bytes, u32::to_ne_bytes;
    u64: 8, u64::from_ne_bytes, u64::to_ne_bytes;
    f32: 4, f32::from_ne_bytes, f32::to_ne_bytes;
    f64: 8, f64::from_ne_bytes, f64::to_ne_bytes;
}

/// NumPy's cast of one element.
trait To<D> {
    fn to(self) -> D;
}

macro_rules! to {
    ($($from:ty => $($to:ty)*, $convert:expr;)*) => {$($(
        impl To<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to {
                let convert: fn($from) -> $to = $convert;
                convert(self)
            }
        }
    )*)*};
}

macro_rules! integers_to {
    ($($from:ty)*) => {$(
        to! {
            $from => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64, |v| v as _;
            $from => Bool, |v| Bool(u8::from(v != 0));
            $from => Half, |v| Half(double_to_half(f64::from(v as f32)));
        }
    )*};
}

macro_rules! floats_to {
    ($($from:ty)*) => {$(
        to! {
            $from => f32 f64, |v| v as _;
            $from => i8 i16 i32 u8 u16, |v| cut_to_i32(f64::from(v)) as _;
            $from => i64, |v| cut_to_i64(f64::from(v));
            $from => u32, |v| cut_to_u32(f64::from(v));
            $from => u64, |v| cut_to_u64(f64::from(v));
            $from => Bool, |v| Bool(u8::from(v != 0.0));
            $from => Half, |v| Half(double_to_half(f64::from(v)));
        }
    )*};
}

integers_to! { i8 i16 i32 i64 u8 u16 u32 u64 }
floats_to! { f32 f64 }
to! {
    Bool => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Half, |v| v.0.to();
    Bool => Bool, |v| v;
    Half => i8 i16 i32 i64 u8 u16 u64 f32 f64 Bool, |v| half_to_single(v.0).to();
    // NumPy has no vectors of halves here.
    Half => u32, |v| cut_to_i64(f64::from(half_to_single(v.0))) as u32;
    Half => Half, |v| v;
}

fn run<S: Element + To<D>, D: Element>(src: &[u8], dst: &mut [u8]) {
    for (from, to) in S::chunks(src).iter().zip(D::chunks_mut(dst)) {
        *to = S::load(*from).to().store();
    }
}

/// Calls `$then!($($arguments)*, Rust type)` with the Rust type of a [`Type`].
macro_rules! with_element {
    ($type:expr, $then:ident, $($arguments:tt)*) => {
        match ($type.kind, $type.bytes) {
            (NumberKind::Bool, _) => $then!($($arguments)*, Bool),
            (NumberKind::Int, 1) => $then!($($arguments)*, i8),
            (NumberKind::Int, 2) => $then!($($arguments)*, i16),
            (NumberKind::Int, 4) => $then!($($arguments)*, i32),
            (NumberKind::Int, _) => $then!($($arguments)*, i64),
            (NumberKind::Uint, 1) => $then!($($arguments)*, u8),
            (NumberKind::Uint, 2) => $then!($($arguments)*, u16),
            (NumberKind::Uint, 4) => $then!($($arguments)*, u32),
            (NumberKind::Uint, _) => $then!($($arguments)*, u64),
            (NumberKind::Float, 2) => $then!($($arguments)*, Half),
            (NumberKind::Float, 4) => $then!($($arguments)*, f32),
            (NumberKind::Float, _) => $then!($($arguments)*, f64),
        }
    };
}

/// The loop that casts a run of native elements.
fn kernel(from: Type, to: Type) -> fn(&[u8], &mut [u8]) {
    macro_rules! second {
        ($to:expr, $from:ty) => {
            with_element!($to, both, $from)
        };
    }
    macro_rules! both {
        ($from:ty, $to:ty) => {
            run::<$from, $to>
        };
    }
    with_element!(from, second, to)
}

/// Casts the elements of `src` to as many elements of `dst`.
pub(crate) fn cast(from: Type, to: Type, src: &[u8], dst: &mut [u8]) {
    if (from.kind, from.bytes) == (to.kind, to.bytes) && from.kind != NumberKind::Bool {
        return if from.big == to.big {
            dst.copy_from_slice(src)
        } else {
            swap(from.bytes, src, dst)
        };
    }
    let kernel = kernel(from, to);
    if from == from.native() && to == to.native() {
        return kernel(src, dst);
    }
    let mut native = [0_u8; 8 * BLOCK];
    for (src, dst) in src.chunks(from.bytes * BLOCK).zip(dst.chunks_mut(to.bytes * BLOCK)) {
        if from == from.native() {
            kernel(src, dst);
        } else {
            let native = &mut native[..src.len()];
            swap(from.bytes, src, native);
            kernel(native, dst);
        }
        if to != to.native() {
            swap_in_place(to.bytes, dst);
        }
    }
}

/// Copies `src` with the bytes of every word of `word_bytes` reversed.
pub(crate) fn swap(word_bytes: usize, src: &[u8], dst: &mut [u8]) {
    fn words<const N: usize>(src: &[u8], dst: &mut [u8]) {
        for (from, to) in src.as_chunks::<N>().0.iter().zip(dst.as_chunks_mut::<N>().0) {
            *to = *from;
            to.reverse();
        }
    }
    match word_bytes {
        0 | 1 => dst.copy_from_slice(src),
        2 => words::<2>(src, dst),
        4 => words::<4>(src, dst),
        8 => words::<8>(src, dst),
        16 => words::<16>(src, dst),
        _ => {
            for (from, to) in src.chunks_exact(word_bytes).zip(dst.chunks_exact_mut(word_bytes)) {
                to.copy_from_slice(from);
                to.reverse();
            }
        }
    }
}

/// Reverses the bytes of every word of `word_bytes`.
pub(crate) fn swap_in_place(word_bytes: usize, run: &mut [u8]) {
    fn words<const N: usize>(run: &mut [u8]) {
        for word in run.as_chunks_mut::<N>().0 {
            word.reverse();
        }
    }
    match word_bytes {
        0 | 1 => {}
        2 => words::<2>(run),
        4 => words::<4>(run),
        8 => words::<8>(run),
        16 => words::<16>(run),
        _ => run.chunks_exact_mut(word_bytes).for_each(<[u8]>::reverse),
    }
}
