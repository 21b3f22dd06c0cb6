//! What the tests of all codecs share: reproducible bytes, and c-blosc as the oracle.

use std::ffi::{CString, c_int, c_void};

/// Bytes of slowly growing elements, as `fixtures/make.py` makes them.
pub fn ramp(bytes: usize, element_bytes: usize) -> Vec<u8> {
    let t = element_bytes as u64;
    let byte = |k: u64| (((k / t) * (k % t + 1) + (k % t) * 37) >> 3) as u8;
    (0..bytes as u64).map(byte).collect()
}

/// A small generator of reproducible numbers.
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| (self.next() >> 32) as u8).collect()
    }
}

/// A ramp whose every third run of 500 bytes is noise, so that some streams are stored.
pub fn mixed(bytes: usize, element_bytes: usize) -> Vec<u8> {
    let mut data = ramp(bytes, element_bytes);
    let mut noise = Noise(0x9E37_79B9_7F4A_7C15);
    for run in data.chunks_mut(500).step_by(3) {
        run.copy_from_slice(&noise.bytes(run.len()));
    }
    data
}

/// What c-blosc is told.
#[derive(Clone, Debug)]
pub struct Spec {
    pub cname: &'static str,
    pub level: i32,
    pub shuffle: i32,
    pub element_bytes: usize,
    pub block_bytes: usize,
}

pub fn c_blosc_encode(src: &[u8], spec: &Spec) -> Vec<u8> {
    let mut dst = vec![0; src.len() + 16];
    let cname = CString::new(spec.cname).unwrap();
    // SAFETY: both buffers are valid for the lengths given, the name ends with a zero byte.
    let written = unsafe {
        blosc_src::blosc_compress_ctx(
            spec.level,
            spec.shuffle as c_int,
            spec.element_bytes,
            src.len(),
            src.as_ptr().cast::<c_void>(),
            dst.as_mut_ptr().cast::<c_void>(),
            dst.len(),
            cname.as_ptr(),
            spec.block_bytes,
            1,
        )
    };
    assert!(written > 0, "{spec:?} on {} bytes: {written}", src.len());
    dst.truncate(written as usize);
    dst
}

/// Seconds of the fastest of so many attempts, of which the first that is below `limit` ends them:
/// one that is slow because other programs had the processor says nothing.
pub fn fastest_of(attempts: usize, limit: f64, mut work: impl FnMut()) -> f64 {
    let mut fastest = f64::INFINITY;
    for _ in 0..attempts {
        let begun = std::time::Instant::now();
        work();
        fastest = fastest.min(begun.elapsed().as_secs_f64());
        if fastest < limit {
            break;
        }
    }
    fastest
}
