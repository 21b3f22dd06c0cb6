//! The first bytes of a decoded form, for codecs that can stop there.

use std::sync::Arc;

use serde_json::{Value, json};
use zarrix_codec::{Chain, ChainScratch, Codec, CodecError, Input, Scratch, from_config};

use crate::common::{Noise, mixed};

/// What is written beyond the bytes that are needed tells whether a decoder stopped.
const UNTOUCHED: u8 = 0xA5;

fn codec(name: &str, configuration: &Value) -> Arc<dyn Codec> {
    from_config(name, configuration, Input { item_bytes: 4 }).unwrap()
}

fn encoded(codec: &dyn Codec, data: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    codec.encode(data, &mut encoded, &mut Scratch::default()).unwrap();
    encoded
}

#[test]
fn prefixes_of_each_length_are_those_of_the_whole() {
    let mut scratch = Scratch::default();
    let mut noise = Noise(11);
    for (name, configuration) in [
        ("zstd", json!({"level": 0})),
        ("zstd", json!({"level": 3, "checksum": true})),
        ("zstd", json!({"level": 19})),
        ("numcodecs.lz4", json!({})),
        ("gzip", json!({"level": 1})),
        ("numcodecs.shuffle", json!({"elementsize": 4})),
    ] {
        let codec = codec(name, &configuration);
        for bytes in [0, 4, 4000, 128 << 10, (128 << 10) + 4, 700_000, 1 << 20] {
            let data = mixed(bytes, 4);
            let stored = encoded(&*codec, &data);
            let mut lengths = vec![0, 1.min(bytes), bytes / 2, bytes.saturating_sub(1), bytes];
            lengths.extend((0..20).map(|_| noise.below(bytes + 1)));
            for needed in lengths {
                let mut room = vec![UNTOUCHED; bytes];
                codec.decode_prefix(&stored, needed, &mut room, &mut scratch).unwrap();
                assert!(room[..needed] == data[..needed], "{name}: {needed} of {bytes}");
                // The context serves the next whole frame as before.
                codec.decode_into(&stored, &mut room, &mut scratch).unwrap();
                assert!(room == data, "{name}: whole after {needed} of {bytes}");
            }
        }
    }
}

#[test]
fn zstd_stops_where_nothing_more_is_needed() {
    let data = mixed(1 << 20, 4);
    let codec = codec("zstd", &json!({}));
    let stored = encoded(&*codec, &data);
    let mut room = vec![UNTOUCHED; data.len()];
    codec.decode_prefix(&stored, 1000, &mut room, &mut Scratch::default()).unwrap();
    // A block ends in copies of whole vectors, which reach a few bytes into the second one.
    let behind_the_second_block = &room[2 * (128 << 10)..];
    assert!(behind_the_second_block.iter().all(|byte| *byte == UNTOUCHED));
}

#[test]
fn a_frame_with_a_checksum_is_verified_as_a_whole() {
    let data = mixed(1 << 20, 4);
    let codec = codec("zstd", &json!({"level": 3, "checksum": true}));
    let mut stored = encoded(&*codec, &data);
    let last = stored.len() - 1;
    stored[last] ^= 1;
    let mut room = vec![0; data.len()];
    let error = codec.decode_prefix(&stored, 10, &mut room, &mut Scratch::default()).unwrap_err();
    assert!(matches!(error, CodecError::Corrupt { .. }), "{error}");
}

#[test]
fn a_checksum_of_the_stored_bytes_is_verified_first() {
    let data = mixed(1 << 20, 4);
    let codecs = vec![codec("zstd", &json!({"level": 1})), codec("crc32c", &json!({}))];
    let chain = Chain::new(codecs, data.len()).unwrap();
    let mut scratch = ChainScratch::default();
    let mut stored = Vec::new();
    chain.encode_into(&data, &mut stored, &mut scratch).unwrap();
    let mut room = vec![0; data.len()];
    chain.decode_prefix(&stored, 5000, &mut room, &mut scratch).unwrap();
    assert!(room[..5000] == data[..5000]);
    let near_the_end = stored.len() - 10;
    stored[near_the_end] ^= 1;
    let error = chain.decode_prefix(&stored, 5000, &mut room, &mut scratch).unwrap_err();
    assert!(matches!(error, CodecError::Corrupt { .. }), "{error}");
}

#[test]
fn frames_that_end_early_or_say_another_length_are_errors() {
    let mut scratch = Scratch::default();
    let data = mixed(1 << 20, 4);
    for name in ["zstd", "numcodecs.lz4"] {
        let codec = codec(name, &json!({}));
        let stored = encoded(&*codec, &data);
        for bytes in [data.len() - 4, data.len() + 4] {
            let mut room = vec![0; bytes];
            let decoded = codec.decode_prefix(&stored, 10, &mut room, &mut scratch);
            assert!(matches!(decoded, Err(CodecError::Corrupt { .. })), "{name}: {bytes}");
        }
        let mut room = vec![0; data.len()];
        for cut in [0, 1, 4, 5, 17, stored.len() / 8, stored.len() - 1] {
            let decoded = codec.decode_prefix(&stored[..cut], 1000, &mut room, &mut scratch);
            assert!(matches!(decoded, Err(CodecError::Corrupt { .. })), "{name}: {cut}");
        }
    }
}

#[test]
fn several_frames_are_decoded_as_one() {
    let mut scratch = Scratch::default();
    let data = mixed(1 << 20, 4);
    let codec = codec("zstd", &json!({}));
    let (one, two) = data.split_at(300_000);
    let stored = [encoded(&*codec, one), encoded(&*codec, two)].concat();
    let mut room = vec![0; data.len()];
    codec.decode_prefix(&stored, 400_000, &mut room, &mut scratch).unwrap();
    assert!(room[..400_000] == data[..400_000]);
}

#[test]
fn flipped_bytes_give_an_error_or_some_bytes_and_the_next_frame_decodes() {
    let mut scratch = Scratch::default();
    let mut noise = Noise(7);
    let data = mixed(400_000, 4);
    for name in ["zstd", "numcodecs.lz4"] {
        let codec = codec(name, &json!({}));
        let stored = encoded(&*codec, &data);
        let mut room = vec![0; data.len()];
        for _ in 0..300 {
            let mut bad = stored.clone();
            for _ in 0..1 + noise.below(3) {
                let at = noise.below(bad.len());
                bad[at] ^= 1 << noise.below(8);
            }
            let needed = noise.below(data.len());
            let decoded = codec.decode_prefix(&bad, needed, &mut room, &mut scratch);
            assert!(matches!(decoded, Ok(()) | Err(CodecError::Corrupt { .. })), "{decoded:?}");
            codec.decode_prefix(&stored, needed, &mut room, &mut scratch).unwrap();
            assert!(room[..needed] == data[..needed], "{name}");
        }
    }
}
