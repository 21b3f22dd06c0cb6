//! Chunks of which only parts are read from a file: Blosc frames by their blocks, plain bytes.
#![no_main]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use zarrix_fuzz::Line;
use zarrix_store::{LocalStore, MemoryStore, Store};

/// More than what is read as a whole in any case.
const LENGTH: usize = 70_000;

/// A folder in memory, one for each process that fuzzes.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from(format!("/dev/shm/zarrix-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder in memory");
    folder
});

fn layout(codecs: &str) -> String {
    format!(
        r#"{{"shape": [{LENGTH}], "chunk_grid": [{LENGTH}], "item_bytes": 1, "fill_value": "07",
            "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{{"name": "bytes"}}{codecs}],
            "metadata_key": ".zarray", "write_empty_chunks": true}}"#
    )
}

fuzz_target!(|input: &[u8]| {
    let Some(([flags, a, b, c, d], stored)) = input.split_first_chunk() else { return };
    let codecs = if flags & 1 == 0 { r#", {"name": "blosc"}"# } else { "" };
    let document = layout(codecs);
    std::fs::write(FOLDER.join("0"), stored).expect("a file in memory");
    let memory = Arc::new(MemoryStore::new());
    memory.put("0", stored, zarrix_store::Durability::Process).expect("memory takes it");
    let local = Arc::new(LocalStore::new(&*FOLDER));
    let whole = Line::new(memory, &document, LENGTH).expect("a layout of ours").all().ok();
    let line = Line::new(local, &document, LENGTH).expect("a layout of ours");
    let pair = |low: &u8, high: &u8| usize::from(u16::from_le_bytes([*low, *high]));
    line.check(whole.as_deref(), pair(a, b), pair(c, d));
});
