//! Blocks of N5: whole ones, those that other writers leave short, and lies in headers.

use serde_json::{Value, json};
use zarrix_codec::{CodecError, Input, Scratch, from_config};

use crate::common::Noise;

fn configuration(compressor: Option<&str>) -> Value {
    let codecs: Vec<Value> = compressor.iter().map(|name| json!({ "name": name })).collect();
    json!({"shape": [4, 3, 2], "fill_value": [7, 7], "codecs": codecs})
}

fn block(mode: u16, shape: &[u32], elements: &[u16]) -> Vec<u8> {
    let mut bytes = [mode.to_be_bytes(), (shape.len() as u16).to_be_bytes()].concat();
    bytes.extend(shape.iter().flat_map(|n| n.to_be_bytes()));
    bytes.extend(elements.iter().flat_map(|n| n.to_le_bytes()));
    bytes
}

fn decode(stored: &[u8]) -> Result<Vec<u16>, CodecError> {
    let codec = from_config("n5_default", &configuration(None), Input { item_bytes: 2 }).unwrap();
    let mut decoded = vec![0; 48];
    codec.decode_into(stored, &mut decoded, &mut Scratch::default())?;
    Ok(decoded.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect())
}

#[test]
fn a_block_is_its_header_and_what_its_codecs_give() {
    let elements: Vec<u16> = (0..24).collect();
    let data: Vec<u8> = elements.iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut scratch = Scratch::default();
    for compressor in [None, Some("gzip"), Some("zstd")] {
        let codec =
            from_config("n5_default", &configuration(compressor), Input { item_bytes: 2 }).unwrap();
        let mut stored = Vec::new();
        codec.encode(&data, &mut stored, &mut scratch).unwrap();
        let whole = block(0, &[4, 3, 2], &elements);
        assert_eq!(stored[..16], whole[..16]);
        assert_eq!(compressor.is_none(), stored == whole);
        let mut decoded = vec![0; 48];
        codec.decode_into(&stored, &mut decoded, &mut scratch).unwrap();
        assert_eq!(decoded, data);
    }
}

#[test]
fn what_a_short_block_lacks_is_filled() {
    let short: Vec<u16> = (1..=6).collect();
    let got = decode(&block(0, &[3, 2, 1], &short)).unwrap();
    let mut want = vec![0x0707; 24];
    want[..3].copy_from_slice(&[1, 2, 3]);
    want[4..7].copy_from_slice(&[4, 5, 6]);
    assert_eq!(got, want);
    assert_eq!(decode(&block(0, &[4, 0, 2], &[])).unwrap(), vec![0x0707; 24]);
}

#[test]
fn what_a_longer_axis_has_too_much_is_left_out() {
    let long: Vec<u16> = (0..12).collect();
    let got = decode(&block(0, &[6, 2, 1], &long)).unwrap();
    assert_eq!(got[..8], [0, 1, 2, 3, 6, 7, 8, 9]);
    assert_eq!(got[8..], [0x0707; 16]);
}

#[test]
fn a_header_that_lies_is_an_error_and_no_allocation() {
    let elements: Vec<u16> = (0..24).collect();
    let whole = block(0, &[4, 3, 2], &elements);
    for stored in [
        block(1, &[4, 3, 2], &elements),
        block(0, &[4, 3], &elements),
        block(0, &[u32::MAX, u32::MAX, u32::MAX], &elements),
        block(0, &[5, 3, 2], &elements),
        block(0, &[4, 3, 1], &elements),
        whole[..15].to_vec(),
        whole[..whole.len() - 1].to_vec(),
        Vec::new(),
    ] {
        assert!(decode(&stored).is_err(), "{:?}", &stored[..stored.len().min(16)]);
    }
}

#[test]
fn flipped_and_cut_blocks_give_an_error_or_the_declared_bytes() {
    let mut scratch = Scratch::default();
    let mut noise = Noise(9);
    let codec =
        from_config("n5_default", &configuration(Some("gzip")), Input { item_bytes: 2 }).unwrap();
    let mut stored = Vec::new();
    codec.encode(&noise.bytes(48), &mut stored, &mut scratch).unwrap();
    let mut decoded = vec![0; 48];
    for length in 0..stored.len() {
        assert!(codec.decode_into(&stored[..length], &mut decoded, &mut scratch).is_err());
    }
    let mut refused = 0;
    for _ in 0..2000 {
        let mut bad = stored.clone();
        let at = noise.below(bad.len());
        bad[at] ^= 1 << noise.below(8);
        refused += usize::from(codec.decode_into(&bad, &mut decoded, &mut scratch).is_err());
        let mut bounded = Vec::new();
        assert!(codec.decode_bounded(&bad, 47, &mut bounded, &mut scratch).is_err());
    }
    assert!(refused > 1500, "{refused}");
}

#[test]
fn a_configuration_without_a_block_is_refused() {
    for wrong in [
        json!({"shape": [4, 0]}),
        json!({"shape": [-1]}),
        json!({"shape": [4_294_967_295_u32, 4_294_967_295_u32, 4_294_967_295_u32]}),
        json!({"shape": [4], "codecs": [{"name": "n5_default", "configuration": {"shape": [4]}}]}),
        json!({"shape": [4], "codecs": [{"name": "no such"}]}),
        json!({"shape": [4], "fill_value": []}),
    ] {
        let made = from_config("n5_default", &wrong, Input { item_bytes: 2 });
        assert!(matches!(made, Err(CodecError::Configuration { .. })), "{wrong}");
    }
}
