//! How fast the codecs other than Blosc are, one thread: best of several rounds, in GB/s of decoded
//! bytes, as one line of JSON each.
//!
//! `cargo run --release -p zarrix-codec --example filter_speed`; `filter_speed.py` beside it runs
//! this and numcodecs in turns and prints the ratios.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};
use zarrix_codec::{Input, Scratch, from_config, vlen};

const ROUNDS: usize = 7;

fn best(mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let started = Instant::now();
        work();
        started.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

fn measure(name: &str, configuration: &Value, data: &[u8], item_bytes: usize) {
    let Ok(codec) = from_config(name, configuration, Input { item_bytes }) else {
        return;
    };
    let (mut encoded, mut scratch) = (Vec::new(), Scratch::default());
    let mut dst = vec![0; data.len()];
    let encode_s = best(|| {
        let done = codec.encode(black_box(data), &mut encoded, &mut scratch);
        assert!(done.is_ok(), "{name} {configuration}");
    });
    let decode_s = best(|| {
        assert!(codec.decode_into(black_box(&encoded), &mut dst, &mut scratch).is_ok());
    });
    let speed = |seconds: f64| data.len() as f64 / seconds / 1e9;
    println!(
        "{}",
        json!({
            "name": name,
            "configuration": configuration,
            "encode": speed(encode_s),
            "decode": speed(decode_s),
            "encoded_bytes": encoded.len(),
        })
    );
}

/// The same numbers as `filter_speed.py` makes.
fn waves(count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(|i| ((i % 4096) as f64 / 100.0).sin() * 100.0)
}

fn main() {
    let count = 1 << 20;
    let f4: Vec<u8> = waves(count).flat_map(|value| (value as f32).to_le_bytes()).collect();
    let f8: Vec<u8> = waves(count).flat_map(f64::to_le_bytes).collect();
    let i4: Vec<u8> = waves(count).flat_map(|value| (value as i32).to_le_bytes()).collect();
    // For the compressors four bits of noise, which is what sensors have.
    let noise = (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 28) as i32);
    let noisy: Vec<u8> = waves(count)
        .zip(noise)
        .flat_map(|(value, noise)| (value as i32 * 16 + noise).to_le_bytes())
        .collect();
    let bools: Vec<u8> = waves(8 * count).map(|value| u8::from(value > 20.0)).collect();
    let labels = ["male", "female", "unexpected"];
    let texts: Vec<u8> = (0..count)
        .flat_map(|i| {
            let chars = labels[i * 7 % 11 % 3].chars().map(u32::from);
            chars.chain(std::iter::repeat(0)).take(10).flat_map(u32::to_le_bytes)
        })
        .collect();
    for (name, configuration, data, item_bytes) in [
        ("numcodecs.bz2", json!({"level": 1}), &noisy, 4),
        ("numcodecs.lzma", json!({"preset": 1}), &noisy, 4),
        ("numcodecs.pcodec", json!({"dtype": "<i4"}), &noisy, 4),
        ("numcodecs.astype", json!({"encode_dtype": "<f4", "decode_dtype": "<f8"}), &f8, 8),
        ("numcodecs.astype", json!({"encode_dtype": "<i2", "decode_dtype": "<i4"}), &i4, 4),
        ("numcodecs.astype", json!({"encode_dtype": "<i4", "decode_dtype": "<f8"}), &f8, 8),
        ("numcodecs.astype", json!({"encode_dtype": "<f2", "decode_dtype": "<f4"}), &f4, 4),
        ("numcodecs.quantize", json!({"digits": 3, "dtype": "<f4"}), &f4, 4),
        (
            "numcodecs.fixedscaleoffset",
            json!({"offset": 0, "scale": 100, "dtype": "<f8", "astype": "<i2"}),
            &f8,
            8,
        ),
        ("numcodecs.bitround", json!({"keepbits": 10, "dtype": "<f4"}), &f4, 4),
        ("numcodecs.packbits", json!({}), &bools, 1),
        ("packbits", json!({"dtype": "|b1"}), &bools, 1),
        ("packbits", json!({"dtype": "<i4", "last_bit": 10}), &i4, 4),
        ("numcodecs.base64", json!({}), &f4, 4),
        ("numcodecs.jenkins_lookup3", json!({}), &f4, 4),
        ("numcodecs.categorize", json!({"labels": labels, "dtype": "<U10"}), &texts, 40),
        ("cast_value", json!({"dtype": "<f8", "data_type": "<i2"}), &f8, 8),
        ("scale_offset", json!({"dtype": "<f4", "offset": 5, "scale": 0.1}), &f4, 4),
        ("scale_offset", json!({"dtype": "<i4", "offset": 5, "scale": 3}), &i4, 4),
        ("zarrix.byteswap", json!({"word_bytes": 4}), &f4, 4),
        ("zarrix.byteswap", json!({"word_bytes": 8}), &f8, 8),
        ("zarrix.byteswap", json!({"words": [4, 8, 1, 1, 1, 1]}), &f8, 16),
    ] {
        measure(name, &configuration, data, item_bytes);
    }
    let items: Vec<String> = (0..1_000_000).map(|i| format!("text {i}")).collect();
    let mut chunk = Vec::new();
    let write_s = best(|| {
        assert!(vlen::write(items.iter().map(String::as_bytes), &mut chunk).is_ok());
    });
    let parse_s = best(|| {
        let parsed = vlen::parse_utf8(black_box(&chunk));
        assert!(parsed.is_ok_and(|items| items.iter().map(<[u8]>::len).sum::<usize>() > 0));
    });
    println!("{}", json!({"name": "vlen-utf8", "write_s": write_s, "parse_s": parse_s}));
}
