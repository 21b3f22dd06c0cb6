//! The state of an array after a loss of power, or after a store failed at any call.
//!
//! Each chunk is its old or its new version, no acknowledged write is lost, and an error says what
//! happened. The stores are those of `zarrix_store::testing`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::Arc;

use zarrix_engine::{ArrayIO, AxisSelection, EngineError, Interrupt, Layout, Source, Target};
use zarrix_store::testing::{Fault, FaultyStore, PowerLossStore};
use zarrix_store::{Durability, MemoryStore, Store};

const GO_ON: Interrupt<'static> = &|| false;
const LENGTH: usize = 96;
const CHUNK: usize = 24;

const PLAIN: &str = r#"{"name": "bytes"}"#;
const ZSTD: &str = r#"{"name": "zstd", "configuration": {"checksum": true}}"#;
const SHARD: &str = r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [6],
    "codecs": [{"name": "bytes"}, {"name": "crc32c"}],
    "index_codecs": [{"name": "bytes"}, {"name": "crc32c"}]}}"#;

fn array(store: Arc<dyn Store>, codecs: &str) -> ArrayIO {
    let layout = format!(
        r#"{{"shape": [{LENGTH}], "chunk_grid": [{CHUNK}], "item_bytes": 1, "fill_value": null,
            "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{codecs}],
            "metadata_key": ".zarray", "write_empty_chunks": false}}"#
    );
    ArrayIO::new(store, "", Layout::parse(&layout, &[], None).unwrap())
}

fn read(array: &ArrayIO) -> Result<Vec<u8>, EngineError> {
    let mut out = vec![99; LENGTH];
    // SAFETY: the vector has as many bytes as the shape says, and outlives the call.
    let target = unsafe { Target::new(out.as_mut_ptr(), &[LENGTH], &[1]) };
    let all = [AxisSelection::Range { start: 0, step: 1, count: LENGTH as u64 }];
    array.read(&all, target, GO_ON).map(|()| out)
}

/// One write of a range of one value; the value 0 is the fill value, which deletes whole chunks.
#[derive(Clone, Copy, Debug)]
struct Write {
    start: usize,
    count: usize,
    value: u8,
}

impl Write {
    fn apply(self, array: &ArrayIO, durability: Durability) -> Result<(), EngineError> {
        let (value, shape) = ([self.value], [self.count]);
        // SAFETY: with a stride of zero every element is the one byte, which outlives the call.
        let source = unsafe { Source::new(value.as_ptr(), &shape, &[0]) };
        let (start, count) = (self.start as u64, self.count as u64);
        let range = [AxisSelection::Range { start, step: 1, count }];
        array.write(&range, source, durability, GO_ON)
    }

    fn model(self, elements: &[u8]) -> Vec<u8> {
        let mut elements = elements.to_vec();
        elements[self.start..self.start + self.count].fill(self.value);
        elements
    }
}

/// A small generator, so that a failure can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % limit
    }

    fn write(&mut self) -> Write {
        let value = if self.below(4) == 0 { 0 } else { self.below(250) as u8 };
        if self.below(3) == 0 {
            let chunk = self.below(LENGTH / CHUNK);
            return Write { start: chunk * CHUNK, count: CHUNK, value };
        }
        let start = self.below(LENGTH);
        Write { start, count: 1 + self.below(LENGTH - start), value }
    }
}

/// Whether every chunk of `found` is that of `old` or that of `new`.
fn old_or_new(found: &[u8], old: &[u8], new: &[u8]) -> bool {
    let chunks = found.chunks(CHUNK).zip(old.chunks(CHUNK)).zip(new.chunks(CHUNK));
    chunks.into_iter().all(|((found, old), new)| found == old || found == new)
}

/// Loses power at `points` moments of 200 writes; returns how many results violate the guarantee.
fn violations(codecs: &str, durability: Durability, points: usize) -> usize {
    let store = Arc::new(PowerLossStore::new());
    store.put(".zarray", b"{}", Durability::Fsync).unwrap();
    let io = array(Arc::clone(&store) as Arc<dyn Store>, codecs);
    let mut random = Random(7);
    // States, with the number of changes in the store when they were acknowledged.
    let mut states = vec![(store.changes(), vec![0; LENGTH])];
    for _ in 0..200 {
        let write = random.write();
        write.apply(&io, durability).unwrap();
        let next = write.model(&states[states.len() - 1].1);
        states.push((store.changes(), next));
    }
    assert_eq!(read(&io).unwrap(), states[states.len() - 1].1);
    let total = store.changes();
    let violated = |point: usize| {
        let mut random = Random(point as u64);
        let at = 1 + random.below(total - 1);
        let left = store.after_loss(at, &mut |outcomes| random.below(outcomes)).unwrap();
        let acknowledged = states.iter().rposition(|(changes, _)| *changes <= at).unwrap();
        let old = &states[acknowledged].1;
        let new = states.get(acknowledged + 1).map_or(old, |(_, elements)| elements);
        let found = read(&array(Arc::new(left), codecs));
        !found.is_ok_and(|found| old_or_new(&found, old, new))
    };
    (0..points).filter(|point| violated(*point)).count()
}

#[test]
fn ten_thousand_losses_of_power_break_no_promise_of_what_was_synced() {
    for (codecs, points) in [(PLAIN, 3_400), (ZSTD, 3_300), (SHARD, 3_300)] {
        assert_eq!(violations(codecs, Durability::Fsync, points), 0, "{codecs}");
    }
}

#[test]
fn the_double_shows_what_is_lost_where_nothing_was_synced() {
    for codecs in [PLAIN, ZSTD, SHARD] {
        assert!(violations(codecs, Durability::Process, 100) > 50, "{codecs}");
    }
}

/// Fails every call of `write` once; returns the number of call sites.
fn each_call_fails(codecs: &str, fault: Fault, inline: bool, write: Write) -> usize {
    for at in 0.. {
        let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
        inner.put(".zarray", b"{}", Durability::Process).unwrap();
        let plain = array(Arc::clone(&inner), codecs);
        let first = Write { start: 0, count: LENGTH, value: 7 };
        first.apply(&plain, Durability::Process).unwrap();
        let old = first.model(&[0; LENGTH]);
        let new = write.model(&old);

        let store = Arc::new(FaultyStore::new(Arc::clone(&inner), fault, at, inline));
        let outcome =
            write.apply(&array(Arc::clone(&store) as Arc<dyn Store>, codecs), Durability::Fsync);
        let found = read(&plain).unwrap();
        match (&outcome, fault) {
            (Ok(()), _) => assert_eq!(found, new),
            (Err(_), Fault::Delayed) => assert!(outcome.is_ok(), "{outcome:?}"),
            (Err(error), _) => {
                assert!(old_or_new(&found, &old, &new), "{fault:?} at {at}: {found:?}");
                let message = error.to_string();
                let told = message.contains("injected") || message.contains("is corrupt");
                assert!(told && message.contains(char::is_numeric), "{message}");
            }
        }
        // After any fault, the next writer is not blocked.
        write.apply(&plain, Durability::Process).unwrap();
        assert_eq!(read(&plain).unwrap(), new);
        if !store.has_failed() {
            return at;
        }
    }
    0
}

#[test]
fn a_write_whose_any_call_fails_leaves_old_or_new_chunks_and_says_so() {
    let mut sites = 0;
    for codecs in [PLAIN, ZSTD, SHARD] {
        for fault in [Fault::Refused, Fault::AnswerLost, Fault::Delayed, Fault::Cut] {
            for inline in [true, false] {
                // A whole chunk and parts of others; only fill values; one element.
                for (start, count, value) in [(20, 40, 9), (0, LENGTH, 0), (50, 1, 3)] {
                    let write = Write { start, count, value };
                    sites += each_call_fails(codecs, fault, inline, write);
                }
            }
        }
    }
    assert!(sites > 300, "{sites} call sites");
}

#[test]
fn a_read_whose_any_call_fails_gives_the_values_or_an_error() {
    for codecs in [PLAIN, ZSTD, SHARD] {
        for fault in [Fault::Refused, Fault::AnswerLost, Fault::Delayed, Fault::Cut] {
            for inline in [true, false] {
                for at in 0.. {
                    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
                    inner.put(".zarray", b"{}", Durability::Process).unwrap();
                    let write = Write { start: 0, count: LENGTH, value: 7 };
                    write.apply(&array(Arc::clone(&inner), codecs), Durability::Process).unwrap();
                    let store = Arc::new(FaultyStore::new(inner, fault, at, inline));
                    match read(&array(Arc::clone(&store) as Arc<dyn Store>, codecs)) {
                        Ok(found) => assert_eq!(found, [7; LENGTH]),
                        Err(error) => {
                            let message = error.to_string();
                            let told = message.contains("injected") || message.contains("corrupt");
                            assert!(told && fault != Fault::Delayed, "{message}");
                        }
                    }
                    if !store.has_failed() {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn chunks_cut_off_by_a_resize_do_not_come_back_with_the_power() {
    let store = Arc::new(PowerLossStore::new());
    store.put(".zarray", b"{}", Durability::Fsync).unwrap();
    let io = array(Arc::clone(&store) as Arc<dyn Store>, PLAIN);
    Write { start: 0, count: LENGTH, value: 7 }.apply(&io, Durability::Fsync).unwrap();
    // SAFETY: one element, which outlives the call.
    let fill = unsafe { Source::new([0u8; 8].as_ptr(), &[], &[]) };
    io.clear_outside(&[CHUNK as u64], fill, Durability::Fsync, &|| false).unwrap();
    let left = store.after_loss(store.changes(), &mut |_| 0).unwrap();
    let mut expected = vec![0; LENGTH];
    expected[..CHUNK].fill(7);
    assert_eq!(read(&array(Arc::new(left), PLAIN)).unwrap(), expected);
}
