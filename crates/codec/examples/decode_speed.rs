//! Our Blosc decoder beside c-blosc, one thread each, in interleaved rounds of one run.
//!
//! `cargo run --release -p zarrix-codec --example decode_speed` prints, for each kind of data, the
//! best time of both and how many times as fast ours is; a word after `--` keeps the kinds whose
//! title has it. c-blosc is the one that this crate
//! builds: its kernels are SSE2 unless `RUSTFLAGS="-C target-feature=+avx2"` says otherwise.

use std::ffi::c_void;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use zarrix_codec::blosc::Frame;
use zarrix_codec::{Codec, Input, Scratch, from_config};

const ROUNDS: usize = 15;
/// Decoded bytes per measurement: small chunks are decoded many times.
const MEASURED_BYTES: usize = 32 << 20;

struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Three planes of gradients, disks and a little sensor noise.
fn picture() -> Vec<u8> {
    let mut noise = Noise(1);
    let mut pixels = Vec::new();
    for plane in 0..3_i64 {
        for y in 0..960_i64 {
            for x in 0..960_i64 {
                let disk = ((x % 160 - 80).pow(2) + (y % 160 - 80).pow(2)) < 70_i64.pow(2);
                let grain = (noise.next() >> 60) as i64 / 4;
                let value = (x + y * (plane + 1)) / 16 + i64::from(disk) * 60 + grain;
                pixels.push((value & 0xFF) as u8);
            }
        }
    }
    pixels
}

fn floats32(count: usize) -> Vec<u8> {
    let mut noise = Noise(2);
    let value = |i: usize| (i as f32 / 50.0).sin() * 10.0 + (noise.next() >> 52) as f32 / 4096.0;
    (0..count).map(value).flat_map(f32::to_le_bytes).collect()
}

fn floats64(count: usize) -> Vec<u8> {
    let mut noise = Noise(3);
    let value = |i: usize| (i as f64 / 5e3).sin() * 300.0 + (noise.next() >> 52) as f64 / 4096.0;
    (0..count).map(value).flat_map(f64::to_le_bytes).collect()
}

fn integers16(count: usize) -> Vec<u8> {
    let mut noise = Noise(4);
    let value = |i: usize| (i / 100) as u16 + (noise.next() >> 59) as u16;
    (0..count).map(value).flat_map(u16::to_le_bytes).collect()
}

fn time(mut work: impl FnMut()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

fn compare(title: &str, data: &[u8], cname: &str, shuffle: &str, element_bytes: usize) {
    if !title.contains(&std::env::args().nth(1).unwrap_or_default()) {
        return;
    }
    let configuration = json!({ "cname": cname, "clevel": 5, "shuffle": shuffle });
    let input = Input { item_bytes: element_bytes };
    let Ok(codec): Result<Arc<dyn Codec>, _> = from_config("blosc", &configuration, input) else {
        return;
    };
    let (mut frame, mut scratch) = (Vec::new(), Scratch::default());
    if codec.encode(data, &mut frame, &mut scratch).is_err() {
        return;
    }
    let mut dst = vec![0_u8; data.len()];
    let repeat = (MEASURED_BYTES / data.len()).max(1);
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        ours = ours.min(time(|| {
            for _ in 0..repeat {
                let decoded = Frame::parse(black_box(&frame), data.len())
                    .and_then(|frame| frame.decode_into(&mut dst, &mut scratch));
                assert!(decoded.is_ok());
            }
        }));
        assert!(dst == data);
        theirs = theirs.min(time(|| {
            for _ in 0..repeat {
                // SAFETY: the frame is c-blosc's own and `dst` has its decoded length.
                let written = unsafe {
                    blosc_src::blosc_decompress_ctx(
                        black_box(&frame).as_ptr().cast::<c_void>(),
                        dst.as_mut_ptr().cast::<c_void>(),
                        dst.len(),
                        1,
                    )
                };
                assert!(usize::try_from(written) == Ok(data.len()));
            }
        }));
    }
    let speed = |seconds: f64| (data.len() * repeat) as f64 / seconds / 1e9;
    println!(
        "{title:34} {:5.1}x smaller   ours {:6.2} GB/s   c-blosc {:6.2} GB/s   {:5.2}x",
        data.len() as f64 / frame.len() as f64,
        speed(ours),
        speed(theirs),
        theirs / ours
    );
}

fn main() {
    let picture = picture();
    let (small, large) = (floats32(64 * 64), floats64(1 << 20));
    let integers = integers16(1 << 20);
    compare("uint8 picture zstd bitshuffle", &picture, "zstd", "bitshuffle", 1);
    compare("float32 64x64 lz4 shuffle", &small, "lz4", "shuffle", 4);
    compare("float64 8 MB lz4 shuffle", &large, "lz4", "shuffle", 8);
    compare("float64 8 MB lz4 bitshuffle", &large, "lz4", "bitshuffle", 8);
    compare("float64 8 MB zstd shuffle", &large, "zstd", "shuffle", 8);
    compare("float32 4 MB lz4 shuffle", &floats32(1 << 20), "lz4", "shuffle", 4);
    compare("uint16 2 MB lz4 shuffle", &integers, "lz4", "shuffle", 2);
    compare("uint16 2 MB zstd bitshuffle", &integers, "zstd", "bitshuffle", 2);
    compare("uint16 2 MB lz4 shuffle, 12 bytes", &integers[..12 << 17], "lz4", "shuffle", 12);
    compare("uint16 2 MB lz4hc noshuffle", &integers, "lz4hc", "noshuffle", 2);
    compare("uint16 2 MB zlib shuffle", &integers, "zlib", "shuffle", 2);
    compare("uint16 2 MB blosclz shuffle", &integers, "blosclz", "shuffle", 2);
}
