//! Random reads and writes of one array against a plain vector that knows every element.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::Arc;

use zarrix_engine::{Along, ArrayIO, AxisSelection, EngineError, Layout, Outside, Source, Target};
use zarrix_store::testing::CountingStore;
use zarrix_store::{Durability, LocalStore, MemoryStore, Store};

/// A small generator, so that a failure names a seed and can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }
}

/// The array as a vector in C order, and the means to address it.
struct Model {
    shape: Vec<u64>,
    item: usize,
    bytes: Vec<u8>,
}

impl Model {
    fn new(shape: &[u64], fill: &[u8]) -> Self {
        let elements = shape.iter().product::<u64>() as usize;
        Self { shape: shape.to_vec(), item: fill.len(), bytes: fill.repeat(elements) }
    }

    /// Positions in the vector, in the order of the selection's buffer.
    fn positions(&self, selection: &[AxisSelection]) -> Vec<usize> {
        let mut positions = vec![0usize];
        for (axis, selected) in selection.iter().enumerate() {
            let indices: Vec<u64> = match selected {
                AxisSelection::Index(index) => vec![*index],
                AxisSelection::Range { start, step, count } => {
                    (0..*count).map(|i| (*start as i64 + step * i as i64) as u64).collect()
                }
                AxisSelection::List(indices) => indices.clone(),
            };
            positions = positions
                .iter()
                .flat_map(|at| {
                    let length = self.shape[axis] as usize;
                    indices.iter().map(move |index| at * length + *index as usize)
                })
                .collect();
        }
        positions
    }

    fn write(&mut self, selection: &[AxisSelection], value: &[u8]) {
        for (at, element) in self.positions(selection).iter().zip(value.chunks(self.item)) {
            self.bytes[at * self.item..(at + 1) * self.item].copy_from_slice(element);
        }
    }

    fn read(&self, selection: &[AxisSelection]) -> Vec<u8> {
        self.positions(selection)
            .iter()
            .flat_map(|at| self.bytes[at * self.item..(at + 1) * self.item].to_vec())
            .collect()
    }
}

fn some_selection(random: &mut Random, shape: &[u64]) -> Vec<AxisSelection> {
    shape
        .iter()
        .map(|length| {
            let start = random.below(*length);
            if random.below(5) == 0 {
                return AxisSelection::Index(start);
            }
            if random.below(4) == 0 {
                return AxisSelection::Range { start: 0, step: 1, count: *length };
            }
            if random.below(4) == 0 {
                let count = random.below(8);
                return AxisSelection::List((0..count).map(|_| random.below(*length)).collect());
            }
            let size = 1 + random.below(4) as i64;
            let step = if random.below(2) == 0 { size } else { -size };
            let most =
                if step > 0 { (length - 1 - start) / size as u64 } else { start / size as u64 };
            AxisSelection::Range { start, step, count: random.below(most + 2) }
        })
        .collect()
}

fn counts(selection: &[AxisSelection]) -> Vec<usize> {
    selection
        .iter()
        .filter_map(|selected| match selected {
            AxisSelection::Index(_) => None,
            AxisSelection::Range { count, .. } => Some(*count as usize),
            AxisSelection::List(indices) => Some(indices.len()),
        })
        .collect()
}

fn c_strides(shape: &[usize], item: usize) -> Vec<isize> {
    let mut strides = vec![item as isize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

const GO_ON: zarrix_engine::Interrupt<'static> = &|| false;

fn write(io: &ArrayIO, selection: &[AxisSelection], value: &[u8], item: usize) {
    let shape = counts(selection);
    let strides = c_strides(&shape, item);
    // SAFETY: the vector holds one element per selected index.
    let source = unsafe { Source::new(value.as_ptr(), &shape, &strides) };
    io.write(selection, source, Durability::Process, GO_ON).unwrap();
}

fn read(io: &ArrayIO, selection: &[AxisSelection], item: usize) -> Result<Vec<u8>, EngineError> {
    let shape = counts(selection);
    let strides = c_strides(&shape, item);
    let mut out = vec![0xEEu8; shape.iter().product::<usize>() * item];
    // SAFETY: the vector holds one element per selected index.
    let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
    io.read(selection, target, GO_ON)?;
    Ok(out)
}

fn layout(shape: &[u64], chunks: &[u64], item: usize, codecs: &str, empty: bool) -> Layout {
    let fill = "2a".repeat(item);
    let document = format!(
        r#"{{"shape": {shape:?}, "chunk_grid": {chunks:?}, "item_bytes": {item},
            "fill_value": "{fill}", "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{codecs}],
            "metadata_key": ".zarray", "write_empty_chunks": {empty}}}"#
    );
    Layout::parse(&document, &[], None).unwrap()
}

fn blosc(item: usize) -> String {
    format!(
        r#"{{"name": "blosc", "configuration": {{"cname": "lz4", "clevel": 5, "shuffle": "shuffle",
            "typesize": {item}, "blocksize": 512}}}}"#
    )
}

/// The codec of shards whose inner chunks are half as long along each axis; perhaps nested.
fn shard(random: &mut Random, chunks: &[u64], inner: &str, nested: bool) -> String {
    let shape: Vec<u64> =
        chunks.iter().map(|n| if n.is_multiple_of(2) { n / 2 } else { *n }).collect();
    let codecs = if nested { shard(random, &shape, inner, false) } else { inner.to_string() };
    let location = if random.below(2) == 0 { "start" } else { "end" };
    let checksum = if random.below(2) == 0 { r#", {"name": "crc32c"}"# } else { "" };
    let outer = if random.below(4) == 0 { r#", {"name": "crc32c"}"# } else { "" };
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {shape:?},
            "codecs": [{codecs}], "index_location": "{location}",
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}{checksum}]
            }}}}{outer}"#
    )
}

fn transpose(axes: usize) -> String {
    let order: Vec<usize> = (0..axes).rev().collect();
    format!(r#"{{"name": "transpose", "configuration": {{"order": {order:?}}}}},"#)
}

fn points_agree(random: &mut Random, io: &ArrayIO, model: &mut Model, seed: u64) {
    let count = random.below(12) as usize;
    let coords: Vec<Vec<u64>> =
        model.shape.iter().map(|n| (0..count).map(|_| random.below(*n)).collect()).collect();
    let lists: Vec<&[u64]> = coords.iter().map(Vec::as_slice).collect();
    let point = |i: usize| -> Vec<AxisSelection> {
        coords.iter().map(|list| AxisSelection::Index(list[i])).collect()
    };
    let (shape, strides) = ([count], [model.item as isize]);
    if random.below(2) == 0 {
        let value: Vec<u8> = (0..count * model.item).map(|_| random.below(250) as u8).collect();
        // SAFETY: the vector holds one element per point.
        let source = unsafe { Source::new(value.as_ptr(), &shape, &strides) };
        io.write_points(&lists, source, Durability::Process, GO_ON).unwrap();
        for i in 0..count {
            model.write(&point(i), &value[i * model.item..(i + 1) * model.item]);
        }
    }
    let mut out = vec![0xEEu8; count * model.item];
    // SAFETY: the vector holds one element per point.
    let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
    io.read_points(&lists, target, GO_ON).unwrap();
    let expected: Vec<u8> = (0..count).flat_map(|i| model.read(&point(i))).collect();
    assert_eq!(out, expected, "seed {seed}");
}

fn windows_agree(random: &mut Random, io: &ArrayIO, model: &Model, seed: u64) {
    let windows = random.below(6) as usize;
    let window: Vec<u64> = model.shape.iter().map(|n| 1 + random.below(*n)).collect();
    let starts: Vec<u64> = (0..windows * window.len())
        .map(|i| random.below(model.shape[i % window.len()] - window[i % window.len()] + 1))
        .collect();
    let mut shape = vec![windows];
    shape.extend(window.iter().map(|n| *n as usize));
    let strides = c_strides(&shape, model.item);
    let mut out = vec![0xEEu8; shape.iter().product::<usize>() * model.item];
    // SAFETY: the vector holds all windows.
    let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
    io.read_windows(&starts, Outside::Refuse, target, GO_ON).unwrap();
    let expected: Vec<u8> = starts
        .chunks(window.len())
        .flat_map(|start| {
            let ranges: Vec<AxisSelection> = start
                .iter()
                .zip(&window)
                .map(|(start, count)| AxisSelection::Range {
                    start: *start,
                    step: 1,
                    count: *count,
                })
                .collect();
            model.read(&ranges)
        })
        .collect();
    assert_eq!(out, expected, "seed {seed}");
}

/// A window that leaves the array: elements outside are unchanged.
fn clipped_windows_agree(random: &mut Random, io: &ArrayIO, model: &Model, seed: u64) {
    let axes = model.shape.len();
    let window: Vec<u64> = model.shape.iter().map(|n| 1 + random.below(n + 2)).collect();
    let start: Vec<i64> =
        model.shape.iter().map(|n| random.below(3 * n + 1) as i64 - (*n as i64 + 2)).collect();
    let far = vec![i64::MIN; axes];
    let starts: Vec<u64> = start.iter().chain(&far).map(|at| *at as u64).collect();
    let mut shape = vec![2];
    shape.extend(window.iter().map(|n| *n as usize));
    let strides = c_strides(&shape, model.item);
    let mut out = vec![0xEEu8; shape.iter().product::<usize>() * model.item];
    // SAFETY: the vector holds both windows.
    let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
    io.read_windows(&starts, Outside::Skip, target, GO_ON).unwrap();
    for (number, element) in out.chunks(model.item).enumerate() {
        let mut rest = number;
        let mut at = vec![0i64; axes];
        for axis in (0..axes).rev() {
            at[axis] = start[axis] + (rest % shape[axis + 1]) as i64;
            rest /= shape[axis + 1];
        }
        let inside =
            rest == 0 && at.iter().zip(&model.shape).all(|(at, n)| (0..*n as i64).contains(at));
        let expected = if inside {
            let point: Vec<_> = at.iter().map(|at| AxisSelection::Index(*at as u64)).collect();
            model.read(&point)
        } else {
            vec![0xEE; model.item]
        };
        assert_eq!(element, expected, "seed {seed}");
    }
}

/// Boxes with their own indices along some axes; of two writes to one element, the last one counts.
fn boxes_agree(random: &mut Random, io: &ArrayIO, model: &mut Model, seed: u64) {
    let count = random.below(7) as usize;
    let shared = some_selection(random, &model.shape);
    let own: Vec<Option<Vec<u64>>> = model
        .shape
        .iter()
        .map(|n| (random.below(2) == 0).then(|| (0..count).map(|_| random.below(*n)).collect()))
        .collect();
    let along: Vec<Along<'_>> = own
        .iter()
        .zip(&shared)
        .map(|(own, shared)| own.as_ref().map_or(Along::Shared(shared.clone()), |i| Along::Each(i)))
        .collect();
    let one = |i: usize| -> Vec<AxisSelection> {
        let axes = own.iter().zip(&shared);
        axes.map(|(own, shared)| {
            own.as_ref().map_or(shared.clone(), |own| AxisSelection::Index(own[i]))
        })
        .collect()
    };
    let mut shape = vec![count];
    let left: Vec<AxisSelection> = own
        .iter()
        .zip(&shared)
        .filter(|(own, _)| own.is_none())
        .map(|(_, shared)| shared.clone())
        .collect();
    shape.extend(counts(&left));
    let strides = c_strides(&shape, model.item);
    let bytes = shape.iter().product::<usize>() * model.item;
    let each = bytes / count.max(1);
    if random.below(2) == 0 {
        let value: Vec<u8> = (0..bytes).map(|_| random.below(250) as u8).collect();
        // SAFETY: the vector holds all boxes.
        let source = unsafe { Source::new(value.as_ptr(), &shape, &strides) };
        io.write_boxes(&along, source, Durability::Process, GO_ON).unwrap();
        for i in 0..count {
            model.write(&one(i), &value[i * each..(i + 1) * each]);
        }
    }
    let mut out = vec![0xEEu8; bytes];
    // SAFETY: the vector holds all boxes.
    let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
    io.read_boxes(&along, target, GO_ON).unwrap();
    let expected: Vec<u8> = (0..count).flat_map(|i| model.read(&one(i))).collect();
    assert_eq!(out, expected, "seed {seed}");
    let cost = io.cost_of_boxes(&along, count, GO_ON).unwrap();
    assert!(cost.stored <= cost.values && cost.values <= cost.chunks, "seed {seed}: {cost:?}");
}

#[test]
fn random_reads_and_writes_agree_with_a_plain_vector() {
    for seed in 0..120u64 {
        let random = &mut Random(seed);
        // Every second seed uses a decoded-chunk cache that is too small for all chunks.
        zarrix_engine::set_chunk_cache_bytes(seed as usize % 2 * 20_000);
        let axes = random.below(4) as usize;
        let shape: Vec<u64> = (0..axes).map(|_| 1 + random.below(20)).collect();
        let chunks: Vec<u64> = (0..axes).map(|_| 1 + random.below(12)).collect();
        let item = [1, 2, 3, 4, 8, 16][random.below(6) as usize];
        let order = if random.below(2) == 0 { transpose(axes) } else { String::new() };
        let bytes =
            if random.below(3) == 0 { r#"{"name": "bytes"}"#.to_string() } else { blosc(item) };
        // The axes of an inner chunk are those of the transposed shard.
        let mut stored = chunks.clone();
        if !order.is_empty() {
            stored.reverse();
        }
        let bytes = match random.below(3) {
            0 => bytes,
            nesting => shard(random, &stored, &bytes, nesting == 2),
        };
        let directory = std::env::temp_dir().join(format!("zarrix-{}-{seed}", std::process::id()));
        let store: Arc<dyn Store> = if random.below(2) == 0 {
            Arc::new(MemoryStore::new())
        } else {
            Arc::new(LocalStore::new(&directory))
        };
        let layout = layout(&shape, &chunks, item, &format!("{order}{bytes}"), seed % 2 == 0);
        let io = ArrayIO::new(store, "some/array", layout);
        let mut model = Model::new(&shape, &vec![0x2a; item]);
        for _ in 0..40 {
            let selection = some_selection(random, &shape);
            if random.below(2) == 0 {
                let bytes = counts(&selection).iter().product::<usize>() * item;
                let value: Vec<u8> = (0..bytes).map(|_| random.below(4) as u8 + 0x28).collect();
                write(&io, &selection, &value, item);
                model.write(&selection, &value);
            }
            assert_eq!(read(&io, &selection, item).unwrap(), model.read(&selection), "seed {seed}");
            if axes > 0 {
                points_agree(random, &io, &mut model, seed);
                windows_agree(random, &io, &model, seed);
                clipped_windows_agree(random, &io, &model, seed);
                boxes_agree(random, &io, &mut model, seed);
            }
        }
        let _ = std::fs::remove_dir_all(&directory);
    }
}

#[test]
fn parts_of_large_local_chunks_agree_with_a_plain_vector() {
    let shape = [5u64, 200, 300];
    let large = [3u64, 128, 256];
    let plain = r#"{"name": "bytes"}"#.to_string();
    let stored = blosc(2).replace("\"clevel\": 5", "\"clevel\": 0");
    for (seed, codecs) in [plain, blosc(2), stored].into_iter().enumerate() {
        for order in [String::new(), transpose(3)] {
            let random = &mut Random(seed as u64);
            // Caching blocks changes no result; it is on if `order` is set, and off otherwise.
            zarrix_engine::set_chunk_cache_bytes(order.len() << 13);
            let directory =
                std::env::temp_dir().join(format!("zarrix-parts-{}-{seed}", std::process::id()));
            let store: Arc<dyn Store> = Arc::new(LocalStore::new(&directory));
            let layout = layout(&shape, &large, 2, &format!("{order}{codecs}"), true);
            let io = ArrayIO::new(Arc::clone(&store), "a", layout);
            let mut model = Model::new(&shape, &[0x2a; 2]);
            let all = shape.map(|count| AxisSelection::Range { start: 0, step: 1, count });
            let value: Vec<u8> = (0..5 * 200 * 300 * 2u64).map(|i| (i * i / 7919) as u8).collect();
            write(&io, &all, &value, 2);
            model.write(&all, &value);
            for _ in 0..60 {
                let selection = some_selection(random, &shape);
                assert_eq!(read(&io, &selection, 2).unwrap(), model.read(&selection));
                points_agree(random, &io, &mut model, seed as u64);
                windows_agree(random, &io, &model, seed as u64);
            }
            let mut whole = Vec::new();
            store.get_into("a/0.0.0", &mut whole).unwrap();
            let one = [1u64, 2, 3].map(AxisSelection::Index);
            for cut in [whole.len() - 1, whole.len() / 2, 40, 16, 15, 1, 0] {
                store.put("a/0.0.0", &whole[..cut], Durability::Process).unwrap();
                let error = read(&io, &one, 2).unwrap_err();
                assert!(
                    matches!(&error, EngineError::CorruptChunk { key, .. } if key == "a/0.0.0")
                );
            }
            let longer = [whole.as_slice(), &[0]].concat();
            store.put("a/0.0.0", &longer, Durability::Process).unwrap();
            // Bytes after a frame are ignored; without a codec, only the chunk marks the end of the
            // elements.
            match read(&io, &one, 2) {
                Ok(element) => assert!(seed > 0 && element == model.read(&one)),
                Err(error) => assert!(seed == 0, "{error}"),
            }
            let _ = std::fs::remove_dir_all(&directory);
        }
    }
}

#[test]
fn threads_that_write_different_elements_of_one_chunk_all_keep_theirs() {
    let io =
        ArrayIO::new(Arc::new(MemoryStore::new()), "", layout(&[64], &[64], 4, &blosc(4), true));
    for round in 0..20u8 {
        std::thread::scope(|scope| {
            for i in 0..64u64 {
                let io = &io;
                scope.spawn(move || write(io, &[AxisSelection::Index(i)], &[round; 4], 4));
            }
        });
        let all = [AxisSelection::Range { start: 0, step: 1, count: 64 }];
        assert_eq!(read(&io, &all, 4).unwrap(), vec![round; 256]);
    }
}

#[test]
fn a_chunk_that_is_cut_or_longer_than_declared_is_an_error_that_names_it() {
    let bytes = r#"{"name": "bytes"}"#.to_string();
    // Any bytes may follow a frame.
    for (codecs, longer) in [(blosc(4), None), (bytes, Some([0]))] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let io = ArrayIO::new(Arc::clone(&store), "a", layout(&[512], &[256], 4, &codecs, true));
        let all = [AxisSelection::Range { start: 0, step: 1, count: 512 }];
        let part = [AxisSelection::Range { start: 300, step: 1, count: 3 }];
        let value: Vec<u8> = (0..2048).map(|i| (i % 250) as u8).collect();
        write(&io, &all, &value, 4);
        let mut whole = Vec::new();
        store.get_into("a/1", &mut whole).unwrap();
        let longer = longer.map(|byte| [whole.as_slice(), &byte].concat());
        for damaged in [Some(whole[..whole.len() - 1].to_vec()), longer].into_iter().flatten() {
            store.put("a/1", &damaged, Durability::Process).unwrap();
            for selection in [&all, &part] {
                let error = read(&io, selection, 4).unwrap_err();
                assert!(
                    matches!(&error, EngineError::CorruptChunk { key, .. } if key == "a/1"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn a_handle_that_missed_a_resize_keeps_what_was_written_beyond_its_edge() {
    let shards = shard(&mut Random(1), &[6], &blosc(4), false);
    for codecs in [blosc(4), shards] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let stale = ArrayIO::new(Arc::clone(&store), "", layout(&[3], &[6], 4, &codecs, true));
        let grown = ArrayIO::new(store, "", layout(&[5], &[6], 4, &codecs, true));
        let range = |start, count| [AxisSelection::Range { start, step: 1, count }];
        write(&grown, &range(3, 2), &[7; 8], 4);
        write(&stale, &range(0, 3), &[1; 12], 4);
        let expected: Vec<u8> = [[1u8; 4]; 3].concat().into_iter().chain([7; 8]).collect();
        assert_eq!(read(&grown, &range(0, 5), 4).unwrap(), expected);
    }
}

#[test]
fn a_damaged_chunk_can_be_written_anew_as_a_whole() {
    let shards = shard(&mut Random(1), &[6], &blosc(4), false);
    for codecs in [blosc(4), shards] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let io = ArrayIO::new(Arc::clone(&store), "", layout(&[3], &[6], 4, &codecs, true));
        store.put("0", b"no chunk at all", Durability::Process).unwrap();
        let all = [AxisSelection::Range { start: 0, step: 1, count: 3 }];
        assert!(read(&io, &all, 4).is_err());
        write(&io, &all, &[1; 12], 4);
        assert_eq!(read(&io, &all, 4).unwrap(), [1; 12]);
    }
}

#[test]
fn shrinking_erases_the_chunks_outside_and_no_others() {
    let io = ArrayIO::new(
        Arc::new(MemoryStore::new()),
        "",
        layout(&[10, 10], &[3, 4], 1, r#"{"name": "bytes"}"#, true),
    );
    let all = [const { AxisSelection::Range { start: 0, step: 1, count: 10 } }; 2];
    write(&io, &all, &[1; 100], 1);
    assert_eq!(io.stored_chunks().unwrap().len(), 12);
    // SAFETY: one element, which outlives the call.
    let fill = unsafe { Source::new([9u8].as_ptr(), &[], &[]) };
    assert_eq!(io.clear_outside(&[4, 8], fill, Durability::Process, &|| false).unwrap(), 8);
    let keys: Vec<String> = io.stored_chunks().unwrap().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["0.0", "0.1", "1.0", "1.1"]);
    let kept = [
        AxisSelection::Range { start: 0, step: 1, count: 6 },
        AxisSelection::Range { start: 0, step: 1, count: 8 },
    ];
    let mut expected = [1; 48];
    expected[32..].fill(9);
    assert_eq!(read(&io, &kept, 1).unwrap(), expected);
}

#[test]
fn cutting_an_array_looks_only_at_chunks_that_are_stored() {
    let store = Arc::new(CountingStore::new(Arc::new(MemoryStore::new()), true));
    let huge = layout(&[1 << 40, 1 << 40], &[3, 3], 1, r#"{"name": "bytes"}"#, true);
    let io = ArrayIO::new(Arc::clone(&store) as Arc<dyn Store>, "", huge);
    let one = [AxisSelection::Index(1), AxisSelection::Index(100)];
    write(&io, &one, &[7], 1);
    store.take();
    // SAFETY: one element, which outlives the call.
    let fill = unsafe { Source::new([0u8].as_ptr(), &[], &[]) };
    assert_eq!(io.clear_outside(&[2, 1 << 39], fill, Durability::Process, &|| false).unwrap(), 0);
    // The one chunk, read and stored.
    assert_eq!(store.take().len(), 2);
    assert_eq!(read(&io, &one, 1).unwrap(), [7]);
}

#[test]
fn only_the_chunks_that_are_selected_are_fetched() {
    let store = Arc::new(CountingStore::new(Arc::new(MemoryStore::new()), true));
    let huge = layout(&[1 << 40, 1 << 40], &[1, 1 << 20], 1, &blosc(1), true);
    let io = ArrayIO::new(Arc::clone(&store) as Arc<dyn Store>, "", huge);
    let stepped =
        [AxisSelection::Range { start: 7, step: 1 << 38, count: 3 }, AxisSelection::Index(1 << 39)];
    assert_eq!(read(&io, &stepped, 1).unwrap(), vec![0x2a; 3]);
    assert_eq!(store.take().len(), 3);
}
