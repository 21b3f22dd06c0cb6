//! Bytes that numcodecs wrote; `fixtures/make.py` says what a record is.

use serde_json::Value;
use zarrix_codec::{Codec, EncodedSize, Input, Scratch, from_config};

use crate::common::ramp;

pub struct Record {
    pub description: Value,
    input: Vec<u8>,
    pub encoded: Vec<u8>,
    decoded: Vec<u8>,
}

impl Record {
    fn codec(&self) -> std::sync::Arc<dyn Codec> {
        let name = self.description["name"].as_str().unwrap();
        let input = Input { item_bytes: 1 };
        from_config(name, &self.description["configuration"], input).unwrap()
    }
}

pub fn parse(mut bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut part = || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (part, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        bytes = rest;
        Some(part.to_vec())
    };
    while let Some(description) = part() {
        let description: Value = serde_json::from_slice(&description).unwrap();
        let number = |key: &str, at: usize| description[key][at].as_u64().unwrap() as usize;
        let (mut input, mut encoded) = (part().unwrap(), part().unwrap());
        if description.get("ramp").is_some() {
            input = ramp(number("ramp", 0), number("ramp", 1));
        } else if description.get("fill").is_some() {
            input = vec![number("fill", 1) as u8; number("fill", 0)];
            encoded.splice(..0, input.iter().copied());
        }
        let decoded = part().filter(|part| !part.is_empty()).unwrap_or_else(|| input.clone());
        records.push(Record { description, input, encoded, decoded });
    }
    records
}

/// Equal bytes, or a message of bearable length.
fn assert_same(ours: &[u8], expected: &[u8], description: &Value) {
    let differs = (0..ours.len().min(expected.len())).find(|&i| ours[i] != expected[i]);
    if ours.len() != expected.len() || differs.is_some() {
        let from = differs.unwrap_or(0) & !7;
        let part = |bytes: &[u8]| format!("{:?}", bytes.iter().skip(from).take(16));
        panic!("{description} from byte {from}: {} expected {}", part(ours), part(expected));
    }
}

fn check_decodes(record: &Record, scratch: &mut Scratch) {
    let (codec, description) = (record.codec(), &record.description);
    let mut dst = vec![0xA5; record.decoded.len()];
    codec
        .decode_into(&record.encoded, &mut dst, scratch)
        .unwrap_or_else(|e| panic!("{description}: {e}"));
    assert_same(&dst, &record.decoded, description);
    let mut bounded = Vec::new();
    codec.decode_bounded(&record.encoded, dst.len(), &mut bounded, scratch).unwrap();
    assert_eq!(bounded, record.decoded, "{description}");
    let mut longer = vec![0; dst.len() + 1];
    assert!(codec.decode_into(&record.encoded, &mut longer, scratch).is_err(), "{description}");
    if let Some(shorter) = dst.len().checked_sub(1) {
        assert!(codec.decode_into(&record.encoded, &mut dst[..shorter], scratch).is_err());
        assert!(codec.decode_bounded(&record.encoded, shorter, &mut bounded, scratch).is_err());
    }
}

#[test]
fn what_numcodecs_compressed_decodes_and_what_we_compress_does_too() {
    let mut scratch = Scratch::default();
    let files: [&[u8]; 3] = [
        include_bytes!("../fixtures/blosc.bin"),
        include_bytes!("../fixtures/compressors.bin"),
        include_bytes!("../fixtures/pcodec.bin"),
    ];
    for record in files.into_iter().flat_map(parse) {
        check_decodes(&record, &mut scratch);
        let mut encoded = Vec::new();
        record.codec().encode(&record.input, &mut encoded, &mut scratch).unwrap();
        let EncodedSize::AtMost(bound) = record.codec().encoded_size(record.input.len()) else {
            panic!("a compressor has no exact size");
        };
        assert!(encoded.len() <= bound);
        check_decodes(&Record { encoded, ..record }, &mut scratch);
    }
}

#[test]
fn blosc_frames_are_the_bytes_that_numcodecs_writes() {
    let mut scratch = Scratch::default();
    let mut encoded = Vec::new();
    for record in parse(include_bytes!("../fixtures/blosc.bin")) {
        record.codec().encode(&record.input, &mut encoded, &mut scratch).unwrap();
        let cname = &record.description["configuration"]["cname"];
        // The bytes of the others depend on the release of the library that compresses.
        if cname == "blosclz" || encoded[2] & 0x02 != 0 {
            assert_eq!(encoded, record.encoded, "{}", record.description);
        } else {
            assert_eq!(encoded[..12], record.encoded[..12], "{}", record.description);
        }
    }
}

#[test]
fn filters_and_checksums_are_the_bytes_that_others_write() {
    let mut scratch = Scratch::default();
    let mut encoded = Vec::new();
    let files: [&[u8]; 3] = [
        include_bytes!("../fixtures/filters.bin"),
        include_bytes!("../fixtures/numbers.bin"),
        include_bytes!("../fixtures/cast.bin"),
    ];
    for record in files.into_iter().flat_map(parse) {
        let codec = record.codec();
        codec.encode(&record.input, &mut encoded, &mut scratch).unwrap();
        assert_same(&encoded, &record.encoded, &record.description);
        let EncodedSize::Exact(bytes) = codec.encoded_size(record.input.len()) else {
            panic!("a filter has an exact size");
        };
        assert_eq!(bytes, encoded.len());
        check_decodes(&record, &mut scratch);
    }
}
