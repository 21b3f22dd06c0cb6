//! What the codecs that compute refuse, and scale_offset against its definition.

use serde_json::{Value, json};
use zarrix_codec::{CodecError, Input, Scratch, from_config};

const INPUT: Input = Input { item_bytes: 1 };

fn encode(name: &str, configuration: &Value, src: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut encoded = Vec::new();
    let codec = from_config(name, configuration, INPUT)?;
    codec.encode(src, &mut encoded, &mut Scratch::default())?;
    Ok(encoded)
}

fn decode(name: &str, configuration: &Value, src: &[u8], bytes: usize) -> Result<Vec<u8>, String> {
    let mut decoded = vec![0; bytes];
    let codec = from_config(name, configuration, INPUT).map_err(|e| e.to_string())?;
    codec.decode_into(src, &mut decoded, &mut Scratch::default()).map_err(|e| e.to_string())?;
    Ok(decoded)
}

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn casts_that_lose_a_value_are_errors_that_say_which() {
    let cast = json!({"dtype": "<f8", "data_type": "uint8"});
    assert_eq!(encode("cast_value", &cast, &floats(&[0.0, 1.5, 254.5])).unwrap(), [0, 2, 254]);
    for (value, says) in [
        (256.0, "256 is out of range"),
        (-1.0, "-1 is out of range"),
        (1e40, "1e40 is out of range"),
        (f64::NAN, "NaN is not an integer"),
        (f64::INFINITY, "inf is not an integer"),
    ] {
        let error = encode("cast_value", &cast, &floats(&[1.0, value])).unwrap_err();
        assert!(matches!(error, CodecError::Encode { .. }));
        assert!(error.to_string().contains(says), "{error}");
    }
    let narrow = json!({"dtype": "|i1", "data_type": "<f8", "rounding": "towards-zero"});
    let error = decode("cast_value", &narrow, &floats(&[5.0, 1e3]), 2).unwrap_err();
    assert!(error.contains("1000 is out of range"), "{error}");
}

#[test]
fn casts_that_contradict_themselves_are_refused() {
    for wrong in [
        json!({"dtype": "<f8", "data_type": "<f4", "out_of_range": "wrap"}),
        json!({"dtype": "<f8", "data_type": "|u1", "rounding": "up"}),
        json!({"dtype": "<f8", "data_type": "|b1"}),
        json!({"dtype": "<f8"}),
        json!({"dtype": "<f8", "data_type": "|u1", "scalar_map": {"encode": [["NaN", 300]]}}),
        json!({"dtype": "<f8", "data_type": "|u1", "scalar_map": {"encode": [["NaN"]]}}),
        json!({"dtype": "<f8", "data_type": "|u1", "scalar_map": {"both": []}}),
    ] {
        assert!(from_config("cast_value", &wrong, INPUT).is_err(), "{wrong}");
    }
}

#[test]
fn scale_offset_of_integers_is_exact_or_an_error() {
    let codec = json!({"dtype": "|u1", "offset": 10, "scale": 3});
    assert_eq!(encode("scale_offset", &codec, &[10, 11, 95]).unwrap(), [0, 3, 255]);
    assert_eq!(decode("scale_offset", &codec, &[0, 3, 255], 3).unwrap(), [10, 11, 95]);
    assert!(encode("scale_offset", &codec, &[9]).is_err());
    assert!(encode("scale_offset", &codec, &[96]).is_err());
    let error = decode("scale_offset", &codec, &[3, 4], 2).unwrap_err();
    assert!(error.contains("element 1 is not a value that scale 3 gives"), "{error}");
    let wide = json!({"dtype": "<u8", "offset": u64::MAX, "scale": -1});
    assert!(from_config("scale_offset", &wide, INPUT).is_err());
    let wide = json!({"dtype": "<i8", "offset": i64::MIN, "scale": -1});
    let low = i64::MIN.to_le_bytes();
    assert_eq!(encode("scale_offset", &wide, &low).unwrap(), [0; 8]);
    assert!(encode("scale_offset", &wide, &i64::MAX.to_le_bytes()).is_err());
}

#[test]
fn scale_offset_of_floats_rounds_in_their_own_type() {
    let codec = json!({"dtype": "<f4", "offset": 5, "scale": 0.1});
    let src: Vec<f32> = (0..2000).map(|i| (i as f32).sin() * 1e3).collect();
    let bytes: Vec<u8> = src.iter().flat_map(|value| value.to_le_bytes()).collect();
    let expected: Vec<u8> =
        src.iter().flat_map(|value| ((value - 5.0) * 0.1_f32).to_le_bytes()).collect();
    assert_eq!(encode("scale_offset", &codec, &bytes).unwrap(), expected);
    let back: Vec<u8> = expected
        .as_chunks::<4>()
        .0
        .iter()
        .flat_map(|bytes| (f32::from_le_bytes(*bytes) / 0.1 + 5.0).to_le_bytes())
        .collect();
    assert_eq!(decode("scale_offset", &codec, &expected, bytes.len()).unwrap(), back);
}

#[test]
fn bitround_of_integers_keeps_bits_from_the_highest_that_is_set() {
    let codec = json!({"keepbits": 2, "dtype": "|u1"});
    let src = [0, 1, 2, 3, 5, 6, 7, 12, 13, 14, 100, 255];
    // Ties go to the even of the kept bits; what would not fit the type is cut to its highest.
    let expected = [0, 1, 2, 3, 4, 6, 8, 12, 12, 16, 96, 192];
    assert_eq!(encode("bitround", &codec, &src).unwrap(), expected);
    assert_eq!(decode("bitround", &codec, &expected, 12).unwrap(), expected);
    let codec = json!({"keepbits": 60, "dtype": "<f4"});
    assert_eq!(encode("bitround", &codec, &[1, 2, 3, 4]).unwrap(), [1, 2, 3, 4]);
    let all = json!({"keepbits": 24, "dtype": "<f4"});
    assert!(from_config("numcodecs.bitround", &all, INPUT).is_err());
}

#[test]
fn byteswap_reverses_every_word_of_every_element() {
    let codec = json!({"words": [2, 1, 4, 4]});
    let src: Vec<u8> = (0..22).collect();
    let swapped = [1, 0, 2, 6, 5, 4, 3, 10, 9, 8, 7, 12, 11, 13, 17, 16, 15, 14, 21, 20, 19, 18];
    assert_eq!(encode("zarrix.byteswap", &codec, &src).unwrap(), swapped);
    assert_eq!(decode("zarrix.byteswap", &codec, &swapped, 22).unwrap(), src);
    assert!(encode("zarrix.byteswap", &codec, &src[..21]).is_err());
    for word_bytes in [2, 3, 4, 8, 16] {
        let src: Vec<u8> = (0..48).collect();
        let expected: Vec<u8> =
            src.chunks(word_bytes).flat_map(|word| word.iter().rev()).copied().collect();
        let codec = json!({"word_bytes": word_bytes});
        assert_eq!(encode("zarrix.byteswap", &codec, &src).unwrap(), expected);
    }
}

#[test]
fn what_lzma_cannot_be_told_is_refused() {
    for wrong in [
        json!({"format": 0}),
        json!({"format": 3}),
        json!({"preset": 10}),
        json!({"check": 2}),
        json!({"format": 2, "check": 4}),
        json!({"preset": 1, "filters": [{"id": 33}]}),
        json!({"filters": [{"id": 34}]}),
        json!({"filters": [{"id": 3, "dist": 0}, {"id": 33}]}),
        json!({"filters": [{"id": 3}]}),
        json!({"format": 2, "filters": [{"id": 33}]}),
        json!({"format": 3, "filters": [{"id": 33, "lc": 5}]}),
        json!({"format": 3, "filters": [{"id": 33, "speed": 1}]}),
        json!({"format": 3, "filters": []}),
    ] {
        assert!(from_config("numcodecs.lzma", &wrong, INPUT).is_err(), "{wrong}");
    }
}

#[test]
fn a_dictionary_of_four_gigabytes_is_refused_and_not_allocated() {
    let mut alone = vec![0x5D, 0xFF, 0xFF, 0xFF, 0xFF];
    alone.extend([0xFF; 8]);
    alone.extend([0; 50]);
    let error = decode("numcodecs.lzma", &json!({"format": 2}), &alone, 10).unwrap_err();
    assert!(error.contains("a dictionary of more than 1 GiB"), "{error}");
}

#[test]
fn base64_is_one_spelling_only() {
    let codec = json!({});
    assert_eq!(encode("numcodecs.base64", &codec, b"any carnal").unwrap(), b"YW55IGNhcm5hbA==");
    for bad in ["YW55IGNhcm5hbA=", "YW55IGNh cm5hbA==", "====", "YW=5", "YQ==YQ==", "Y*=="] {
        for bytes in 0..12 {
            assert!(decode("numcodecs.base64", &codec, bad.as_bytes(), bytes).is_err(), "{bad}");
        }
    }
}
