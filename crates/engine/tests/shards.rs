//! The calls of the store and the codecs that reads and writes of shards make.
//!
//! A counting store and a counting codec check the design's promises about shards as numbers.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod marking;

use std::ops::Range;
use std::sync::Arc;

use marking::{Marking, range};
use zarrix_codec::Codec;
use zarrix_engine::{ArrayIO, AxisSelection, Layout};
use zarrix_store::testing::{Call, CountingStore};
use zarrix_store::{Edge, MemoryStore, Store};

/// An array of bytes in shards, with its counters.
struct Sharded {
    array: ArrayIO,
    store: Arc<CountingStore>,
    codec: Arc<Marking>,
}

/// The codec of shards of inner chunks of `chunk` elements, encoded by `inner`.
fn shard(chunk: usize, at: &str, inner: &str) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{chunk}],
            "codecs": [{inner}], "index_location": "{at}",
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}},
                             {{"name": "crc32c"}}]}}}}"#
    )
}

const MARKED: &str =
    r#"{"name": "bytes"}, {"name": "zarrix.foreign", "configuration": {"slot": 0}}"#;

impl Sharded {
    fn new(length: u64, shard_length: u64, codecs: &str, inline: bool) -> Self {
        let store = Arc::new(CountingStore::new(Arc::new(MemoryStore::new()), inline));
        let codec = Arc::new(Marking::default());
        let document = format!(
            r#"{{"shape": [{length}], "chunk_grid": [{shard_length}], "item_bytes": 1,
                "fill_value": null, "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{codecs}],
                "metadata_key": "zarr.json", "write_empty_chunks": false}}"#
        );
        let layout = Layout::parse(&document, &[codec.clone() as Arc<dyn Codec>], None).unwrap();
        let array = ArrayIO::new(store.clone(), "", layout);
        Self { array, store, codec }
    }

    fn write(&self, start: u64, value: &[u8]) {
        marking::write(&self.array, start, value).unwrap();
    }

    fn read(&self, selection: &[AxisSelection], count: usize) -> Vec<u8> {
        marking::read(&self.array, selection, count).unwrap()
    }

    fn stored(&self, key: &str) -> Vec<u8> {
        let mut value = Vec::new();
        self.store.get_into(key, &mut value).unwrap().unwrap();
        self.store.take();
        value
    }

    fn forget(&self) {
        self.store.take();
        self.codec.take();
    }
}

/// The entries of an index: the range of each inner chunk in `shard`.
fn entries(shard: &[u8], count: usize, at: &str) -> Vec<Option<Range<usize>>> {
    let begin = if at == "start" { 0 } else { shard.len() - count * 16 - 4 };
    let number = |at: usize| u64::from_le_bytes(shard[at..at + 8].try_into().unwrap());
    (0..count)
        .map(|entry| {
            let at = begin + entry * 16;
            let (offset, length) = (number(at), number(at + 8));
            (offset != u64::MAX).then(|| offset as usize..(offset + length) as usize)
        })
        .collect()
}

/// Numbers without the fill value.
fn some(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i % 250 + 1) as u8).collect()
}

fn places() -> impl Iterator<Item = (&'static str, bool)> {
    ["start", "end"].into_iter().flat_map(|at| [(at, true), (at, false)])
}

#[test]
fn writing_whole_shards_reads_nothing_and_encodes_each_inner_chunk_once() {
    for (at, inline) in places() {
        let z = Sharded::new(128, 64, &shard(8, at, MARKED), inline);
        for _ in 0..2 {
            z.write(0, &some(128));
            let mut calls = z.store.take();
            calls.sort_by_key(|call| format!("{call:?}"));
            let length = 64 + 8 + 8 * 16 + 4;
            assert_eq!(calls, [Call::Put("0".into(), length), Call::Put("1".into(), length)]);
            assert_eq!(z.codec.take(), (16, 0), "{at}");
        }
    }
}

#[test]
fn a_partial_write_encodes_what_it_touches_and_copies_the_rest() {
    for (at, inline) in places() {
        let z = Sharded::new(64, 64, &shard(8, at, MARKED), inline);
        z.write(0, &some(40));
        let before = z.stored("0");
        z.forget();
        // The whole of inner chunk 1, and a part of each of 2 and 6.
        z.write(8, &[7; 12]);
        z.write(50, &[7; 2]);
        let calls = z.store.take();
        assert_eq!(calls.len(), 4, "{calls:?}");
        assert!(matches!(
            calls.as_slice(),
            [Call::Get(_), Call::Put(..), Call::Get(_), Call::Put(..)]
        ));
        // Only the second was stored and is changed in part: one is decoded, three are encoded.
        assert_eq!(z.codec.take(), (3, 1), "{at}");
        let after = z.stored("0");
        let (old, new) = (entries(&before, 8, at), entries(&after, 8, at));
        for entry in [0, 3, 4] {
            let (old, new) = (old[entry].clone().unwrap(), new[entry].clone().unwrap());
            assert_eq!(before[old], after[new]);
        }
        assert_eq!([5, 7].map(|entry| &new[entry]), [&None, &None]);
        let mut expected = some(40);
        expected.resize(64, 0);
        expected[8..20].fill(7);
        expected[50..52].fill(7);
        assert_eq!(z.read(&range(0, 64), 64), expected);
    }
}

#[test]
fn inner_chunks_cost_one_read_of_the_index_and_one_request_for_each_run() {
    for at in ["start", "end"] {
        // Inner chunks that are longer than the gap of coalesced ranges.
        let z = Sharded::new(16 << 13, 16 << 13, &shard(1 << 13, at, MARKED), true);
        let values = some(16 << 13);
        z.write(0, &values);
        let index = 16 * 16 + 4;
        let edge = if at == "start" { Edge::First(index) } else { Edge::Last(index) };
        let cases: [(&[u64], usize); 5] = [
            (&[5], 1),
            (&[3, 4, 5, 6], 1),
            (&[0, 1, 7, 8, 15], 3),
            (&[0, 2, 4, 6, 8, 10, 12, 14], 8),
            (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 1),
        ];
        for (inner, runs) in cases {
            z.forget();
            let positions: Vec<u64> = inner.iter().map(|chunk| (chunk << 13) + 11).collect();
            let expected: Vec<u8> = positions.iter().map(|i| values[*i as usize]).collect();
            let found = z.read(&[AxisSelection::List(positions.clone())], positions.len());
            assert_eq!(found, expected);
            let calls = z.store.take();
            assert_eq!(calls[0], Call::Edge("0".into(), edge));
            assert_eq!(calls.len(), 1 + runs, "{inner:?} {calls:?}");
            assert!(
                calls[1..]
                    .iter()
                    .all(|call| matches!(call, Call::Ranges(_, ranges) if ranges.len() == 1))
            );
            assert_eq!(z.codec.take(), (0, inner.len()));
        }
        // A whole shard is one request, without an earlier request for the index.
        z.forget();
        assert_eq!(z.read(&range(0, 16 << 13), 16 << 13), values);
        assert_eq!(z.store.take(), [Call::Get("0".into())]);
    }
}

#[test]
fn what_is_not_stored_costs_no_request() {
    let z = Sharded::new(256, 64, &shard(8, "end", MARKED), true);
    z.write(0, &some(8));
    z.forget();
    assert_eq!(z.read(&range(20, 30), 30), [0; 30]);
    assert_eq!(z.store.take().len(), 1);
    // A shard of only fill values is not stored, and is deleted if it becomes one.
    z.write(0, &[0; 8]);
    assert_eq!(z.store.take()[1..], [Call::Delete("0".into())]);
    assert_eq!(z.read(&range(0, 64), 64), [0; 64]);
}

#[test]
fn far_stores_are_asked_for_all_indexes_and_then_for_all_inner_chunks() {
    let z = Sharded::new(256, 64, &shard(8, "end", MARKED), false);
    let values = some(256);
    z.write(0, &values);
    z.forget();
    let some_of_all = [AxisSelection::Range { start: 3, step: 16, count: 16 }];
    let expected: Vec<u8> = values.iter().skip(3).step_by(16).copied().collect();
    assert_eq!(z.read(&some_of_all, 16), expected);
    let index = |shard: usize| Call::Edge(shard.to_string(), Edge::Last(8 * 16 + 4));
    let inner = [0..9, 18..27, 36..45, 54..63];
    let ranges = |shard: usize| Call::Ranges(shard.to_string(), inner.to_vec());
    let calls: Vec<Call> = (0..4).map(index).chain((0..4).map(ranges)).collect();
    assert_eq!(z.store.take(), calls);
    assert_eq!(z.codec.take(), (0, 16));
}

#[test]
fn shards_in_shards_keep_the_same_promises() {
    for (at, inside) in [("start", "end"), ("end", "start")] {
        let codecs = shard(1 << 17, at, &shard(1 << 13, inside, MARKED));
        let z = Sharded::new(1 << 19, 1 << 19, &codecs, true);
        let mut values = some(1 << 19);
        z.write(0, &values);
        assert_eq!(z.codec.take(), (64, 0));
        assert!(matches!(z.store.take().as_slice(), [Call::Put(..)]));
        // Three chunks of one inner shard, two of them adjacent: two indexes, two coalesced ranges.
        let positions: Vec<u64> = [17, 18, 25].iter().map(|chunk| (chunk << 13) + 5).collect();
        let expected: Vec<u8> = positions.iter().map(|i| values[*i as usize]).collect();
        assert_eq!(z.read(&[AxisSelection::List(positions)], 3), expected);
        let calls = z.store.take();
        assert_eq!(calls.len(), 4, "{calls:?}");
        let bytes: u64 = calls
            .iter()
            .map(|call| match call {
                Call::Ranges(_, ranges) => ranges.iter().map(|range| range.end - range.start).sum(),
                _ => 0,
            })
            .sum();
        assert!(bytes < 4 << 13, "{bytes} bytes read for three chunks of {}", 1 << 13);
        assert_eq!(z.codec.take(), (0, 3));
        // A whole inner shard is one request after the index of the outer shard.
        assert_eq!(z.read(&range(1 << 17, 1 << 17), 1 << 17), values[1 << 17..1 << 18]);
        assert_eq!(z.store.take().len(), 2);
        z.forget();
        z.write((20 << 13) + 1, &[3; 9]);
        values[(20 << 13) + 1..(20 << 13) + 10].fill(3);
        assert!(matches!(z.store.take().as_slice(), [Call::Get(_), Call::Put(..)]));
        assert_eq!(z.codec.take(), (1, 1));
        assert_eq!(z.read(&range(0, 1 << 19), 1 << 19), values);
    }
}
