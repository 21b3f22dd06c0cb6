//! Chains, and the configurations that make their codecs.

use std::sync::Arc;

use serde_json::{Value, json};
use zarrix_codec::{
    Chain, ChainScratch, Codec, CodecError, EncodedSize, Input, Result, Scratch, from_config,
};

use crate::common::mixed;

fn codec(name: &str, configuration: Value) -> Arc<dyn Codec> {
    from_config(name, &configuration, Input { item_bytes: 4 }).unwrap()
}

fn chain(codecs: &[(&str, Value)], decoded_bytes: usize) -> Result<Chain> {
    let codecs = codecs.iter().map(|(name, options)| codec(name, options.clone())).collect();
    Chain::new(codecs, decoded_bytes)
}

#[test]
fn chains_of_any_codecs_give_the_bytes_back() {
    let data = mixed(8000, 4);
    let chains: Vec<Vec<(&str, Value)>> = vec![
        vec![("blosc", json!({}))],
        vec![("blosc", json!({})), ("crc32c", json!({}))],
        vec![("zstd", json!({})), ("crc32c", json!({})), ("numcodecs.adler32", json!({}))],
        vec![("crc32c", json!({})), ("zstd", json!({}))],
        vec![("gzip", json!({})), ("crc32c", json!({})), ("zstd", json!({}))],
        vec![("zstd", json!({})), ("gzip", json!({})), ("numcodecs.lz4", json!({}))],
        vec![("blosc", json!({})), ("numcodecs.zlib", json!({})), ("blosc", json!({}))],
        vec![
            ("numcodecs.delta", json!({"dtype": "<u2"})),
            ("numcodecs.shuffle", json!({"elementsize": 2})),
            ("numcodecs.fletcher32", json!({})),
            ("numcodecs.crc32", json!({})),
            ("numcodecs.zlib", json!({"level": 9})),
        ],
        vec![("numcodecs.crc32", json!({})), ("numcodecs.crc32", json!({"location": "end"}))],
    ];
    let mut scratch = ChainScratch::default();
    for codecs in chains {
        let chain = chain(&codecs, data.len()).unwrap();
        let mut encoded = vec![7; 3];
        chain.encode_into(&data, &mut encoded, &mut scratch).unwrap();
        match chain.encoded_size() {
            EncodedSize::Exact(bytes) => assert_eq!(bytes, encoded.len()),
            EncodedSize::AtMost(bytes) => assert!(encoded.len() <= bytes),
        }
        for _ in 0..2 {
            let mut decoded = vec![0; data.len()];
            chain.decode_into(&encoded, &mut decoded, &mut scratch).unwrap();
            assert!(decoded == data, "{codecs:?}");
        }
        assert!(chain.decode_into(&encoded[1..], &mut vec![0; 8000], &mut scratch).is_err());
        assert!(chain.decode_into(&encoded, &mut vec![0; 7999], &mut scratch).is_err());
    }
}

#[test]
fn a_chain_without_codecs_is_the_bytes_themselves() {
    let chain = chain(&[], 4).unwrap();
    let mut scratch = ChainScratch::default();
    assert!(chain.is_identity());
    assert_eq!(chain.encoded_size(), EncodedSize::Exact(4));
    let src = [1, 2, 3, 4];
    let mut encoded = vec![7; 9];
    chain.encode_into(&src, &mut encoded, &mut scratch).unwrap();
    assert_eq!(encoded, src);
    let mut dst = [0; 4];
    chain.decode_into(&src, &mut dst, &mut scratch).unwrap();
    assert_eq!(dst, src);
    assert!(chain.decode_into(&src[..3], &mut dst, &mut scratch).is_err());
    assert!(chain.blocks(&src).unwrap().is_none());
}

#[test]
fn blocks_are_there_for_blosc_alone_or_below_checksums() {
    let data = mixed(1 << 20, 4);
    let mut scratch = ChainScratch::default();
    let blosc = ("blosc", json!({"cname": "lz4", "blocksize": 65536}));
    for (codecs, expected) in [
        (vec![blosc.clone()], true),
        (vec![blosc.clone(), ("crc32c", json!({}))], true),
        (vec![blosc.clone(), ("zstd", json!({}))], false),
        (vec![("numcodecs.shuffle", json!({})), blosc], false),
        (vec![("zstd", json!({}))], false),
    ] {
        let chain = chain(&codecs, data.len()).unwrap();
        let mut encoded = Vec::new();
        chain.encode_into(&data, &mut encoded, &mut scratch).unwrap();
        let blocks = chain.blocks(&encoded).unwrap();
        assert_eq!(blocks.is_some(), expected, "{codecs:?}");
        if let Some(frame) = blocks {
            let bytes = frame.block_bytes();
            let mut block = vec![0; bytes];
            frame.decode_block(3, &mut block, &mut scratch.codec).unwrap();
            assert!(block == data[3 * bytes..4 * bytes]);
        }
        if codecs.len() == 2 && expected {
            encoded[50_000] ^= 1;
            assert!(matches!(chain.blocks(&encoded), Err(CodecError::Corrupt { .. })));
        }
    }
}

#[test]
fn a_chunk_that_a_codec_cannot_encode_is_refused_when_the_chain_is_made() {
    let delta = ("numcodecs.delta", json!({"dtype": "<i4"}));
    let refused = chain(&[delta], 6);
    assert!(matches!(refused, Err(CodecError::Configuration { .. })));
    for name in ["blosc", "numcodecs.lz4"] {
        let refused = chain(&[(name, json!({}))], 3 << 30);
        assert!(matches!(refused, Err(CodecError::Configuration { .. })));
    }
    let refused = chain(&[("zstd", json!({}))], usize::MAX - 5);
    assert!(matches!(refused, Err(CodecError::Configuration { .. })));
}

#[test]
fn a_wrong_configuration_says_the_key_and_what_is_allowed() {
    let message = |name: &str, configuration: Value| {
        let made = from_config(name, &configuration, Input { item_bytes: 4 });
        let error = made.unwrap_err();
        assert!(matches!(error, CodecError::Configuration { .. }));
        error.to_string()
    };
    assert_eq!(
        message("blosc", json!({"cname": "lz5"})),
        "codec \"blosc\": cname is \"lz5\", allowed: one of blosclz, lz4, lz4hc, snappy, zlib, zstd"
    );
    assert_eq!(
        message("blosc", json!({"clevel": 10})),
        "codec \"blosc\": clevel is 10, allowed: 0 to 9"
    );
    assert_eq!(
        message("zstd", json!({"level": "high"})),
        "codec \"zstd\": level is \"high\", allowed: a 32-bit integer"
    );
    assert_eq!(message("gzip", json!({"level": 10})), "codec \"gzip\": level 10 is outside 0..=9");
    assert_eq!(
        message("gzip", json!({"levle": 1})),
        "codec \"gzip\": unknown key \"levle\" (there are [\"level\"])"
    );
    assert!(message("zstd", json!({"level": 23})).contains("is outside"));
    assert!(message("blosc", json!({"shuffle": []})).contains("a string"));
    assert!(message("numcodecs.crc32", json!({"location": "middle"})).contains("start or end"));
    assert!(message("numcodecs.delta", json!({"dtype": "<c8"})).contains("\"<c8\""));
    assert!(message("numcodecs.delta", json!({})).contains("no default"));
    assert!(message("numcodecs.shuffle", json!({"elementsize": -1})).contains("elementsize is -1"));
    assert!(message("zstd", json!([])).contains("not an object"));
    assert!(message("jpeg", json!({})).contains("not a native codec"));
}

#[test]
fn codecs_of_numcodecs_are_those_of_the_specification_under_its_names() {
    let mut scratch = ChainScratch::default().codec;
    let data = mixed(5000, 1);
    let zlib = json!({"cname": "zlib", "shuffle": 2});
    for (theirs, theirs_as, ours, ours_as) in [
        ("numcodecs.zstd", json!({"level": 3}), "zstd", json!({"level": 3})),
        ("numcodecs.gzip", json!({"level": 2}), "gzip", json!({"level": 2})),
        ("numcodecs.blosc", json!({"shuffle": 0}), "blosc", json!({"shuffle": "noshuffle"})),
        ("numcodecs.blosc", json!({"shuffle": -1}), "blosc", json!({"shuffle": "shuffle"})),
        ("blosc", zlib, "blosc", json!({"cname": "zlib", "shuffle": "bitshuffle"})),
    ] {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        codec(theirs, theirs_as).encode(&data, &mut a, &mut scratch).unwrap();
        codec(ours, ours_as).encode(&data, &mut b, &mut scratch).unwrap();
        assert_eq!(a, b, "{theirs}");
    }
}

#[test]
fn snappy_frames_have_the_layout_of_c_blosc_and_decode() {
    let mut scratch = ChainScratch::default().codec;
    let mut encoded = Vec::new();
    for (bytes, element_bytes, level) in layouts() {
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"] {
            let configuration = json!({
                "cname": "snappy", "clevel": level, "shuffle": shuffle, "typesize": element_bytes,
            });
            let blosc = codec("blosc", configuration.clone());
            let data = mixed(bytes, element_bytes);
            blosc.encode(&data, &mut encoded, &mut scratch).unwrap();
            assert!(encoded.len() <= data.len() + 16, "{configuration}");
            // blosclz is the one whose blocks are split and sized alike.
            let mut twin = configuration.clone();
            twin["cname"] = json!("blosclz");
            let mut expected = Vec::new();
            codec("blosc", twin).encode(&data, &mut expected, &mut scratch).unwrap();
            assert_eq!(encoded[8..12], expected[8..12], "{configuration}");
            assert_eq!(encoded[2] & 0x15, expected[2] & 0x15, "{configuration}");
            assert_eq!(encoded[2] >> 5, 2);
            let mut dst = vec![0; data.len()];
            blosc.decode_into(&encoded, &mut dst, &mut scratch).unwrap();
            assert!(dst == data, "{configuration} of {bytes} bytes");
        }
    }
}

/// Lengths, element sizes and levels that meet every rule of the layout.
fn layouts() -> impl Iterator<Item = (usize, usize, i32)> {
    [0, 1, 5, 127, 128, 1000, 40_000, 300_003].into_iter().flat_map(|bytes| {
        [1, 2, 4, 12, 16, 17, 200].into_iter().flat_map(move |element_bytes| {
            [0, 1, 5, 9].into_iter().map(move |level| (bytes, element_bytes, level))
        })
    })
}

#[test]
fn a_snappy_frame_made_by_hand_decodes() {
    let blosc = codec("blosc", json!({"cname": "snappy", "shuffle": "noshuffle"}));
    let mut scratch = ChainScratch::default().codec;
    // Two blocks: 400 bytes of which 100 are a shorter last block.
    let data = mixed(400, 1);
    let mut frame = vec![2, 1, 2 << 5 | 0x10, 1];
    let streams: Vec<Vec<u8>> = data
        .chunks(300)
        .map(|block| snap::raw::Encoder::new().compress_vec(block).unwrap())
        .collect();
    let total = 16 + 8 + streams.iter().map(|stream| 4 + stream.len()).sum::<usize>();
    let second = 16 + 8 + 4 + streams[0].len();
    for number in [data.len(), 300, total, 24, second] {
        frame.extend_from_slice(&(number as i32).to_le_bytes());
    }
    for stream in streams {
        frame.extend_from_slice(&(stream.len() as i32).to_le_bytes());
        frame.extend_from_slice(&stream);
    }
    let mut dst = vec![0; 400];
    blosc.decode_into(&frame, &mut dst, &mut scratch).unwrap();
    assert_eq!(dst, data);
}

#[test]
fn bytes_behind_a_stream_are_ignored_where_the_reference_ignores_them() {
    let data = mixed(8000, 4);
    let (something, zeros) = ([0xC8; 16], [0; 16]);
    for (name, tail, is_read) in [
        ("numcodecs.zlib", something, true),
        ("numcodecs.bz2", something, true),
        ("gzip", zeros, true),
        ("gzip", something, false),
        ("zstd", zeros, false),
        ("numcodecs.lz4", zeros, false),
        ("numcodecs.lzma", something, false),
    ] {
        let one = codec(name, json!({}));
        let (mut encoded, mut room, mut scratch) = (Vec::new(), vec![0; 8000], Scratch::default());
        one.encode(&data, &mut encoded, &mut scratch).unwrap();
        encoded.extend(tail);
        let decoded = one.decode_into(&encoded, &mut room, &mut scratch);
        assert_eq!(decoded.is_ok(), is_read, "{name}: {decoded:?}");
        assert_eq!(scratch.take_ignored(), if is_read { 16 } else { 0 }, "{name}");
        if is_read {
            one.decode_bounded(&encoded, 8000, &mut room, &mut scratch).unwrap();
            assert!(room == data, "{name}");
            assert_eq!(scratch.take_ignored(), 16, "{name}");
        }
    }
}
