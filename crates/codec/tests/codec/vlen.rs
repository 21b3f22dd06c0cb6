//! Items of any length: written by numcodecs, written by us, and damaged.

use zarrix_codec::vlen::{parse, parse_arrays, parse_utf8, write};

use crate::common::Noise;
use crate::fixtures;

fn chunk(count: u32, items: &[(u32, &[u8])]) -> Vec<u8> {
    let mut bytes = count.to_le_bytes().to_vec();
    for (length, item) in items {
        bytes.extend(length.to_le_bytes());
        bytes.extend(*item);
    }
    bytes
}

#[test]
fn chunks_of_numcodecs_parse_to_their_items_and_are_written_alike() {
    let records = fixtures::parse(include_bytes!("../fixtures/vlen.bin"));
    assert_eq!(records.len(), 3);
    for record in records {
        let items: Vec<Vec<u8>> =
            serde_json::from_value(record.description["items"].clone()).unwrap();
        let parsed = match record.description["name"].as_str().unwrap() {
            "vlen-utf8" => parse_utf8(&record.encoded),
            "vlen-array" => parse_arrays(&record.encoded, 2),
            _ => parse(&record.encoded),
        }
        .unwrap();
        assert_eq!(parsed.len(), items.len());
        assert_eq!(parsed.item_bytes(), items.iter().map(Vec::len).sum::<usize>());
        assert!(parsed.iter().eq(&items), "{}", record.description);
        let mut written = Vec::new();
        write(items.iter().map(Vec::as_slice), &mut written).unwrap();
        assert_eq!(written, record.encoded);
    }
}

#[test]
fn a_chunk_without_items_is_its_count() {
    assert!(parse(&[0, 0, 0, 0]).unwrap().is_empty());
    assert!(parse(&[]).is_err());
    assert!(parse(&[0, 0, 0]).is_err());
}

#[test]
fn counts_and_lengths_beyond_the_bytes_are_errors() {
    for (bad, says) in [
        (chunk(2, &[(1, b"a")]), "2 items"),
        (chunk(u32::MAX, &[(1, b"a")]), "4294967295 items"),
        (chunk(1, &[(2, b"a")]), "item 0 of 1"),
        (chunk(2, &[(0, b""), (u32::MAX, b"abc")]), "item 1 of 2"),
        (chunk(1, &[(1, b"a"), (1, b"b")]), "5 bytes after"),
        (chunk(0, &[(1, b"a")]), "5 bytes after"),
    ] {
        let error = parse(&bad).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn text_that_is_no_utf8_is_named_by_its_item() {
    let good = chunk(3, &[(1, b"a"), (2, "ä".as_bytes()), (0, b"")]);
    assert_eq!(parse_utf8(&good).unwrap().len(), 3);
    let bad = chunk(3, &[(1, b"a"), (2, b"b\xFF"), (1, b"c")]);
    let error = parse_utf8(&bad).unwrap_err().to_string();
    assert!(error.contains("item 1 is not UTF-8 from byte 1 on"), "{error}");
    assert_eq!(parse(&bad).unwrap().len(), 3);
    // A letter that two items share is in neither.
    assert!(parse_utf8(&chunk(2, &[(1, b"\xC3"), (1, b"\xA4")])).is_err());
}

#[test]
fn arrays_of_broken_elements_are_named_by_their_item() {
    let bad = chunk(2, &[(4, b"abcd"), (3, b"abc")]);
    let error = parse_arrays(&bad, 2).unwrap_err().to_string();
    assert!(error.contains("item 1 is not a whole number of 2-byte elements"), "{error}");
}

#[test]
fn damaged_chunks_give_an_error_or_items_that_lie_in_them() {
    let mut noise = Noise(3);
    let items: Vec<Vec<u8>> = (0..50).map(|_| vec![b'x'; noise.below(9)]).collect();
    let mut good = Vec::new();
    write(items.iter().map(Vec::as_slice), &mut good).unwrap();
    for _ in 0..2000 {
        let mut bad = good.clone();
        let at = noise.below(bad.len());
        bad[at] ^= 1 << noise.below(8);
        bad.truncate(bad.len() - noise.below(3) * noise.below(9));
        if let Ok(parsed) = parse(&bad) {
            assert_eq!(parsed.iter().count(), parsed.len());
            assert_eq!(parsed.iter().map(<[u8]>::len).sum::<usize>(), parsed.item_bytes());
            let _ = parsed.check_utf8();
        }
    }
}
