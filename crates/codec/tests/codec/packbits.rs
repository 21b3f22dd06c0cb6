//! The registered packbits codec against its specification, bit by bit.

use serde_json::json;
use zarrix_codec::{EncodedSize, Input, Scratch, from_config};

use crate::common::Noise;

/// Element types: the name, bytes in memory, bits of their own, whether there is a sign.
const TYPES: [(&str, usize, u32, bool); 14] = [
    ("|b1", 1, 1, false),
    ("uint2", 1, 2, false),
    ("int4", 1, 4, true),
    ("float6_e2m3fn", 1, 6, false),
    ("|u1", 1, 8, false),
    ("|i1", 1, 8, true),
    ("<i2", 2, 16, true),
    (">u2", 2, 16, false),
    ("bfloat16", 2, 16, false),
    ("<i4", 4, 32, true),
    (">f4", 4, 32, false),
    ("<c8", 4, 32, false),
    ("<u8", 8, 64, false),
    (">i8", 8, 64, true),
];

/// The specification taken at its word: one bit after the other.
fn expected(numbers: &[u64], first: u32, last: u32, padding: &str) -> Vec<u8> {
    let bits: Vec<bool> =
        numbers.iter().flat_map(|n| (first..=last).map(move |bit| n >> bit & 1 == 1)).collect();
    let byte =
        |eight: &[bool]| eight.iter().rev().fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit));
    let mut bytes: Vec<u8> = bits.chunks(8).map(byte).collect();
    let padding_bits = (bytes.len() * 8 - bits.len()) as u8;
    match padding {
        "first_byte" => bytes.insert(0, padding_bits),
        "last_byte" => bytes.push(padding_bits),
        _ => {}
    }
    bytes
}

fn in_memory(number: u64, bytes: usize, big: bool) -> Vec<u8> {
    let mut element = number.to_le_bytes()[..bytes].to_vec();
    if big {
        element.reverse();
    }
    element
}

#[test]
fn every_range_of_bits_of_every_type_is_packed_as_specified() {
    let (mut scratch, mut noise, mut encoded) = (Scratch::default(), Noise(11), Vec::new());
    for (dtype, bytes, bits, signed) in TYPES {
        let ranges = [(0, bits - 1), (0, bits / 2), (bits / 3, bits - 1), (bits / 2, bits / 2)];
        for ((first, last), count) in
            ranges.into_iter().flat_map(|r| [0, 1, 3, 8, 63, 64, 65, 200].map(|n| (r, n)))
        {
            let unused = 63 - (last - first);
            let numbers: Vec<u64> = (0..count)
                .map(|_| {
                    let kept = noise.next() << unused;
                    (if signed { (kept as i64 >> unused) as u64 } else { kept >> unused }) << first
                })
                .collect();
            let big = dtype.starts_with('>');
            let src: Vec<u8> = numbers.iter().flat_map(|n| in_memory(*n, bytes, big)).collect();
            for padding in ["none", "first_byte", "last_byte"] {
                let configuration = json!({
                    "dtype": dtype,
                    "first_bit": first,
                    "last_bit": last,
                    "padding_encoding": padding,
                });
                let input = Input { item_bytes: bytes };
                let codec = from_config("packbits", &configuration, input).unwrap();
                codec.encode(&src, &mut encoded, &mut scratch).unwrap();
                assert_eq!(encoded, expected(&numbers, first, last, padding), "{configuration}");
                assert_eq!(codec.encoded_size(src.len()), EncodedSize::Exact(encoded.len()));
                let mut dst = vec![0xA5; src.len()];
                codec.decode_into(&encoded, &mut dst, &mut scratch).unwrap();
                assert_eq!(dst, src, "{configuration}");
                if padding != "none" {
                    let mut longer = vec![0; src.len() + bytes];
                    assert!(codec.decode_into(&encoded, &mut longer, &mut scratch).is_err());
                    codec.decode_bounded(&encoded, src.len(), &mut dst, &mut scratch).unwrap();
                    assert_eq!(dst, src, "{configuration}");
                }
            }
        }
    }
}

#[test]
fn any_byte_but_zero_is_a_true_boolean() {
    let (mut scratch, mut encoded) = (Scratch::default(), Vec::new());
    let src: Vec<u8> = (0..=255).chain([0, 128, 7]).collect();
    let packed =
        from_config("packbits", &json!({"dtype": "|b1"}), Input { item_bytes: 1 }).unwrap();
    packed.encode(&src, &mut encoded, &mut scratch).unwrap();
    let mut bools = vec![0; src.len()];
    packed.decode_into(&encoded, &mut bools, &mut scratch).unwrap();
    assert!(bools.iter().zip(&src).all(|(bool, byte)| *bool == u8::from(*byte != 0)));
}

#[test]
fn without_a_type_all_bits_of_an_element_are_kept() {
    let mut scratch = Scratch::default();
    let mut encoded = Vec::new();
    let codec = from_config("packbits", &json!({}), Input { item_bytes: 4 }).unwrap();
    codec.encode(&[1, 2, 3, 4], &mut encoded, &mut scratch).unwrap();
    assert_eq!(encoded, [1, 2, 3, 4]);
}

#[test]
fn bits_that_a_type_does_not_have_are_refused() {
    for configuration in [
        json!({"dtype": "|b1", "last_bit": 1}),
        json!({"dtype": "<u2", "first_bit": 5, "last_bit": 4}),
        json!({"dtype": "int4", "last_bit": 4}),
        json!({"dtype": "<U4"}),
        json!({"padding_encoding": "middle"}),
    ] {
        assert!(from_config("packbits", &configuration, Input { item_bytes: 2 }).is_err());
    }
}
