//! One Blosc frame of 1 MiB decoded by us and by c-blosc, on one thread: `cargo bench --bench blosc`.
//!
//! Both decode the same bytes to the same elements, which is checked. Only the first plane of bytes or
//! bits of the noise compresses, so that the rest is unshuffling alone.
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

use divan::Bencher;
use divan::counter::BytesCount;
use zarrix_codec::blosc::Frame;
use zarrix_codec::{Input, Scratch, from_config};

const BYTES: usize = 1 << 20;

/// Compressor, shuffle, bytes of an element, and whether all of its data compress.
const CASES: [(&str, &str, usize, bool); 8] = [
    ("lz4", "shuffle", 8, true),
    ("lz4", "shuffle", 4, true),
    ("lz4", "noshuffle", 1, true),
    ("zstd", "bitshuffle", 1, true),
    ("zstd", "shuffle", 2, true),
    ("blosclz", "shuffle", 4, true),
    ("lz4", "shuffle", 8, false),
    ("lz4", "bitshuffle", 2, false),
];

fn main() {
    divan::main();
}

/// A smooth ramp with a little noise, or noise except for the last byte of an element.
fn elements(item_bytes: usize, compresses: bool) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..BYTES / item_bytes)
        .flat_map(|i| {
            let value = if compresses { (i as u64 / 7) + random() % 4 } else { random() >> 8 << 8 };
            value.to_le_bytes()[..item_bytes].to_vec()
        })
        .collect()
}

fn frame(case: usize) -> (Vec<u8>, Vec<u8>) {
    let (cname, shuffle, item_bytes, compresses) = CASES[case];
    let decoded = elements(item_bytes, compresses);
    let configuration = serde_json::json!({
        "cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": item_bytes, "blocksize": 0,
    });
    let codec = from_config("blosc", &configuration, Input { item_bytes }).unwrap();
    let mut encoded = Vec::new();
    codec.encode(&decoded, &mut encoded, &mut Scratch::default()).unwrap();
    (encoded, decoded)
}

fn c_blosc(encoded: &[u8], dst: &mut [u8]) {
    // SAFETY: the frame is one that c-blosc made of as many bytes as `dst` has.
    let written = unsafe {
        let (from, to) = (encoded.as_ptr().cast(), dst.as_mut_ptr().cast());
        blosc_src::blosc_decompress_ctx(from, to, dst.len(), 1)
    };
    assert_eq!(written as usize, dst.len());
}

#[divan::bench(args = 0..CASES.len())]
fn ours(bencher: Bencher<'_, '_>, case: usize) {
    let (encoded, decoded) = frame(case);
    let (mut dst, mut scratch) = (vec![0; BYTES], Scratch::default());
    let frame = Frame::parse(&encoded, BYTES).unwrap();
    bencher
        .counter(BytesCount::new(BYTES))
        .bench_local(|| frame.decode_into(&mut dst, &mut scratch).unwrap());
    assert_eq!(dst, decoded);
}

#[divan::bench(args = 0..CASES.len())]
fn c(bencher: Bencher<'_, '_>, case: usize) {
    let (encoded, decoded) = frame(case);
    let mut dst = vec![0; BYTES];
    bencher.counter(BytesCount::new(BYTES)).bench_local(|| c_blosc(&encoded, &mut dst));
    assert_eq!(dst, decoded);
}
