//! Variable-length chunks, read and written by a caller that interprets them.
//!
//! The caller of these tests stores numbers, each as one byte per unit.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::{Arc, Mutex};

use zarrix_codec::CodecError;
use zarrix_engine::{
    ArrayIO, AxisSelection, EngineError, Layout, ObjectSink, ObjectSource, Outside, Picks, Source,
    Target,
};
use zarrix_store::{Durability, MemoryStore, Store};

const FILL: u8 = 9;

/// Parses numbers: runs of ones, each followed by a zero.
fn parse(blob: &[u8], count: usize) -> Result<Vec<u8>, CodecError> {
    let numbers: Vec<u8> = blob
        .split_inclusive(|byte| *byte == 0)
        .map(|run| u8::try_from(run.len() - 1).unwrap())
        .collect();
    if numbers.len() == count {
        return Ok(numbers);
    }
    Err(CodecError::corrupt("runs", format!("{} numbers of {count}", numbers.len())))
}

#[derive(Debug)]
struct Numbers(Mutex<Vec<u8>>);

impl Numbers {
    fn new(numbers: &[u8]) -> Self {
        Self(Mutex::new(numbers.to_vec()))
    }

    fn all(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl ObjectSink for Numbers {
    fn place(&self, chunk: Option<&[u8]>, picks: &Picks<'_, '_>) -> Result<(), CodecError> {
        let numbers = chunk.map(|blob| parse(blob, picks.count())).transpose()?;
        let mut out = self.0.lock().unwrap();
        picks.each(|element, place| {
            out[place as usize] = numbers.as_ref().map_or(FILL, |numbers| numbers[element]);
        });
        Ok(())
    }
}

impl ObjectSource for Numbers {
    fn update(
        &self,
        old: Option<&[u8]>,
        picks: &Picks<'_, '_>,
        keep_empty: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        let mut numbers = match old {
            Some(old) => parse(old, picks.count())?,
            None => vec![FILL; picks.count()],
        };
        assert!(old.is_none() || !picks.is_whole());
        picks.each(|element, place| numbers[element] = self.0.lock().unwrap()[place as usize]);
        out.clear();
        for number in &numbers {
            out.extend(std::iter::repeat_n(1, *number as usize));
            out.push(0);
        }
        Ok(keep_empty || numbers.iter().any(|number| *number != FILL))
    }
}

fn layout(codecs: &str, keep_empty: bool, limit: usize) -> Layout {
    let document = format!(
        r#"{{"shape": [5, 6], "chunk_grid": [2, 4], "item_bytes": null, "fill_value": null,
            "objects": {{"slot": 0, "max_chunk_bytes": {limit}}}, "codecs": {codecs},
            "chunk_key_encoding": {{"name": "v2"}}, "metadata_key": ".zarray",
            "write_empty_chunks": {keep_empty}}}"#
    );
    Layout::parse(&document, &[], None).unwrap()
}

const SHARD: &str = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 2],
    "codecs": [{"name": "zstd"}], "index_codecs": [{"name": "bytes"}]}}]"#;
const CHAINS: [&str; 4] = [
    "[]",
    r#"[{"name": "zstd"}, {"name": "crc32c"}]"#,
    r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "gzip"}]"#,
    SHARD,
];

fn range(start: u64, step: i64, count: u64) -> AxisSelection {
    AxisSelection::Range { start, step, count }
}

fn read(io: &ArrayIO, selection: &[AxisSelection], shape: &[usize]) -> Vec<u8> {
    let out = Numbers::new(&vec![77; shape.iter().product()]);
    let strides: Vec<isize> =
        (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<usize>() as isize).collect();
    io.read(selection, Target::objects(shape, &strides, &out), &|| false).unwrap();
    out.all()
}

#[test]
fn regions_points_and_windows_move_elements_without_a_size() {
    for chain in CHAINS {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let io = ArrayIO::new(Arc::clone(&store), "", layout(chain, true, 1 << 20));
        let mut model = vec![FILL; 30];
        let all = [range(0, 1, 5), range(0, 1, 6)];
        assert_eq!(read(&io, &all, &[5, 6]), model);

        let value = Numbers::new(&[1, 2, 3, 4, 5, 6]);
        let source = Source::objects(&[3, 2], &[2, 1], &value);
        let selection = [range(4, -2, 3), range(1, 4, 2)];
        io.write(&selection, source, Durability::Process, &|| false).unwrap();
        for (at, number) in [(25, 1), (29, 2), (13, 3), (17, 4), (1, 5), (5, 6)] {
            model[at] = number;
        }
        assert_eq!(read(&io, &all, &[5, 6]), model);
        assert_eq!(read(&io, &selection, &[3, 2]), [1, 2, 3, 4, 5, 6]);

        let coords: [&[u64]; 2] = [&[0, 4, 0], &[0, 5, 0]];
        let points = Numbers::new(&[10, 11, 12]);
        let source = Source::objects(&[3], &[1], &points);
        io.write_points(&coords, source, Durability::Process, &|| false).unwrap();
        (model[0], model[29]) = (12, 11);
        let out = Numbers::new(&[0; 3]);
        io.read_points(&coords, Target::objects(&[3], &[1], &out), &|| false).unwrap();
        assert_eq!(out.all(), [12, 11, 12]);

        let out = Numbers::new(&[0; 8]);
        let target = Target::objects(&[2, 2, 2], &[4, 2, 1], &out);
        io.read_windows(&[0, 0, 3, 4], Outside::Refuse, target, &|| false).unwrap();
        let window = |at: usize| [model[at], model[at + 1], model[at + 6], model[at + 7]];
        assert_eq!(out.all(), [window(0), window(22)].concat());

        let repeated = Numbers::new(&[3]);
        let source = Source::objects(&[5, 6], &[0, 0], &repeated);
        io.write(&all, source, Durability::Process, &|| false).unwrap();
        assert_eq!(read(&io, &all, &[5, 6]), [3; 30]);
    }
}

#[test]
fn a_chunk_of_fill_is_left_out() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let io = ArrayIO::new(Arc::clone(&store), "", layout("[]", false, 1 << 20));
    let mut numbers = vec![FILL; 30];
    numbers[0] = 1;
    let value = Numbers::new(&numbers);
    let all = [range(0, 1, 5), range(0, 1, 6)];
    let source = Source::objects(&[5, 6], &[6, 1], &value);
    io.write(&all, source, Durability::Process, &|| false).unwrap();
    assert_eq!(store.list_prefix("").unwrap(), ["0.0"]);
    assert_eq!(read(&io, &all, &[5, 6]), numbers);
}

#[test]
fn a_blob_that_lies_or_is_too_long_is_an_error_that_names_its_chunk() {
    let zstd = r#"[{"name": "zstd"}]"#;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let io = ArrayIO::new(Arc::clone(&store), "", layout(zstd, true, 1 << 20));
    let value = Numbers::new(&[200]);
    let all = [range(0, 1, 5), range(0, 1, 6)];
    let source = Source::objects(&[5, 6], &[0, 0], &value);
    io.write(&all, source, Durability::Process, &|| false).unwrap();

    let narrow = ArrayIO::new(Arc::clone(&store), "", layout(zstd, true, 500));
    let bare = ArrayIO::new(Arc::clone(&store), "", layout("[]", true, 1 << 20));
    for io in [narrow, bare] {
        let out = Numbers::new(&[0]);
        let one = [AxisSelection::Index(0), AxisSelection::Index(5)];
        let error = io.read(&one, Target::objects(&[], &[], &out), &|| false).unwrap_err();
        assert!(matches!(error, EngineError::CorruptChunk { key, .. } if key == "0.1"));
        let source = Source::objects(&[], &[], &value);
        let error = io.write(&one, source, Durability::Process, &|| false).unwrap_err();
        assert!(matches!(error, EngineError::CorruptChunk { key, .. } if key == "0.1"));
    }
}

#[test]
fn memory_of_the_other_kind_is_refused() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let io = ArrayIO::new(store, "", layout("[]", true, 1 << 20));
    let mut memory = [0_u8; 16];
    // SAFETY: one element of 16 writable bytes.
    let target = unsafe { Target::new(memory.as_mut_ptr(), &[], &[]) };
    let one = [AxisSelection::Index(0), AxisSelection::Index(0)];
    assert!(matches!(io.read(&one, target, &|| false), Err(EngineError::Selection(_))));
    // SAFETY: as above, readable.
    let source = unsafe { Source::new(memory.as_ptr(), &[], &[]) };
    let written = io.write(&one, source, Durability::Process, &|| false);
    assert!(matches!(written, Err(EngineError::Selection(_))));
}
