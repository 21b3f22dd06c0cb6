"""Nothing in the engine allocates a length that it was given by a call that ends the process.

``Vec::with_capacity``, ``resize``, ``reserve``, ``to_vec``, ``concat`` and ``vec![0; n]`` abort
where memory is refused. What has its length from a file, a server or a caller is allocated by
``zarrix_codec::memory``; every other place is listed here with what bounds it. Where a selection
decides how many chunks a call has, lists that grow one by one are found, too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"
ABORTS = re.compile(
    r"\b(?:with_capacity|resize|reserve|reserve_exact|to_vec|concat|repeat)\(|\bvec!\[[^\]]*;"
    r"|\bArc::from\(|\bPyBytes::new\("
)
# By file, the beginning of each line that may, and what bounds it.
AXES = "an entry for each axis"
CODECS = "an entry for each codec of a document"
DOCUMENT = "an entry for each of a document, which is bounded itself"
BATCH = "a batch of so many chunks"
NAMES = "the length of a name"
ALLOWED: dict[str, dict[str, str]] = {
    "codec/n5.rs": {"let mut header = [DEFAULT_MODE": "four bytes"},
    "engine/cache/chunks.rs": {
        "CACHE.get().resize()": "the cache's own method",
        "fn resize(&self)": "the cache's own method",
    },
    "engine/layout/chunk.rs": {"let mut chain: Vec<Arc<dyn Codec>>": CODECS},
    "engine/layout/document.rs": {"foreign: foreign.to_vec()": CODECS},
    "engine/layout/grid.rs": {"let mut firsts = Vec::with_capacity(runs.len())": DOCUMENT},
    "engine/memory/copy.rs": {"let mut merged = Dims::with_capacity(dims.len())": AXES},
    "engine/memory/resampling.rs": {"Ok(Self { from: from.to_vec(), to: to.to_vec()": AXES},
    "engine/read/batched.rs": {"let mut steps = Vec::with_capacity(jobs.len())": BATCH},
    "engine/read/parallel_shards.rs": {
        "let mut found: Vec<Vec<Found": "an entry for each shard, fewer than threads"
    },
    "engine/read/strategy.rs": {"let mut coords = vec![0; plan.axes().len()]": AXES},
    "engine/selection/picks.rs": {"strides.resize(chunk.shape.len(), 0)": AXES},
    "py/many.rs": {"let mut strides = vec![item as isize; shape.len()]": AXES},
    "py/python_store.rs": {"let mut asked = Vec::with_capacity(requests.len())": BATCH},
    "py/objects.rs": {
        "let mut strides = vec![0; slots.shape.len()]": AXES,
        "Ok(Source { codec: self, elements, shape: slots.shape.to_vec()": AXES,
    },
    "store/icechunk/places.rs": {"let mut bytes = Vec::with_capacity(path.len())": NAMES},
    "store/local/carry_space.rs": {
        "let mut marks = Vec::with_capacity(chunks.len())": "a list of names that is longer itself"
    },
    "store/local/rows.rs": {"let (mut hash, mut buffer) =": "256 KiB"},
    "store/local/store.rs": {
        "long = vec![0; length + 1]": NAMES,
        "let wanted = reserve(dst,": "fallible: reserve() of this file",
        "fn reserve(dst: &mut Vec<u8>, more: u64) -> io::Result": "fallible",
    },
    "store/object/client.rs": {"Part::Ranges(ranges) => Self::Ranges": "the ranges of a batch"},
    "store/object/pinned.rs": {
        "has_any.then(|| ranges.to_vec())": "the ranges of a batch",
        "let mut versions = Vec::with_capacity(asked.len())": BATCH,
    },
    "store/object/s3.rs": {
        "let mut encoded = String::with_capacity(text.len())": NAMES,
        "let mut plain = String::with_capacity(text.len())": "a name in an answer",
    },
    "store/object/store.rs": {"let ranges = ranges.to_vec()": "the ranges of a batch"},
    "store/files/partial.rs": {
        "has_lock(name).then(": NAMES,
        "[path, format!(": NAMES,
    },
    "store/sys/windows.rs": {
        "dst.resize(begin + wanted, 0)": "the caller has reserved it, fallibly",
        "let mut room = vec![0_u16; 512]": "a constant",
        "length => room.resize(length + 1, 0)": "the length of a path",
    },
    "store/zip/format.rs": {
        "let comment = found.get(END_BYTES..)?": "64 KiB, as its length has 16 bits",
        "let mut out = LOCAL.to_le_bytes().to_vec()": "four bytes",
    },
    "store/zip/lengthen.rs": {
        "let mut room = vec![0; bytes + PAGE]": "as long as a directory held"
    },
    "store/zip/writing.rs": {"Ending { comment: comment.to_vec()": "64 KiB"},
}

# Lists whose length a selection, a shard or a call decides grow in these rooms.
GROWING_ROOMS = ("engine/selection/", "engine/calls/", "engine/read/", "engine/elements/")
GROWS = re.compile(r"\.(?:push|extend|push_back)\(|\bcollect(?:\(|::<)|\bfrom_iter\(")
PIECES = "MOST_PIECES of a call"
ROOM = "room was made before, fallibly"
ENTRIES = "an entry for each that the caller passed"
ONE_CHUNK = "indices in one chunk, of a list that the caller passed"
GROWING: dict[str, dict[str, str]] = {
    "engine/calls/entry.rs": {
        "(0..self.windows()).filter(": ENTRIES,
        "dims.map(|(count, dst)| Dim": AXES,
    },
    "engine/calls/resized.rs": {"self.turns.iter().flat_map(": AXES},
    "engine/calls/many.rs": {
        "let mut counts: Vec<AtomicUsize>": ENTRIES,
        "groups.push(Group": ENTRIES,
        "self.boxes.push(boxes)": ENTRIES,
        "None => self.outs.push(": ENTRIES,
        ".extend(each.iter()": ENTRIES,
        "self.entries.push(number)": ENTRIES,
        "ChunkJob { coords: self.array.coords_of(pieces": PIECES,
        "Some(same) => batched[same].extend(runs)": PIECES,
        "None => batched.push(runs.collect())": PIECES,
        "tasks.extend(": PIECES,
        "waiting.extend([low, high])": "halves of a chunk's pieces",
        "locked(&self.failures).push(": ENTRIES,
    },
    "engine/calls/points.rs": {
        "axes.map(|(inside, given)|": AXES,
        "order.push(point)": ROOM,
        ".collect();": AXES,
        "inside.push(": AXES,
        "positions.push(": ROOM,
        "packed.extend(": ROOM,
        "pairs.extend(": ROOM,
    },
    "engine/calls/regroup.rs": {
        "source.each_encoded(": "fallible: a method of Assembly",
        ".collect()": AXES,
        "places.extend(": ROOM,
        "let keys: Vec<String> = places": "as many as places, which have room",
        "let outer = outer.collect()": AXES,
        "wanted.entry(outer)": "as many as places, which have room",
        "spans.push(": "as many as places, which have room",
        "runs.push(": "as many as places, which have room",
        "inside.push(": "as many as places, which have room",
    },
    "engine/calls/servers.rs": {
        "own.push(item)": "MOST_AT_ONCE",
        "results.push(done_by(item": "MOST_AT_ONCE",
        "results.extend(wait_for_all(": "MOST_AT_ONCE",
        "Ok(result) => results.push(result)": "MOST_AT_ONCE",
        "results.push(Err(E::interrupted()))": "MOST_AT_ONCE",
        "let mut errors: Vec<E>": "MOST_AT_ONCE",
    },
    "engine/calls/windows.rs": {
        "plans.push(plan)": ROOM,
        "*plan = plan.iter().flat_map(Segment::singles)": "an index for each conversion",
        "parts.push(": AXES,
        "ChunkJob { coords: self.coords_of(run": PIECES,
        "let axes = (0..axes).map(along)": AXES,
        "selection.push(": AXES,
        "axes.push(": AXES,
        "repeated.extend(": ROOM,
        "shape.extend(": AXES,
    },
    "engine/elements/block_means.rs": {
        "source.shape().iter().zip(factors)": AXES,
        "row.axes.push(": AXES,
    },
    "engine/elements/histogram.rs": {"let bins = (1..edges.len())": ENTRIES},
    "engine/elements/summary.rs": {"let edges: Vec<T::Edge>": ENTRIES},
    "engine/read/batched.rs": {
        "Self::Inner(inner) =>": "as many as ranges, which grew fallibly",
        "Self::Pages(runs) =>": "pages of a chunk, which is in memory",
        "let jobs: Vec<ArrayJob": BATCH,
        "let chunks: Vec<ChunkRef": BATCH,
        "let keys: Vec<String>": BATCH,
        "Some(step) => steps.push": BATCH,
        "let ranges: Vec<_>": BATCH,
        ".collect();": BATCH,
        "locked(&next).push": BATCH,
        "Ok(fetched) if failed.is_none() => ready.push": BATCH,
        "Some(after) => locked(next).push": BATCH,
    },
    "engine/read/cached.rs": {
        "let cached = table.extents()": "blocks of a frame that is read",
        "let missing: Vec<usize>": "blocks of a frame that is read",
        "let extents = missing.iter()": "blocks of a frame that is read",
        "for index in blocks.missing()": "blocks of a frame that is read",
    },
    "engine/read/chunk.rs": {
        ".collect::<Result<_>>()?": AXES,
        "let parts = plans.iter()": AXES,
    },
    "engine/read/interleaved.rs": {
        "let tasks: Vec<usize>": "MAX_OPEN",
        "let coords: Vec<u64>": AXES,
        "let groups: Vec<&[Member": "MAX_OPEN",
        "let opened: Vec<OnceLock<Member": "MAX_OPEN",
        "Ok(opened.into_iter()": "MAX_OPEN",
        "let dims = dims.iter()": AXES,
    },
    "engine/read/chunk_job.rs": {"let coords = segments.iter()": AXES},
    "engine/read/listed.rs": {
        "let parts = (0..axes)": AXES,
        "let keys: Vec<String> = coords": "PROBES",
        "let requests: Vec<Request": "PROBES",
        "let job = |index: usize| ChunkJob::of": AXES,
        "inner.iter().map(|length| AxisGrid": AXES,
        "found.extend(": ROOM,
        "let all = ChunkSelection::Box": AXES,
    },
    "engine/read/parallel_shards.rs": {
        "let places: Vec<OnceLock<Opened": "fewer than ENOUGH_SHARDS for each thread",
        "places.into_iter()": "fewer than ENOUGH_SHARDS for each thread",
        "found.push(scratch::with": "fewer than ENOUGH_SHARDS for each thread",
    },
    "engine/read/parts.rs": {
        "Ok(coalesce_ranges(touched": "pages of a chunk, which is in memory",
        "let runs = coalesce_ranges(touched": "blocks of a frame that is read",
        "Ok((0..needed.len())": "blocks of a frame that is read",
    },
    "engine/selection/blocks.rs": {
        "let plans = all.map(": AXES,
        "self.axes.iter().zip(grid)": AXES,
        ".collect()": AXES,
    },
    "engine/selection/chunk_selection.rs": {
        "placed.grid.dims.push": AXES,
        "Part::Listed { positions, offsets } => placed.grid.lists.push": AXES,
        "dst: offsets.iter()": ONE_CHUNK,
        "src: positions.iter()": ONE_CHUNK,
        "Self::Box { parts: segments.iter()": AXES,
        "cut.plans.push(": PIECES,
        "self.points.push(": PIECES,
        "(run[0].0, selected.collect())": PIECES,
    },
    "engine/selection/plan.rs": {
        ".collect()": AXES,
        "positions.iter().zip(offsets)": "an index for each conversion",
        "plan.push(segment)": ROOM,
    },
    "engine/selection/runs.rs": {"_ => merged.push(dim)": AXES},
}


def code_of(path: Path) -> list[str]:
    """The lines of a source file, without its unit tests and comments."""
    text = path.read_text().split("#[cfg(test)]")[0]
    return [line.strip() for line in text.splitlines() if not line.strip().startswith("//")]


def unlisted(
    pattern: re.Pattern[str], listed: dict[str, dict[str, str]], rooms: tuple[str, ...] = ("",)
) -> dict[str, list[str]]:
    """The lines of each file that the pattern finds, and that the table does not have.

    A list for each axis says so by its type.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(CRATES.glob("*/src/**/*.rs")):
        name = path.relative_to(CRATES).as_posix().replace("/src/", "/")
        if name in {"codec/memory.rs"} or "/testing/" in name or not name.startswith(rooms):
            continue
        allowed = tuple(listed.get(name, ()))
        lines = [line for line in code_of(path) if pattern.search(line)]
        if rooms != ("",):
            lines = [line for line in lines if "PerAxis" not in line and "memory::" not in line]
        if lines := [line for line in lines if not line.startswith(allowed or ("\0",))]:
            found[name] = lines
    return found


def test_lengths_that_were_given_are_allocated_where_refused_memory_is_an_error() -> None:
    assert unlisted(ABORTS, ALLOWED) == {}


def test_lists_whose_length_a_selection_decides_grow_where_refused_memory_is_an_error() -> None:
    assert unlisted(GROWS, GROWING, GROWING_ROOMS) == {}


@pytest.mark.parametrize("listed", [ALLOWED, GROWING])
def test_every_allowed_place_is_still_there(listed: dict[str, dict[str, str]]) -> None:
    for name, places in listed.items():
        lines = code_of(CRATES / name.replace("/", "/src/", 1))
        for begin in places:
            assert any(line.startswith(begin) for line in lines), (name, begin)
