//! A zip archive: where its directory is, its records, its members' headers and values.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use zarrix_store::{Durability, Edge, MemoryStore, Store, ZipStore, check_key};

fuzz_target!(|input: &[u8]| {
    let memory = Arc::new(MemoryStore::new());
    memory.put("z", input, Durability::Process).expect("memory takes it");
    let Ok(Some(zip)) = ZipStore::in_store(memory, "z") else { return };
    let (mut whole, mut part) = (Vec::new(), Vec::new());
    for key in zip.list_prefix("").expect("what was read is listed").into_iter().take(20) {
        assert!(check_key(&key).is_ok(), "{key:?} would lead elsewhere");
        let size = zip.size(&key).expect("it is listed").expect("it is there");
        if zip.get_into(&key, &mut whole).is_err() {
            continue;
        }
        assert_eq!(whole.len() as u64, size, "{key:?} is not as long as it says");
        let (begin, end) = (size / 3, size - size / 4);
        let ranges = [0..begin, begin..end];
        zip.get_ranges_into(&key, &ranges, &mut part).expect("a part of what can be read");
        assert_eq!(part, whole[..end as usize]);
        let edge = zip.get_edge_into(&key, Edge::Last(size - begin), &mut part);
        assert!(edge.expect("a part of what can be read").is_some());
        assert_eq!(part, whole[begin as usize..]);
    }
});
