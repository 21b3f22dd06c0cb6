//! What the engine adds to the codec, with a store in memory: `cargo bench --bench place`.
//!
//! Chunks without a codec are scattered into buffers of some strides, beside one `memcpy` of as
//! many bytes; one inner chunk is found through the index of a shard of more and more of them.
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

use std::sync::Arc;

use divan::Bencher;
use divan::counter::BytesCount;
use zarrix_engine::{ArrayIO, AxisSelection, Interrupt, Layout, Source, Target};
use zarrix_store::{Durability, MemoryStore};

const GO_ON: Interrupt<'static> = &|| false;
const SIDE: usize = 512;
const ITEM: usize = 4;
const BYTES: usize = SIDE * SIDE * ITEM;

fn main() {
    zarrix_engine::set_threads(1);
    divan::main();
}

fn array(chunk: usize, codecs: &str) -> ArrayIO {
    let layout = format!(
        r#"{{"shape": [{SIDE}, {SIDE}], "chunk_grid": [{chunk}, {chunk}], "item_bytes": {ITEM},
            "fill_value": null, "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{codecs}],
            "metadata_key": ".zarray", "write_empty_chunks": true}}"#
    );
    let array =
        ArrayIO::new(Arc::new(MemoryStore::new()), "", Layout::parse(&layout, &[], None).unwrap());
    let values: Vec<u8> = (0..BYTES).map(|i| (i % 251) as u8).collect();
    let (shape, strides) = ([SIDE, SIDE], [(SIDE * ITEM) as isize, ITEM as isize]);
    // SAFETY: the vector has as many elements as the shape says, and outlives the call.
    let source = unsafe { Source::new(values.as_ptr(), &shape, &strides) };
    array.write(&square(0, SIDE), source, Durability::Process, GO_ON).unwrap();
    array
}

fn square(start: u64, side: usize) -> [AxisSelection; 2] {
    let range = AxisSelection::Range { start, step: 1, count: side as u64 };
    [range.clone(), range]
}

/// Strides of the buffer: as the chunks, transposed, every third element, backwards.
#[divan::bench(args = ["straight", "transposed", "apart", "backwards"])]
fn scatter(bencher: Bencher<'_, '_>, strides: &str) {
    let array = array(128, r#"{"name": "bytes"}"#);
    let item = ITEM as isize;
    let row = SIDE as isize * item;
    let mut buffer = vec![0u8; 3 * BYTES];
    let (first, strides) = match strides {
        "transposed" => (0, [item, row]),
        "apart" => (0, [3 * row, 3 * item]),
        "backwards" => (BYTES - ITEM, [-row, -item]),
        _ => (0, [row, item]),
    };
    let selection = square(0, SIDE);
    bencher.counter(BytesCount::new(BYTES)).bench_local(|| {
        // SAFETY: every element that the strides reach lies in the buffer.
        let base = unsafe { buffer.as_mut_ptr().add(first) };
        // SAFETY: as above; the buffer outlives the call.
        let target = unsafe { Target::new(base, &[SIDE, SIDE], &strides) };
        array.read(&selection, target, GO_ON).unwrap();
    });
}

#[divan::bench]
fn memcpy(bencher: Bencher<'_, '_>) {
    let (source, mut buffer) = (vec![1u8; BYTES], vec![0u8; BYTES]);
    bencher
        .counter(BytesCount::new(BYTES))
        .bench_local(|| divan::black_box(&mut buffer).copy_from_slice(divan::black_box(&source)));
}

/// One inner chunk of 64 x 64, 16 x 16, 8 x 8 and 4 x 4 elements: 64 to 16 384 entries an index.
#[divan::bench(args = [64, 16, 8, 4])]
fn one_of_a_shard(bencher: Bencher<'_, '_>, inner: usize) {
    let shard = format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{inner}, {inner}],
            "codecs": [{{"name": "bytes"}}],
            "index_codecs": [{{"name": "bytes"}}, {{"name": "crc32c"}}]}}}}"#
    );
    let array = array(SIDE, &shard);
    let mut buffer = vec![0u8; inner * inner * ITEM];
    let selection = square(inner as u64, inner);
    bencher.bench_local(|| {
        let (shape, strides) = ([inner, inner], [(inner * ITEM) as isize, ITEM as isize]);
        // SAFETY: the buffer is one inner chunk, and outlives the call.
        let target = unsafe { Target::new(buffer.as_mut_ptr(), &shape, &strides) };
        array.read(&selection, target, GO_ON).unwrap();
    });
}
