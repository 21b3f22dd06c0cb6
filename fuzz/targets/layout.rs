//! The document that describes an array, with every codec's configuration, and a chunk read by it.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use zarrix_engine::{ArrayIO, AxisSelection, Layout, Target};
use zarrix_store::{Durability, MemoryStore, Store};

/// A document that asks for more than this is parsed and not read.
const MOST_BYTES: u64 = 1 << 16;

fuzz_target!(|input: &[u8]| {
    // A document, and behind a NUL what is stored as its first chunk.
    let cut = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let Ok(document) = std::str::from_utf8(&input[..cut]) else { return };
    let Ok(layout) = Layout::parse(document, &[], None) else { return };
    let parsed: serde_json::Value = serde_json::from_str(document).expect("it was JSON before");
    // A length, or of chunks of several lengths the longest.
    let number = |value: &serde_json::Value| {
        let runs = value.as_array().into_iter().flatten();
        value.as_u64().or_else(|| runs.filter_map(|run| run[0].as_u64()).max())
    };
    let numbers = |key: &str| -> Vec<u64> {
        let list = parsed[key].as_array().into_iter().flatten();
        list.map(|value| number(value).expect("it was before")).collect()
    };
    let item = layout.item_bytes();
    let bytes = |shape: &[u64]| shape.iter().fold(item as u64, |n, axis| n.saturating_mul(*axis));
    let (shape, chunk) = (numbers("shape"), numbers("chunk_grid"));
    if layout.objects().is_some() || bytes(&shape).max(bytes(&chunk)) > MOST_BYTES {
        return;
    }
    zarrix_engine::set_threads(1);
    let store = Arc::new(MemoryStore::new());
    let zeros = vec!["0"; shape.len()];
    for key in [zeros.join("."), zeros.join("/"), format!("c/{}", zeros.join("/"))] {
        if let Some(stored) = input.get(cut + 1..) {
            // A key that cannot be (no axes) is refused.
            let _ = store.put(&key, stored, Durability::Process);
        }
    }
    let io = ArrayIO::new(store, "", layout);
    let lengths: Vec<usize> = shape.iter().map(|axis| *axis as usize).collect();
    let mut strides = vec![0; shape.len()];
    let mut stride = item as isize;
    for (axis, length) in lengths.iter().enumerate().rev() {
        strides[axis] = stride;
        stride *= *length as isize;
    }
    let mut out = vec![0; bytes(&shape) as usize];
    // SAFETY: `out` has room for all elements, and nobody else has it.
    let target = unsafe { Target::new(out.as_mut_ptr(), &lengths, &strides) };
    let all = |length: &u64| AxisSelection::Range { start: 0, step: 1, count: *length };
    let selection: Vec<AxisSelection> = shape.iter().map(all).collect();
    let _ = io.read(&selection, target, &|| false);
});
