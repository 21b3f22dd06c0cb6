//! What damaged, cut and hostile bytes may cost: an error or the declared bytes, little time.

use std::sync::Arc;

use serde_json::{Value, json};
use zarrix_codec::{Codec, CodecError, Input, Scratch, from_config};

use crate::common::{Noise, fastest_of, mixed};

/// Every native codec, and whether it notices any change of its bytes.
fn codecs() -> Vec<(Arc<dyn Codec>, bool)> {
    let make = |name: &str, configuration: Value, notices: bool| {
        (from_config(name, &configuration, Input { item_bytes: 4 }).unwrap(), notices)
    };
    let mut codecs = vec![
        make("zstd", json!({"level": 3}), false),
        make("zstd", json!({"level": 3, "checksum": true}), true),
        make("gzip", json!({"level": 5}), false),
        make("crc32c", json!({}), true),
        make("numcodecs.zlib", json!({"level": 1}), false),
        make("numcodecs.lz4", json!({}), false),
        make("numcodecs.shuffle", json!({"elementsize": 4}), false),
        make("numcodecs.delta", json!({"dtype": "<i4", "astype": "<i2"}), false),
        make("numcodecs.packbits", json!({}), false),
        make("numcodecs.crc32", json!({}), true),
        make("numcodecs.crc32", json!({"location": "end"}), true),
        make("numcodecs.crc32c", json!({"location": "start"}), true),
        make("numcodecs.adler32", json!({}), true),
        make("numcodecs.fletcher32", json!({}), false),
        make("numcodecs.jenkins_lookup3", json!({"initval": 1}), true),
        make("numcodecs.base64", json!({}), false),
        make("packbits", json!({"dtype": "<i2", "last_bit": 12}), false),
        make("packbits", json!({"dtype": "|b1", "padding_encoding": "last_byte"}), false),
        make("pcodec", json!({"dtype": "<i4"}), false),
        make("pcodec", json!({"dtype": "<f8", "delta_spec": "try_lookback"}), false),
        make("numcodecs.bz2", json!({}), true),
        make("numcodecs.lzma", json!({"preset": 1}), true),
        make("numcodecs.lzma", json!({"format": 2, "preset": 1}), false),
        make("numcodecs.lzma", json!({"format": 3, "filters": [{"id": 33, "preset": 1}]}), false),
        make("numcodecs.astype", json!({"encode_dtype": "<f8", "decode_dtype": "<i4"}), false),
        make("numcodecs.quantize", json!({"digits": 3, "dtype": "<f4"}), false),
        make(
            "numcodecs.fixedscaleoffset",
            json!({"offset": 1.5, "scale": 10, "dtype": "<f4", "astype": "|u1"}),
            false,
        ),
        make("numcodecs.bitround", json!({"keepbits": 3}), false),
        make(
            "numcodecs.categorize",
            json!({"labels": ["a"], "dtype": "<U1", "astype": "<i2"}),
            false,
        ),
        make("cast_value", json!({"dtype": "<i2", "data_type": "<f8"}), false),
        make("scale_offset", json!({"dtype": "<f4", "scale": 3}), false),
        make("bitround", json!({"keepbits": 3, "dtype": "bfloat16"}), false),
        make("zarrix.byteswap", json!({"words": [2, 1, 1]}), false),
    ];
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        codecs.push(make("blosc", json!({"cname": cname, "typesize": 4}), false));
    }
    codecs
}

#[test]
fn flipped_and_cut_bytes_give_an_error_or_the_declared_bytes() {
    let mut scratch = Scratch::default();
    let mut noise = Noise(5);
    let data = mixed(4000, 4);
    for (codec, notices) in codecs() {
        let mut encoded = Vec::new();
        codec.encode(&data, &mut encoded, &mut scratch).unwrap();
        let (mut room, mut bounded) = (vec![0xA5; data.len() + 64], Vec::new());
        for _ in 0..400 {
            let mut bad = encoded.clone();
            for _ in 0..noise.below(4) {
                let at = noise.below(bad.len());
                bad[at] ^= 1 << noise.below(8);
            }
            if noise.below(2) == 0 {
                bad.truncate(noise.below(bad.len()));
            }
            let result = codec.decode_into(&bad, &mut room[..data.len()], &mut scratch);
            assert!(room[data.len()..] == [0xA5; 64], "{codec:?} wrote beyond its destination");
            if notices && bad != encoded {
                assert!(result.is_err(), "{codec:?} did not notice");
            }
            let result = codec.decode_bounded(&bad, data.len() + 9, &mut bounded, &mut scratch);
            assert!(result.is_err() || bounded.len() <= data.len() + 9);
        }
    }
}

#[test]
fn a_cut_anywhere_is_an_error() {
    let mut scratch = Scratch::default();
    let data = mixed(600, 4);
    for (codec, _) in codecs() {
        let mut encoded = Vec::new();
        codec.encode(&data, &mut encoded, &mut scratch).unwrap();
        for length in 0..encoded.len() {
            let mut dst = vec![0; data.len()];
            let result = codec.decode_into(&encoded[..length], &mut dst, &mut scratch);
            assert!(result.is_err(), "{codec:?} cut to {length} of {} bytes", encoded.len());
        }
    }
}

#[test]
fn bytes_after_the_stream_are_an_error_unless_the_reference_ignores_them() {
    let mut scratch = Scratch::default();
    let data = mixed(4000, 4);
    for (codec, _) in codecs() {
        let mut encoded = Vec::new();
        codec.encode(&data, &mut encoded, &mut scratch).unwrap();
        encoded.extend_from_slice(b"something else");
        let mut dst = vec![0; data.len()];
        let is_read = codec.decode_into(&encoded, &mut dst, &mut scratch).is_ok();
        assert_eq!(is_read, matches!(codec.name(), "blosc" | "zlib" | "bz2"), "{codec:?}");
        assert!(!is_read || dst == data, "{codec:?}");
    }
}

#[test]
fn zeros_after_a_gzip_member_are_padding() {
    let mut scratch = Scratch::default();
    let gzip = from_config("gzip", &json!({}), Input { item_bytes: 1 }).unwrap();
    let mut encoded = Vec::new();
    gzip.encode(b"some bytes", &mut encoded, &mut scratch).unwrap();
    encoded.resize(encoded.len() + 100, 0);
    let mut dst = [0; 10];
    gzip.decode_into(&encoded, &mut dst, &mut scratch).unwrap();
    assert_eq!(&dst, b"some bytes");
}

#[test]
fn a_bomb_stops_at_the_declared_size() {
    let mut scratch = Scratch::default();
    let bomb = vec![0; 64 << 20];
    for (codec, _) in codecs() {
        let mut encoded = Vec::new();
        codec.encode(&bomb, &mut encoded, &mut scratch).unwrap();
        if encoded.len() > bomb.len() / 20 {
            continue;
        }
        let fastest = fastest_of(100, 0.1, || {
            let mut dst = vec![0; 1000];
            let error = codec.decode_into(&encoded, &mut dst, &mut scratch).unwrap_err();
            assert!(matches!(error, CodecError::Corrupt { .. }), "{error}");
            let mut bounded = Vec::new();
            assert!(codec.decode_bounded(&encoded, 100_000, &mut bounded, &mut scratch).is_err());
            assert!(bounded.capacity() <= 200_000, "{codec:?} took {}", bounded.capacity());
        });
        assert!(fastest < 0.1, "{codec:?} took {fastest} s");
    }
}

#[test]
fn a_size_that_a_header_invents_is_not_allocated() {
    let mut scratch = Scratch::default();
    let configuration = json!({});
    let input = Input { item_bytes: 1 };
    let mut bounded = Vec::new();
    let lz4 = from_config("numcodecs.lz4", &configuration, input).unwrap();
    let claim = [0xFF, 0xFF, 0xFF, 0x7F, 0x10, 0x00];
    assert!(lz4.decode_bounded(&claim, 1000, &mut bounded, &mut scratch).is_err());
    let zstd = from_config("zstd", &configuration, input).unwrap();
    // A frame whose header claims 2^62 bytes.
    let claim = [0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0];
    assert!(zstd.decode_bounded(&claim, 1000, &mut bounded, &mut scratch).is_err());
    let blosc = from_config("blosc", &configuration, input).unwrap();
    let mut claim = vec![2, 1, 0x21, 1, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 1, 20, 0, 0, 0];
    claim.extend([0; 4]);
    assert!(blosc.decode_bounded(&claim, 1000, &mut bounded, &mut scratch).is_err());
    assert!(bounded.capacity() <= 4096);
}
