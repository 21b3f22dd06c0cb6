//! Strings, bytes and arrays of any length: a count, and items after their lengths.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zarrix_codec::vlen;

fuzz_target!(|src: &[u8]| {
    let Ok(items) = vlen::parse(src) else { return };
    let seen: Vec<&[u8]> = items.iter().collect();
    assert_eq!(seen.len(), items.len());
    assert_eq!(seen.iter().map(|item| item.len()).sum::<usize>(), items.item_bytes());
    let text = seen.iter().all(|item| std::str::from_utf8(item).is_ok());
    assert_eq!(vlen::parse_utf8(src).is_ok(), text);
    let whole = seen.iter().all(|item| item.len() % 3 == 0);
    assert_eq!(vlen::parse_arrays(src, 3).is_ok(), whole);
    let mut again = Vec::new();
    vlen::write(seen.into_iter(), &mut again).expect("what was read can be written");
    assert_eq!(again, src);
});
