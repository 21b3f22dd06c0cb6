"""Nothing in the engine allocates a length that it was given by a call that ends the process.

``Vec::with_capacity``, ``resize``, ``reserve``, ``to_vec``, ``concat`` and ``vec![0; n]`` abort
where memory is refused. What has its length from a file, a server or a caller is allocated by
``zarrix_codec::memory``; every other place is listed here with what bounds it.
"""

from __future__ import annotations

import re
from pathlib import Path

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
    "engine/read/batched.rs": {"let mut steps = Vec::with_capacity(jobs.len())": BATCH},
    "engine/read/parallel_shards.rs": {
        "let mut found: Vec<Vec<Found": "an entry for each shard, fewer than threads"
    },
    "engine/read/shard.rs": {
        "let Some(elements) = is_cacheable": "a few words for each inner chunk in a batch"
    },
    "engine/read/strategy.rs": {"let mut coords = vec![0; plan.axes().len()]": AXES},
    "engine/selection/picks.rs": {"strides.resize(chunk.shape.len(), 0)": AXES},
    "engine/selection/plan.rs": {"let mut axes = PerAxis::with_capacity": AXES},
    "py/python_store.rs": {"let mut asked = Vec::with_capacity(requests.len())": BATCH},
    "py/objects.rs": {
        "let mut strides = vec![0; slots.shape.len()]": AXES,
        "Ok(Source { codec: self, elements, shape: slots.shape.to_vec()": AXES,
    },
    "store/local/store.rs": {
        "long = vec![0; length + 1]": NAMES,
        "let wanted = reserve(dst,": "fallible: reserve() of this file",
        "fn reserve(dst: &mut Vec<u8>, more: u64) -> io::Result": "fallible",
    },
    "store/object/client.rs": {"Part::Ranges(ranges) => Self::Ranges": "the ranges of a batch"},
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


def code_of(path: Path) -> list[str]:
    """The lines of a source file, without its unit tests and comments."""
    text = path.read_text().split("#[cfg(test)]")[0]
    return [line.strip() for line in text.splitlines() if not line.strip().startswith("//")]


def test_lengths_that_were_given_are_allocated_where_refused_memory_is_an_error() -> None:
    found: dict[str, list[str]] = {}
    for path in sorted(CRATES.glob("*/src/**/*.rs")):
        name = path.relative_to(CRATES).as_posix().replace("/src/", "/")
        if name in {"codec/memory.rs"} or "/testing/" in name:
            continue
        allowed = tuple(ALLOWED.get(name, ()))
        lines = [line for line in code_of(path) if ABORTS.search(line)]
        if lines := [line for line in lines if not line.startswith(allowed or ("\0",))]:
            found[name] = lines
    assert found == {}


def test_every_allowed_place_is_still_there() -> None:
    for name, places in ALLOWED.items():
        lines = code_of(CRATES / name.replace("/", "/src/", 1))
        for begin in places:
            assert any(line.startswith(begin) for line in lines), (name, begin)
