//! Stored chunks that an array's metadata does not allow.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zarrix_engine::{ArrayIO, AxisSelection, EngineError, Layout, Source, Target};
use zarrix_store::{Durability, LocalStore};

const GO_ON: zarrix_engine::Interrupt<'static> = &|| false;

struct TestFolder(PathBuf);

impl TestFolder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("zarrix-stored-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join(".zarray"), "{}").unwrap();
        Self(path)
    }

    fn array(&self, codecs: &str) -> ArrayIO {
        let layout = format!(
            r#"{{"shape": [64], "chunk_grid": [32], "item_bytes": 1, "fill_value": null,
                "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{codecs}],
                "metadata_key": ".zarray", "write_empty_chunks": true}}"#
        );
        let layout = Layout::parse(&layout, &[], None).unwrap();
        ArrayIO::new(Arc::new(LocalStore::new(&self.0)), "", layout)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn range(start: u64, count: u64) -> [AxisSelection; 1] {
    [AxisSelection::Range { start, step: 1, count }]
}

fn read(array: &ArrayIO, start: u64, count: u64) -> Result<Vec<u8>, EngineError> {
    let mut out = vec![9; count as usize];
    let (shape, strides) = ([count as usize], [1]);
    // SAFETY: the vector has as many bytes as the shape says, and outlives the call.
    let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
    array.read(&range(start, count), target, GO_ON)?;
    Ok(out)
}

fn write(array: &ArrayIO, start: u64, value: &[u8]) -> Result<(), EngineError> {
    let (shape, strides) = ([value.len()], [1]);
    // SAFETY: the slice has as many bytes as the shape says, and outlives the call.
    let source = unsafe { Source::new(value.as_ptr(), &shape, &strides) };
    array.write(&range(start, value.len() as u64), source, Durability::Process, GO_ON)
}

const SHARD: &str = r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [8],
    "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes"}]}}"#;

#[test]
fn a_chunk_file_of_holes_is_refused_before_it_is_read_into_memory() {
    for codecs in [r#"{"name": "bytes"}"#, r#"{"name": "zstd"}"#, SHARD] {
        let folder = TestFolder::new();
        let array = folder.array(codecs);
        fs::File::create(folder.0.join("0")).unwrap().set_len(1 << 40).unwrap();
        for (start, count) in [(0, 32), (3, 4)] {
            let refused = read(&array, start, count).map_err(|error| error.to_string());
            // An index of zeros says that every inner chunk is empty.
            let message = refused.unwrap_err();
            assert!(message.starts_with(r#"chunk "0" is corrupt"#), "{message}");
        }
        write(&array, 0, &[7; 32]).unwrap();
        assert_eq!(read(&array, 3, 4).unwrap(), [7; 4]);
    }
}

#[test]
fn an_index_entry_longer_than_any_inner_chunk_is_refused() {
    let folder = TestFolder::new();
    let array = folder.array(SHARD);
    write(&array, 0, &[7; 32]).unwrap();
    let mut file = fs::File::options().write(true).open(folder.0.join("0")).unwrap();
    file.set_len(1 << 40).unwrap();
    let index: Vec<u8> = [(0_u64, 1_u64 << 39); 4]
        .iter()
        .flat_map(|(offset, length)| [offset.to_le_bytes(), length.to_le_bytes()].concat())
        .collect();
    file.seek(SeekFrom::Start((1 << 40) - 64)).unwrap();
    file.write_all(&index).unwrap();
    let message = read(&array, 3, 4).unwrap_err().to_string();
    assert!(message.contains("inner chunk 0 has 549755813888 bytes"), "{message}");
}

#[test]
fn verify_names_every_chunk_that_does_not_decode() {
    for (codecs, harm) in [
        (r#"{"name": "bytes"}"#, 31_u64),
        (r#"{"name": "zstd", "configuration": {"checksum": true}}"#, 5),
        (SHARD, 40),
    ] {
        let folder = TestFolder::new();
        let array = folder.array(codecs);
        write(&array, 0, &[7; 64]).unwrap();
        let done = AtomicUsize::new(0);
        let sound = array.verify(None, &done, GO_ON).unwrap();
        assert_eq!((sound.chunks, sound.broken.len(), done.into_inner()), (2, 0, 2));
        assert!(sound.stored_bytes > 0);
        let file = fs::File::options().write(true).open(folder.0.join("1")).unwrap();
        file.set_len(harm).unwrap();
        let broken = array.verify(None, &AtomicUsize::new(0), GO_ON).unwrap();
        let keys: Vec<&str> = broken.broken.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!((broken.chunks, keys), (2, vec!["1"]));
        assert!(broken.broken[0].1.to_string().starts_with(r#"chunk "1" is corrupt"#));
        let among = |key: &str| {
            let keys = vec![key.to_owned(), "7".to_owned(), "x".to_owned()];
            let found = array.verify(Some(keys), &AtomicUsize::new(0), GO_ON).unwrap();
            (found.chunks, found.broken.len())
        };
        assert_eq!((among("0"), among("1")), ((1, 0), (1, 1)));
    }
}
