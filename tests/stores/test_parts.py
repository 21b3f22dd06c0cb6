"""Parts of a file as a store: the protocol of stores, and files that change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._engine import check_reading
from zarrix._hierarchy.copy_store import copied
from zarrix._stores.parts import FileParts

CONTENT = np.random.default_rng(0).bytes(2**20)
# The engine copies long values by the system, and short ones through memory.
PARTS = [("a/0.0", 7, 300), ("a/0.1", 400, 0), ("a/1.0", 1001, 600_000), ("b/c/0", 1000, 40)]


def seen(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.bin"
    path.write_bytes(CONTENT)
    return path


def test_it_has_the_protocol_of_read_only_stores(file: Path) -> None:
    one, twin = (FileParts(str(file), seen(file), PARTS) for _ in range(2))
    held = {key: CONTENT[offset : offset + length] for key, offset, length in PARTS}
    check_reading(one._engine, twin._engine, held, True)
    assert dict(one) == held
    other = FileParts(str(file), seen(file), PARTS[:2])
    assert other._engine.id != one._engine.id
    with pytest.raises(zarr.errors.ReadOnlyError):
        one["a/0.0"] = b"x"
    with pytest.raises(zarr.errors.ReadOnlyError):
        one._engine.put("a/0.0", b"x")


@pytest.mark.parametrize("kind", ["directory", "memory", "zip"])
def test_its_values_are_copied(kind: str, file: Path, tmp_path: Path) -> None:
    dest: Any = {
        "directory": lambda: zarr.DirectoryStore(tmp_path / "x"),
        "memory": zarr.MemoryStore,
        "zip": lambda: zarr.ZipStore(tmp_path / "x.zip", mode="w"),
    }[kind]()
    parts = FileParts(str(file), seen(file), PARTS)
    assert sum(count for count, _ in copied(parts, dest, [(key, key) for key in parts], 2)) == 4
    assert dict(dest) == dict(parts)
    dest.close()


def test_a_file_that_changes_is_an_error(file: Path) -> None:
    before = seen(file)
    parts = FileParts(str(file), before, PARTS)
    assert parts["b/c/0"] == CONTENT[1000:1040]
    with open(file, "r+b") as opened:
        opened.write(b"changed")
    os.utime(file, ns=(1, 1))
    with pytest.raises(zarr.errors.CorruptStoreError, match="has changed while it was read"):
        parts["b/c/0"]
    with pytest.raises(zarr.errors.CorruptStoreError, match="has changed while it was read"):
        FileParts(str(file), before, PARTS)["b/c/0"]


@pytest.mark.parametrize(
    "part", [("a", 2**20, 1), ("a", 0, 2**20 + 1), ("a", 2**63, 2**63), ("a", 2**64 - 1, 2)]
)
def test_parts_outside_the_file_are_an_error(part: tuple[str, int, int], file: Path) -> None:
    with pytest.raises(OSError, match="were requested of a value of 1048576 bytes"):
        FileParts(str(file), seen(file), [part])["a"]
