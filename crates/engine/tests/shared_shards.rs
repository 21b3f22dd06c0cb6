//! With few shards, all threads read them: same elements, each inner chunk decoded once, one error.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use zarrix_codec::{Codec, CodecError, EncodedSize, Scratch};
use zarrix_engine::{ArrayIO, AxisSelection, Layout, Source, Target};
use zarrix_store::{Durability, MemoryStore, Store};

const GO_ON: zarrix_engine::Interrupt<'static> = &|| false;
const SIDE: usize = 1024;
const INNER: usize = 64;

/// The identity codec; counts the decoded chunks, and the largest number of concurrent threads.
#[derive(Debug, Default)]
struct Watching {
    decoded: AtomicUsize,
    working: AtomicUsize,
    most: AtomicUsize,
    given_up: AtomicBool,
}

impl Watching {
    /// Blocks the first thread until a second one decodes concurrently, so that the test also works
    /// on the busiest machine. After a minute it gives up.
    fn wait_for_another(&self) {
        let due = Instant::now() + Duration::from_secs(60);
        while self.most.load(Ordering::SeqCst) < 2 && !self.given_up.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
            self.given_up.store(Instant::now() > due, Ordering::SeqCst);
        }
    }
}

impl Codec for Watching {
    fn name(&self) -> &str {
        "watching"
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::AtMost(decoded_bytes)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _: &mut Scratch) -> Result<(), CodecError> {
        dst.clear();
        dst.extend_from_slice(src);
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<(), CodecError> {
        let working = self.working.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(working, Ordering::SeqCst);
        self.decoded.fetch_add(1, Ordering::SeqCst);
        self.wait_for_another();
        if src.len() != dst.len() {
            return Err(CodecError::corrupt("watching", "another length"));
        }
        dst.copy_from_slice(src);
        self.working.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        _: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), CodecError> {
        dst.resize(src.len(), 0);
        self.decode_into(src, dst, scratch)
    }
}

struct Sharded {
    array: ArrayIO,
    store: Arc<MemoryStore>,
    codec: Arc<Watching>,
    values: Vec<u8>,
}

/// A square of bytes in shards of a side, their inner chunks in inner shards if `nested`.
fn sharded(shard: usize, nested: bool) -> Sharded {
    zarrix_engine::set_threads(4);
    let of = |side: usize, codecs: &str| {
        format!(
            r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{side}, {side}],
                "codecs": [{codecs}],
                "index_codecs": [{{"name": "bytes"}}, {{"name": "crc32c"}}]}}}}"#
        )
    };
    let watched = r#"{"name": "zarrix.foreign", "configuration": {"slot": 0}}"#;
    let inner = of(INNER, &format!(r#"{{"name": "bytes"}}, {watched}"#));
    let codecs = if nested { of(8 * INNER, &inner) } else { inner };
    let layout = format!(
        r#"{{"shape": [{SIDE}, {SIDE}], "chunk_grid": [{shard}, {shard}], "item_bytes": 1,
            "fill_value": "07", "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{codecs}],
            "metadata_key": "zarr.json", "write_empty_chunks": false}}"#
    );
    let codec = Arc::new(Watching::default());
    let layout = Layout::parse(&layout, &[codec.clone() as Arc<dyn Codec>], None).unwrap();
    let store = Arc::new(MemoryStore::new());
    let array = ArrayIO::new(store.clone(), "", layout);
    // Every third row of inner chunks holds nothing but fill, and is not stored.
    let values: Vec<u8> = (0..SIDE * SIDE)
        .map(|i| if i / SIDE / INNER % 3 == 2 { 7 } else { (i * 31 % 251) as u8 })
        .collect();
    let (shape, strides) = ([SIDE, SIDE], [SIDE as isize, 1]);
    // SAFETY: the vector has as many bytes as the shape says, and outlives the call.
    let source = unsafe { Source::new(values.as_ptr(), &shape, &strides) };
    array.write(&square(0, SIDE), source, Durability::Process, GO_ON).unwrap();
    Sharded { array, store, codec, values }
}

fn square(start: usize, side: usize) -> [AxisSelection; 2] {
    let range = AxisSelection::Range { start: start as u64, step: 1, count: side as u64 };
    [range.clone(), range]
}

impl Sharded {
    fn read(&self, start: usize, side: usize) -> zarrix_engine::Result<Vec<u8>> {
        let mut out = vec![9; side * side];
        let (shape, strides) = ([side, side], [side as isize, 1]);
        // SAFETY: the vector has as many bytes as the shape says, and outlives the call.
        let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
        self.array.read(&square(start, side), target, GO_ON).map(|()| out)
    }

    fn expected(&self, start: usize, side: usize) -> Vec<u8> {
        let rows = self.values.chunks(SIDE).skip(start).take(side);
        rows.flat_map(|row| row[start..start + side].to_vec()).collect()
    }
}

#[test]
fn inner_chunks_are_decoded_once_and_by_several_threads() {
    for (shard, nested) in [(SIDE, false), (SIDE / 2, false), (SIDE, true)] {
        let z = sharded(shard, nested);
        for (start, side) in [(0, SIDE), (100, 700), (INNER, 8 * INNER)] {
            z.codec.decoded.store(0, Ordering::SeqCst);
            assert!(z.read(start, side).unwrap() == z.expected(start, side), "{shard} {nested}");
            let (first, last) = (start / INNER, (start + side - 1) / INNER);
            let rows = (first..=last).filter(|row| row % 3 != 2).count();
            assert_eq!(z.codec.decoded.load(Ordering::SeqCst), rows * (last - first + 1));
        }
        assert!(z.codec.most.load(Ordering::SeqCst) > 1, "one thread read everything");
    }
}

#[test]
fn what_is_damaged_is_named_and_what_is_missing_is_fill() {
    let z = sharded(SIDE, false);
    let mut stored = Vec::new();
    z.store.get_into("0.0", &mut stored).unwrap().unwrap();
    stored.truncate(stored.len() / 2);
    z.store.put("0.0", &stored, Durability::Process).unwrap();
    let problem = z.read(100, 700).unwrap_err().to_string();
    assert!(problem.contains("0.0"), "{problem}");
    z.store.delete("0.0", Durability::Process).unwrap();
    assert!(z.read(100, 700).unwrap().iter().all(|byte| *byte == 7));
}

#[test]
fn a_thin_selection_through_large_chunks_is_read_by_several_threads() {
    // One column of a shard: 16 inner chunks of 4 KiB for 1 KiB of result, and too little work for
    // two threads. One column of each of 16 chunks of 64 KiB: enough.
    let column = |array: &ArrayIO| {
        let mut out = vec![9; SIDE];
        let (shape, strides) = ([SIDE, 1], [1, 1]);
        // SAFETY: the vector has as many bytes as the shape says, and outlives the call.
        let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
        let rows = AxisSelection::Range { start: 0, step: 1, count: SIDE as u64 };
        let one = AxisSelection::Range { start: 5, step: 1, count: 1 };
        array.read(&[rows, one], target, GO_ON).map(|()| out)
    };
    let little = sharded(SIDE, false);
    little.codec.given_up.store(true, Ordering::SeqCst);
    let expected: Vec<u8> = little.values.chunks(SIDE).map(|row| row[5]).collect();
    assert!(column(&little.array).unwrap() == expected);
    assert_eq!(little.codec.most.load(Ordering::SeqCst), 1, "the pool had too little to do");

    let (codec, layout) = (
        Arc::new(Watching::default()),
        r#"{"shape": [1024, 1024],
        "chunk_grid": [64, 1024], "item_bytes": 1, "fill_value": "07",
        "chunk_key_encoding": {"name": "v2"}, "metadata_key": ".zarray",
        "write_empty_chunks": false, "codecs": [{"name": "bytes"},
        {"name": "zarrix.foreign", "configuration": {"slot": 0}}]}"#,
    );
    let layout = Layout::parse(layout, &[codec.clone() as Arc<dyn Codec>], None).unwrap();
    let array = ArrayIO::new(Arc::new(MemoryStore::new()), "", layout);
    let (shape, strides) = ([SIDE, SIDE], [SIDE as isize, 1]);
    // SAFETY: the vector has as many bytes as the shape says, and outlives the call.
    let source = unsafe { Source::new(little.values.as_ptr(), &shape, &strides) };
    array.write(&square(0, SIDE), source, Durability::Process, GO_ON).unwrap();
    assert!(column(&array).unwrap() == expected);
    assert!(codec.most.load(Ordering::SeqCst) > 1, "one thread read everything");
}
