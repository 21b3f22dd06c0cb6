"""A few bytes of metadata or of a chunk do not take memory that was not asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import zarrix
from zarrix._runtime.memory import memory_bytes

HUGE = 2**31 - 1
# Prints by how many MiB the process has grown at its peak.
OPENED = """
import resource, sys, zarrix
zarrix.open(sys.argv[1] + "/small", mode="r")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    z = zarrix.open(sys.argv[1] + "/bomb", mode="r")
    print(repr(z.fill_value), end=" ")
except zarrix.errors.MetadataError as error:
    print("refused" if "config.max_document_bytes" in str(error) else error, end=" ")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


def v2(dtype: Any, fill_value: Any) -> dict[str, Any]:
    return {
        "zarr_format": 2, "shape": [3], "chunks": [1], "dtype": dtype, "fill_value": fill_value,
        "order": "C", "compressor": None, "filters": None,
    }  # fmt: skip


def v3(data_type: Any, fill_value: Any) -> dict[str, Any]:
    return {
        "zarr_format": 3, "node_type": "array", "shape": [3], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value,
        "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
    }  # fmt: skip


def fixed(name: str) -> dict[str, Any]:
    return {"name": name, "configuration": {"length_bytes": HUGE // 4 * 4}}


@pytest.mark.parametrize(
    ("document", "fill"),
    [
        (v2(f"|S{HUGE}", ""), "np.bytes_(b'')"),
        (v2(f"|S{HUGE}", "YQ=="), "np.bytes_(b'a')"),
        (v2(f"|S{HUGE}", 0), "np.bytes_(b'0')"),
        (v2(f"<U{HUGE // 4}", "ab"), "'ab'"),
        (v2(f"|V{HUGE}", ""), "refused"),
        (v2(f"|V{HUGE}", None), "None"),
        (v3(fixed("null_terminated_bytes"), ""), "np.bytes_(b'')"),
        (v3(fixed("fixed_length_utf32"), "ab"), "np.str_('ab')"),
        (v3(fixed("raw_bytes"), ""), "refused"),
    ],
)
def test_opening_an_array_makes_no_element_of_it(
    tmp_path: Path, document: dict[str, Any], fill: str
) -> None:
    zarrix.create(store=f"{tmp_path}/small", shape=1)
    name = ".zarray" if document["zarr_format"] == 2 else "zarr.json"
    (tmp_path / "bomb").mkdir()
    (tmp_path / "bomb" / name).write_text(json.dumps(document))
    command = [sys.executable, "-c", OPENED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    printed, grown = done.stdout.rsplit(" ", 1)
    assert printed.replace("np.", "").replace("numpy.", "") == fill.replace("np.", "")
    assert int(grown) < 100


def test_long_elements_with_a_fill_value_are_read_and_written(tmp_path: Path) -> None:
    for dtype, fill in (("S10000", b"ab"), ("U5000", "äb"), (">U5000", "äb"), ("S10000", b"")):
        for zarr_format in (2, 3):
            kwargs = {"write_empty_chunks": False, "zarr_format": zarr_format}
            z = zarrix.create(5, chunks=2, dtype=dtype, fill_value=fill, **kwargs)
            z[1:3] = numpy.array(["x", "yz"], dtype)
            wanted = numpy.full(5, fill, dtype)
            wanted[1:3] = ["x", "yz"]
            assert numpy.array_equal(z[:], wanted)
            assert numpy.array_equal(z.oindex[[4, 0, 2]], wanted[[4, 0, 2]])
            z[1:3] = fill
            assert z.nchunks_initialized == 0


def test_a_chunk_of_text_is_decoded_up_to_a_limit_of_its_own() -> None:
    text = numpy.array(["a" * 1000] * 1000, dtype=object)
    for zarr_format in (2, 3):
        with zarrix.config(max_variable_chunk_bytes=100_000):
            z = zarrix.create(1000, chunks=1000, dtype=str, zarr_format=zarr_format)
            z[:] = text
            with pytest.raises(zarrix.errors.CorruptChunkError, match="max_variable_chunk_bytes"):
                z[:]
        with zarrix.config(max_chunk_bytes=100_000):
            z = zarrix.open(z.store, mode="r")
            with pytest.raises(zarrix.errors.CorruptChunkError, match="max_variable_chunk_bytes"):
                z[:]
        assert zarrix.open(z.store, mode="r")[5] == "a" * 1000
    assert zarrix.config.max_variable_chunk_bytes == 1 << 30


@pytest.mark.parametrize(
    ("groups", "files", "wanted"),
    [
        ("0::/job/step\n", {"job/memory.max": "7000", "job/step/memory.max": "max"}, 7000),
        ("0::/job\n", {"memory.max": "9000"}, 9000),
        ("5:cpu,cpuacct:/x\n4:memory:/job\n", {"memory/job/memory.limit_in_bytes": "8000"}, 8000),
        ("4:memory:/job\n0::/\n", {"memory/memory.limit_in_bytes": "9223372036854771712"}, None),
        ("0::/../other\n", {"memory.max": "6000"}, 6000),
        ("nonsense", {}, None),
        (None, {}, None),
    ],
)  # fmt: skip
def test_the_memory_of_a_process_is_bounded_by_its_cgroups(
    tmp_path: Path, groups: str | None, files: dict[str, str], wanted: int | None
) -> None:
    everything = memory_bytes(tmp_path)
    files = {f"sys/fs/cgroup/{name}": content for name, content in files.items()}
    if groups is not None:
        files["proc/self/cgroup"] = groups
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert memory_bytes(tmp_path) == (everything if wanted is None else wanted)
