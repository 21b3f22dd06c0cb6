//! The strategy of a read, by layout, store and selection.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::Arc;

use zarrix_engine::{Along, ArrayIO, AxisSelection, Layout, set_chunk_cache_bytes, set_threads};
use zarrix_store::testing::CountingStore;
use zarrix_store::{MemoryStore, Store};

const PLAIN: &str = r#"{"name": "bytes"}"#;
const BLOSC: &str = r#"{"name": "bytes"}, {"name": "blosc", "configuration": {"cname": "lz4",
    "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}"#;
const GZIP: &str = r#"{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}"#;
const SHARD: &str = r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [64, 64],
    "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes"}, {"name": "crc32c"}]}}"#;

fn array(store: &Arc<dyn Store>, chunk: u64, codecs: &str) -> ArrayIO {
    let document = format!(
        r#"{{"shape": [4096, 4096], "chunk_grid": [{chunk}, {chunk}], "item_bytes": 4,
            "fill_value": null, "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{codecs}],
            "metadata_key": "zarr.json", "write_empty_chunks": false}}"#
    );
    ArrayIO::new(Arc::clone(store), "", Layout::parse(&document, &[], None).unwrap())
}

fn square(start: u64, count: u64) -> [AxisSelection; 2] {
    let range = AxisSelection::Range { start, step: 1, count };
    [range.clone(), range]
}

/// One test, because the number of threads and the cache belong to the process.
#[test]
fn a_strategy_follows_from_layout_store_and_selection() {
    set_threads(4);
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let word = |chunk, codecs, selection: &[AxisSelection]| {
        array(&memory, chunk, codecs).strategy_of(selection).unwrap()
    };
    assert_eq!(word(512, GZIP, &square(0, 4096)), "whole chunks");
    assert_eq!(word(512, BLOSC, &square(10, 20)), "byte ranges");
    assert_eq!(word(64, BLOSC, &square(10, 20)), "whole chunks");
    assert_eq!(word(512, PLAIN, &square(0, 100)), "byte ranges");
    assert_eq!(word(512, PLAIN, &square(0, 1024)), "byte ranges");
    // A few large chunks, which all threads share.
    assert_eq!(word(2048, PLAIN, &square(0, 1024)), "interleaved");
    assert_eq!(word(512, SHARD, &square(10, 20)), "shard ranges");
    assert_eq!(word(512, SHARD, &square(0, 1024)), "parallel shards");
    assert_eq!(word(512, SHARD, &square(0, 4096)), "whole chunks");
    assert_eq!(word(512, SHARD, &square(0, 0)), "nothing");
    assert!(array(&memory, 512, PLAIN).strategy_of(&square(0, 5000)).is_err());

    let rows = [3, 700];
    let boxes = [Along::Each(&rows), Along::Shared(AxisSelection::Index(5))];
    assert_eq!(array(&memory, 512, GZIP).strategy_of_boxes(&boxes, 2).unwrap(), "whole chunks");

    let remote: Arc<dyn Store> = Arc::new(CountingStore::new(Arc::clone(&memory), false));
    assert_eq!(array(&remote, 512, SHARD).strategy_of(&square(0, 9)).unwrap(), "batched");

    set_chunk_cache_bytes(1 << 20);
    assert_eq!(word(512, GZIP, &square(0, 100)), "cached chunks");
    assert_eq!(word(512, PLAIN, &square(0, 100)), "byte ranges");
    assert_eq!(word(512, SHARD, &square(0, 20)), "shard ranges");
}
