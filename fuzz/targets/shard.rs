//! A stored shard: its index, at either end and with or without a checksum, shards in shards; read
//! as a whole, by ranges, and changed in part.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use zarrix_fuzz::Line;
use zarrix_store::{Durability, MemoryStore, Store};

const LENGTH: usize = 64;

fn layout(flags: u8) -> String {
    let index = if flags & 1 == 0 { "" } else { r#", {"name": "crc32c"}"# };
    let location = if flags & 2 == 0 { "end" } else { "start" };
    let codecs = [r#""#, r#", {"name": "crc32c"}"#, r#", {"name": "numcodecs.lz4"}"#]
        [flags as usize / 4 % 3];
    let shard = |length: usize, inner: &str| {
        format!(
            r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{length}],
                "codecs": [{inner}], "index_codecs": [{{"name": "bytes",
                "configuration": {{"endian": "little"}}}}{index}], "index_location": "{location}"}}}}"#
        )
    };
    let plain = format!(r#"{{"name": "bytes"}}{codecs}"#);
    let inner = if flags & 64 == 0 { shard(8, &plain) } else { shard(16, &shard(4, &plain)) };
    let outer = if flags & 128 == 0 { "" } else { r#", {"name": "crc32c"}"# };
    format!(
        r#"{{"shape": [{LENGTH}], "chunk_grid": [{LENGTH}], "item_bytes": 1, "fill_value": "07",
            "chunk_key_encoding": {{"name": "default"}}, "codecs": [{inner}{outer}],
            "metadata_key": "zarr.json", "write_empty_chunks": false}}"#
    )
}

fuzz_target!(|input: &[u8]| {
    let Some(([flags, at, count], stored)) = input.split_first_chunk() else { return };
    let store = Arc::new(MemoryStore::new());
    store.put("c/0", stored, Durability::Process).expect("memory takes it");
    let line = Line::new(store, &layout(*flags), LENGTH).expect("a layout of ours");
    let all = line.all().ok();
    line.check(all.as_deref(), usize::from(*at), usize::from(*count));
});
