//! Keys: their grammar, and the coordinates of chunks in those that a store lists.
#![no_main]

use std::path::{Component, Path};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use zarrix_engine::{ArrayIO, Layout};
use zarrix_store::{Durability, MemoryStore, Store, check_key, check_prefix};

fn layout(flags: u8) -> String {
    let name = if flags & 1 == 0 { "v2" } else { "default" };
    let separator = if flags & 2 == 0 { "." } else { "/" };
    let shape = ["[]", "[9]", "[9, 18446744073709551615]", "[9, 9, 9]"][usize::from(flags) / 4 % 4];
    let chunk = ["[]", "[2]", "[2, 1]", "[2, 2, 9]"][usize::from(flags) / 4 % 4];
    format!(
        r#"{{"shape": {shape}, "chunk_grid": {chunk}, "item_bytes": 1, "fill_value": "00",
            "chunk_key_encoding": {{"name": "{name}", "configuration": {{"separator": "{separator}"}}}},
            "codecs": [], "metadata_key": "zarr.json", "write_empty_chunks": true}}"#
    )
}

fuzz_target!(|input: &[u8]| {
    let Some((flags, text)) = input.split_first() else { return };
    let Ok(key) = std::str::from_utf8(text) else { return };
    let allowed = check_key(key).is_ok();
    assert_eq!(check_prefix(key).is_ok(), allowed || key.is_empty());
    if !allowed {
        return;
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    assert!(Path::new(key).components().all(plain), "it would lead elsewhere");
    assert!(!key.contains(['\\', '\0']));
    let store = Arc::new(MemoryStore::new());
    store.put(key, b"7", Durability::Process).expect("an allowed key");
    let io = ArrayIO::new(
        store,
        "",
        Layout::parse(&layout(*flags), &[], None).expect("a layout of ours"),
    );
    let found = io.stored_chunks().expect("memory does not fail");
    assert!(found.len() <= 1);
    for (named, coords) in found {
        assert_eq!(named, key);
        let text: Vec<String> = coords.iter().map(u64::to_string).collect();
        let parts: Vec<&str> = key.split(['/', '.']).filter(|part| *part != "c").collect();
        assert!(coords.is_empty() || parts == text, "{key:?} is not {coords:?}");
    }
});
