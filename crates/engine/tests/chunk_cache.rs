//! The decoded-chunk cache: how often chunks are decoded, and that no read is stale.
//!
//! The process has one cache, so each test locks it.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod marking;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use marking::{Marking, range};
use zarrix_codec::Codec;
use zarrix_engine::{ArrayIO, Layout, chunk_cache_counts, set_chunk_cache_bytes};
use zarrix_store::testing::{Call, CountingStore};
use zarrix_store::{Durability, LocalStore, MemoryStore, Store};

const MARKING: &str = r#"{"name": "zarrix.foreign", "configuration": {"slot": 0}}"#;
/// Longer than the time after a change of a file during which its chunks are not cached.
const SETTLING: Duration = Duration::from_millis(60);

/// The empty cache, for one test at a time; it is disabled again on drop.
struct Alone {
    _turn: MutexGuard<'static, ()>,
}

fn alone(bytes: usize) -> Alone {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    set_chunk_cache_bytes(bytes);
    Alone { _turn: turn }
}

impl Drop for Alone {
    fn drop(&mut self) {
        set_chunk_cache_bytes(0);
    }
}

/// A directory that is removed with its content.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zarrix-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// An array of bytes whose decodings are counted.
struct Counted {
    io: ArrayIO,
    codec: Arc<Marking>,
}

impl Counted {
    fn new(store: Arc<dyn Store>, shape: &[u64], chunk: &[u64], codecs: &str) -> Self {
        let codec = Arc::new(Marking::default());
        let foreign: Vec<Arc<dyn Codec>> = vec![Arc::clone(&codec) as _];
        let document = format!(
            r#"{{"shape": {shape:?}, "chunk_grid": {chunk:?}, "item_bytes": 1, "fill_value": "07",
                "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{codecs}],
                "metadata_key": ".zarray", "write_empty_chunks": true}}"#
        );
        let layout = Layout::parse(&document, &foreign, None).unwrap();
        Self { io: ArrayIO::new(store, "", layout), codec }
    }

    fn write(&self, start: u64, value: &[u8]) {
        marking::write(&self.io, start, value).unwrap();
    }

    fn read(&self, start: u64, count: usize) -> Vec<u8> {
        marking::read(&self.io, &range(start, count as u64), count).unwrap()
    }

    /// How many chunks were decoded since the last call.
    fn decoded(&self) -> usize {
        self.codec.take().1
    }
}

fn shard(chunk: usize) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{chunk}],
            "codecs": [{MARKING}], "index_codecs": [{{"name": "crc32c"}}]}}}}"#
    )
}

#[test]
fn a_chunk_is_decoded_once_for_each_version_of_it() {
    let _alone = alone(1 << 20);
    let folder = Folder::new("versions");
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(LocalStore::new(&folder.0))];
    for store in stores {
        for codecs in [MARKING.to_owned(), shard(25)] {
            let array = Counted::new(Arc::clone(&store), &[400], &[100], &codecs);
            let settle = || std::thread::sleep(SETTLING);
            let pieces = if codecs == MARKING { 4 } else { 16 };
            array.write(0, &[1; 400]);
            settle();
            array.codec.take();
            for turn in 0..5 {
                assert_eq!(array.read(0, 400), [1; 400]);
                assert_eq!(array.read(120, 100), [1; 100]);
                assert_eq!(array.decoded(), if turn == 0 { pieces } else { 0 }, "{turn}");
            }
            array.write(100, &[2; 100]);
            settle();
            array.codec.take();
            let expected = [vec![1; 100], vec![2; 100], vec![1; 200]].concat();
            assert_eq!(array.read(0, 400), expected);
            assert_eq!(array.decoded(), pieces / 4);
            assert_eq!(array.read(0, 400), expected);
            assert_eq!(array.decoded(), 0);
            store.delete("3", Durability::Process).unwrap();
            let expected = [vec![1; 100], vec![2; 100], vec![1; 100], vec![7; 100]].concat();
            assert_eq!(array.read(0, 400), expected);
            assert_eq!(array.decoded(), 0);
            store.delete_prefix("", Durability::Process).unwrap();
        }
    }
}

#[test]
fn a_file_that_is_rewritten_in_place_is_never_read_as_it_was() {
    let _alone = alone(1 << 20);
    let folder = Folder::new("in-place");
    let array = Counted::new(Arc::new(LocalStore::new(&folder.0)), &[100], &[100], MARKING);
    array.write(0, &[0; 100]);
    for turn in 0..2000_u32 {
        let value = turn as u8;
        let stored = [&b"#"[..], &[value; 100]].concat();
        std::fs::write(folder.0.join("0"), stored).unwrap();
        assert_eq!(array.read(0, 100), [value; 100], "{turn}");
        assert_eq!(array.read(50, 10), [value; 10], "{turn}");
    }
}

#[test]
fn layouts_that_read_the_same_bytes_differently_share_nothing() {
    let _alone = alone(1 << 20);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let plain = Counted::new(Arc::clone(&store), &[100], &[100], MARKING);
    let zlib = r#"{"name": "numcodecs.zlib", "configuration": {"level": 1}}"#;
    let twice = Counted::new(Arc::clone(&store), &[100], &[100], &format!("{MARKING}, {MARKING}"));
    let smaller = Counted::new(Arc::clone(&store), &[40], &[20], &format!("{MARKING}, {zlib}"));
    store.put("0", &[&b"##"[..], &[3; 99]].concat(), Durability::Process).unwrap();
    assert_eq!(plain.read(0, 2), *b"#\x03");
    store.put("0", &[&b"##"[..], &[3; 100]].concat(), Durability::Process).unwrap();
    assert_eq!(twice.read(0, 2), [3, 3]);
    assert!(marking::read(&smaller.io, &range(0, 2), 2).is_err());
}

#[test]
fn the_bound_holds_and_a_scan_leaves_what_is_read_often() {
    let _alone = alone(200_000);
    let store = Arc::new(MemoryStore::new());
    let array = Counted::new(store, &[2_000_000], &[10_000], MARKING);
    array.write(0, &[5; 2_000_000]);
    for _ in 0..10 {
        array.read(0, 40_000);
    }
    array.codec.take();
    for start in (40_000..2_000_000).step_by(10_000) {
        assert_eq!(array.read(start, 10_000), [5; 10_000]);
        let counts = chunk_cache_counts();
        assert!(counts.bytes <= 200_000 && counts.entries < 20, "{counts:?}");
    }
    assert_eq!(array.decoded(), 196);
    array.read(0, 40_000);
    assert_eq!(array.decoded(), 0);
    assert!(chunk_cache_counts().evicted > 150);
    set_chunk_cache_bytes(0);
    assert_eq!(chunk_cache_counts().bytes, 0);
    array.read(0, 40_000);
    assert_eq!(array.decoded(), 4);
}

#[test]
fn of_a_far_store_what_is_kept_is_only_asked_for_its_version() {
    let _alone = alone(1 << 20);
    for codecs in [MARKING.to_owned(), shard(25)] {
        let store = Arc::new(CountingStore::new(Arc::new(MemoryStore::new()), false));
        let array = Counted::new(Arc::clone(&store) as _, &[400], &[100], &codecs);
        array.write(0, &[1; 400]);
        array.read(110, 80);
        array.codec.take();
        store.take();
        assert_eq!(array.read(120, 50), [1; 50]);
        assert_eq!(store.take(), [Call::Ranges("1".to_owned(), vec![])]);
        assert_eq!(array.decoded(), 0);
        array.write(130, &[9; 10]);
        array.codec.take();
        assert_eq!(array.read(120, 30), [vec![1; 10], vec![9; 10], vec![1; 10]].concat());
        assert!(array.decoded() > 0);
        store.take();
        store.delete("1", Durability::Process).unwrap();
        assert_eq!(array.read(120, 30), [7; 30]);
    }
}

#[test]
fn what_is_read_whole_for_other_reasons_still_is() {
    let _alone = alone(1 << 20);
    let store = Arc::new(CountingStore::new(Arc::new(MemoryStore::new()), true));
    let array = Counted::new(Arc::clone(&store) as _, &[100], &[100], &shard(25));
    array.write(0, &[1; 100]);
    store.take();
    for _ in 0..2 {
        assert_eq!(array.read(0, 100), [1; 100]);
        assert_eq!(store.take(), [Call::Get("0".to_owned())]);
    }
}

#[test]
fn threads_that_read_and_write_at_once_see_their_own_writes() {
    let _alone = alone(50_000);
    let folder = Folder::new("threads");
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(LocalStore::new(&folder.0))];
    for store in stores {
        for codecs in [MARKING.to_owned(), shard(1000)] {
            let array = Counted::new(Arc::clone(&store), &[32_000], &[4000], &codecs);
            std::thread::scope(|scope| {
                for thread in 0..4_u64 {
                    let array = &array;
                    scope.spawn(move || {
                        for turn in 0..60_u64 {
                            // The thread's own elements, in every chunk.
                            let start = (turn % 8) * 4000 + thread * 1000;
                            let value = vec![(turn * 4 + thread) as u8; 1000];
                            array.write(start, &value);
                            for _ in 0..3 {
                                assert_eq!(array.read(start, 1000), value, "{thread} {turn}");
                            }
                        }
                    });
                }
            });
            store.delete_prefix("", Durability::Process).unwrap();
        }
    }
}
