//! Valid inputs for every target, from our own encoders: `cargo run --example seeds` in this folder.
//!
//! They are made and not stored: a fuzzer that begins with them is where hours would bring it that
//! begins with nothing.

use std::path::Path;

use zarrix_codec::{Scratch, vlen};
use zarrix_fuzz::{COMPRESSORS, JPEG, PNG, WEBP, codec};

fn save(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new("corpus").join(target);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(format!("seed-{name}")), bytes).expect("a file");
}

fn encoded(name: &str, configuration: &str, data: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    let made = codec(name, configuration, 4).encode(data, &mut encoded, &mut Scratch::default());
    made.expect("our encoder");
    encoded
}

/// Smooth, noisy and constant stretches.
fn data(length: usize) -> Vec<u8> {
    let byte = |at: usize| match at / 512 % 3 {
        0 => (at / 7) as u8,
        1 => (at.wrapping_mul(2_654_435_761) >> 13) as u8,
        _ => 9,
    };
    (0..length).map(byte).collect()
}

fn with(head: &[u8], body: &[u8]) -> Vec<u8> {
    [head, body].concat()
}

fn main() {
    for length in [0, 40, 1200, 9000] {
        let data = data(length);
        let declared = (length as u16).to_le_bytes();
        for cname in ["blosclz", "lz4", "snappy", "zlib", "zstd"] {
            for shuffle in ["noshuffle", "shuffle", "bitshuffle"] {
                for (typesize, blocksize) in [(1, 0), (4, 512), (8, 2048)] {
                    let configuration = format!(
                        r#"{{"cname": "{cname}", "shuffle": "{shuffle}", "typesize": {typesize},
                            "blocksize": {blocksize}}}"#
                    );
                    let name = format!("{cname}-{shuffle}-{typesize}-{length}");
                    let bytes = encoded("blosc", &configuration, &data);
                    save("blosc", &name, &with(&declared, &bytes));
                }
            }
        }
        for checksum in [true, false] {
            // The target counts in units of 16 bytes, so that a frame has several blocks.
            let long = self::data(length * 16);
            let bytes = encoded("zstd", &format!(r#"{{"checksum": {checksum}}}"#), &long);
            save("zstd", &format!("{checksum}-{length}"), &with(&declared, &bytes));
        }
        save("lz4", &length.to_string(), &with(&declared, &encoded("numcodecs.lz4", "{}", &data)));
        let numbers = (length as u16 / 8).to_le_bytes();
        for (which, (name, configuration)) in COMPRESSORS.into_iter().enumerate() {
            let head = with(&[which as u8], &numbers);
            let bytes = encoded(name, configuration, &data);
            save("compressors", &format!("{which}-{length}"), &with(&head, &bytes));
        }
        for which in 0..22u8 {
            for factor in 0..9u16 {
                let head = with(&[which], &(2 * factor + 1).to_le_bytes());
                save("filters", &format!("{which}-{factor}-{length}"), &with(&head, &data));
            }
        }
    }
    let items: [&[u8]; 4] = [b"", b"abc", "\u{e4}\u{1F600}".as_bytes(), b"123456789"];
    let mut text = Vec::new();
    vlen::write(items.into_iter(), &mut text).expect("short items");
    save("vlen", "text", &text);
    for (target, pictures) in [("jpeg", &JPEG[..]), ("png", &PNG), ("webp", &WEBP)] {
        for (which, (configuration, height, row)) in pictures.iter().enumerate() {
            let bytes = encoded(&format!("zarrix.{target}"), configuration, &data(height * row));
            save(target, &which.to_string(), &with(&[which as u8, 1, 7, 2, 9], &bytes));
        }
    }
    seed_zip();
    seed_engine();
}

/// An archive of members: name, method (0 or 8), data.
fn zip(members: &[(&str, u16, &[u8])]) -> Vec<u8> {
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for (name, method, data) in members {
        let crc = &encoded("numcodecs.crc32", "{}", data)[..4];
        let zlib = encoded("numcodecs.zlib", "{}", data);
        // A zlib stream is deflate between a header of two bytes and a checksum of four.
        let stored = if *method == 0 { data } else { &zlib[2..zlib.len() - 4] };
        let mut common = [20, 0, 0, 0, *method as u8, 0, 0, 0, 0, 0].to_vec();
        common.extend_from_slice(crc);
        common.extend_from_slice(&(stored.len() as u32).to_le_bytes());
        common.extend_from_slice(&(data.len() as u32).to_le_bytes());
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        let at = body.len() as u32;
        body.extend([b"PK\x03\x04", &common[..], name.as_bytes(), stored].concat());
        let rest = [&[0; 10][..], &at.to_le_bytes(), name.as_bytes()].concat();
        directory.extend([b"PK\x01\x02\x14\x00", &common[..], &rest].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let (bytes, at) = ((directory.len() as u32).to_le_bytes(), (body.len() as u32).to_le_bytes());
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &bytes, &at, &[0, 0]].concat();
    [body, directory, end].concat()
}

fn seed_zip() {
    let data = data(700);
    save("zip", "empty", &zip(&[]));
    save("zip", "stored", &zip(&[(".zarray", 0, b"{}"), ("0.0", 0, &data)]));
    save("zip", "deflated", &zip(&[("a/zarr.json", 8, b"{}"), ("a/c/0", 8, &data)]));
}

fn seed_engine() {
    // An index of eight entries at the end and at the start, and the inner chunks of eight bytes.
    let index = |begin: u64| -> Vec<u8> {
        (0..8u64).flat_map(|i| [begin + 8 * i, 8]).flat_map(u64::to_le_bytes).collect()
    };
    let inner = data(64);
    save("shard", "end", &with(&[0, 3, 9], &with(&inner, &index(0))));
    save("shard", "start", &with(&[2, 3, 9], &with(&index(128), &inner)));
    let checked = encoded("crc32c", "{}", &index(0));
    save("shard", "end-crc32c", &with(&[1, 3, 9], &with(&inner, &checked)));
    for blocksize in [4096, 16384] {
        for cname in ["lz4", "zstd", "blosclz"] {
            let configuration =
                format!(r#"{{"cname": "{cname}", "typesize": 1, "blocksize": {blocksize}}}"#);
            let smooth: Vec<u8> = (0..70_000u32).map(|at| (at / 900) as u8).collect();
            let bytes = encoded("blosc", &configuration, &smooth);
            save("parts", &format!("{cname}-{blocksize}"), &with(&[0, 1, 2, 3, 4], &bytes));
        }
    }
    save("parts", "plain", &with(&[1, 1, 2, 3, 4], &vec![3; 70_000]));
    let document = |codecs: &str| {
        format!(
            r#"{{"shape": [5, 7], "chunk_grid": [4, 4], "item_bytes": 4, "fill_value": "00000001",
                "chunk_key_encoding": {{"name": "v2", "configuration": {{"separator": "/"}}}},
                "codecs": [{codecs}], "metadata_key": "a", "write_empty_chunks": false}}"#
        )
    };
    for (name, codecs) in [
        (
            "zstd",
            r#"{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 3, "checksum": true}}"#,
        ),
        (
            "blosc",
            r#"{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0}}"#,
        ),
        (
            "f",
            r#"{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "gzip", "configuration": {"level": 1}}"#,
        ),
        (
            "delta",
            r#"{"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i2"}}, {"name": "numcodecs.lzma", "configuration": {"format": 3, "filters": [{"id": 33, "preset": 1}]}}"#,
        ),
        (
            "packbits",
            r#"{"name": "packbits", "configuration": {"dtype": "<i4", "first_bit": 1, "last_bit": 9, "padding_encoding": "first_byte"}}, {"name": "crc32c"}"#,
        ),
        (
            "cast",
            r#"{"name": "cast_value", "configuration": {"dtype": "<i4", "data_type": "<f8", "rounding": "nearest-even", "scalar_map": {"encode": [[1, 2]]}}}"#,
        ),
        (
            "quantize",
            r#"{"name": "numcodecs.fixedscaleoffset", "configuration": {"offset": 1.5, "scale": 10, "dtype": "<f4", "astype": "|u1"}}, {"name": "numcodecs.base64"}"#,
        ),
        (
            "categorize",
            r#"{"name": "numcodecs.categorize", "configuration": {"labels": ["a"], "dtype": "<U1", "astype": "<i2"}}"#,
        ),
        (
            "pcodec",
            r#"{"name": "pcodec", "configuration": {"dtype": "<i4", "delta_spec": "try_lookback", "mode_spec": "classic"}}"#,
        ),
        (
            "shard",
            r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 4], "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}], "index_location": "start"}}"#,
        ),
    ] {
        save("layout", name, &with(document(codecs).as_bytes(), &with(&[0], &data(64))));
    }
    for (number, key) in ["0", "3.1", "2/0/0", "c/1", "c.4.9", "a/zarr.json"].iter().enumerate() {
        for flags in 0..16u8 {
            save("keys", &format!("{number}-{flags}"), &with(&[flags], key.as_bytes()));
        }
    }
}
