"""`sync_store` between random trees of keys, by every pair of stores, cut off at random steps."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hierarchy.syncs import Cut, cut_at, files, settle
from zarrix._stores.ordered import stored_below

LETTERS = ["a", "b", "!", "-", ".", "0", "~", "é", "\uffff", "\U00010000"]
STORES: dict[str, Callable[[Path], Any]] = {
    "directory": lambda path: zarr.DirectoryStore(path),
    "memory": lambda path: zarr.MemoryStore(),
    "dict": lambda path: zarr.KVStore({}),
    "sqlite": lambda path: zarr.SQLiteStore(f"{path}.sqlite"),
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def drawn_names(draw: random.Random, count: int) -> list[str]:
    """Keys that a folder can have together: no key is a folder of another one."""
    names: set[str] = set()
    while len(names) < count:
        parts = ["".join(draw.choices(LETTERS, k=draw.randint(1, 3))) for _ in range(3)]
        if not {".", ".."} & set(parts):
            names.add("/".join(parts[: draw.randint(1, 3)]))
    folders = {name[:end] for name in names for end, one in enumerate(name) if one == "/"}
    return sorted(names - folders)


def change(draw: random.Random, values: dict[str, bytes], names: list[str]) -> None:
    for name in draw.sample(names, len(names) // 3):
        if draw.random() < 0.3:
            values.pop(name, None)
        else:
            values[name] = draw.randbytes(draw.randint(0, 3))


def put_all(store: Any, values: dict[str, bytes]) -> None:
    for key in set(store) - set(values):
        del store[key]
    for key, value in values.items():
        if store.get(key) != value:
            store[key] = value


def content(store: Any) -> dict[str, bytes]:
    return {key: bytes(store[key]) for key in sorted(store)}


def test_a_folder_is_listed_in_the_order_of_the_bytes_of_keys(tmp_path: Path) -> None:
    names = drawn_names(random.Random(2), 400)
    store = zarr.DirectoryStore(tmp_path / "a")
    for name in names:
        store[name] = name.encode()
    listed = [(stored.key, stored.size) for stored in stored_below(store, "")]
    assert listed == [(name, len(name.encode())) for name in sorted(names, key=str.encode)]
    for folder in {name.partition("/")[0] for name in names if "/" in name}:
        below = sorted((name for name in names if name.startswith(f"{folder}/")), key=str.encode)
        assert [f"{folder}/{stored.key}" for stored in stored_below(store, folder)] == below


def test_a_folder_deeper_than_python_recurses_is_listed(tmp_path: Path) -> None:
    depth, current = 1200, os.getcwd()
    os.makedirs(tmp_path / "a")
    try:
        os.chdir(tmp_path / "a")
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("k").write_bytes(b"1")
        listed = list(stored_below(zarr.DirectoryStore(tmp_path / "a"), ""))
        # What removes temporary folders recurses.
        os.unlink("k")
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")
    finally:
        os.chdir(current)
    assert [stored.key for stored in listed] == ["d/" * depth + "k"]


@pytest.mark.parametrize("dest", STORES)
@pytest.mark.parametrize("source", STORES)
def test_any_store_follows_any_other(source: str, dest: str, tmp_path: Path) -> None:
    draw = random.Random(f"{source} {dest}")
    names = drawn_names(draw, 60)
    one, other = STORES[source](tmp_path / "a"), STORES[dest](tmp_path / "b")
    values = {"zarr.json": b'{"zarr_format": 3, "node_type": "group"}'}
    for _ in range(6):
        change(draw, values, names)
        put_all(one, values)
        counts = zarr.sync_store(one, other, delete=True, workers=draw.choice([1, 4]))
        assert counts.is_complete
        assert content(other) == values
        # What is equal is neither copied nor deleted.
        counts = zarr.sync_store(one, other, delete=True)
        assert (counts.copied, counts.replaced, counts.deleted) == (0, 0, 0)
        assert counts.unchanged == len(values)


def test_random_changes_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_long: bool
) -> None:
    """The source changes, and the process dies at a random step; time and again."""
    draw = random.Random(7)
    names = drawn_names(draw, 40)
    source, dest = zarr.DirectoryStore(tmp_path / "a"), zarr.DirectoryStore(tmp_path / "b")
    values = {"zarr.json": b'{"zarr_format": 3, "node_type": "group"}'}
    cuts = 0
    for _ in range(400 if is_long else 40):
        change(draw, values, names)
        put_all(source, values)
        if draw.random() < 0.5:
            settle(tmp_path / "a")
        with cut_at(draw.randint(0, 15), monkeypatch):
            try:
                zarr.sync_store(source, dest, delete=True, workers=draw.choice([1, 4]))
            except Cut:
                cuts += 1
        if draw.random() < 0.4:
            assert zarr.sync_store(source, dest, delete=True).is_complete
            assert content(dest) == values
    assert cuts > 10
    assert zarr.sync_store(source, dest, delete=True).is_complete
    assert files(tmp_path / "b") == files(tmp_path / "a")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_random_changes_of_arrays(
    zarr_format: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays grow, shrink, get values and become fill; without --delete, too."""
    draw = random.Random(zarr_format)
    root = zarr.open_group(tmp_path / "a", mode="w", zarr_format=zarr_format)
    for name in ("x", "g/y"):
        options = {"fill_value": 0, "write_empty_chunks": False}
        root.create_dataset(name, shape=(6, 6), chunks=(2, 2), dtype="i4", **options)[...] = 1
    for number in range(30):
        array = root[draw.choice(["x", "g/y"])]
        if draw.random() < 0.3:
            array.resize(draw.randint(2, 8), draw.randint(2, 8))
        first, second = draw.randint(0, 4), draw.randint(0, 4)
        array[first : first + 3, second : second + 3] = draw.choice([0, number])
        array.attrs["number"] = number
        if draw.random() < 0.3:
            zarr.consolidate_metadata(str(tmp_path / "a"))
        with cut_at(draw.randint(0, 8), monkeypatch):
            try:
                zarr.sync_store(tmp_path / "a", tmp_path / "b", workers=1)
            except Cut:
                continue
        for name in ("x", "g/y"):
            copy = zarr.open_array(tmp_path / "b" / name, mode="r")
            assert np.array_equal(copy[...], root[name][...])
            assert dict(copy.attrs) == dict(root[name].attrs)
    assert zarr.sync_store(tmp_path / "a", tmp_path / "b").is_complete
    assert files(tmp_path / "a").items() <= files(tmp_path / "b").items()


@pytest.mark.skipif(shutil.which("rclone") is None, reason="apt-get install rclone")
def test_the_result_is_that_of_rclone(tmp_path: Path) -> None:
    draw = random.Random(3)
    # rclone writes some characters in another way.
    names = [name for name in drawn_names(draw, 80) if not any(one in name for one in ".\uffff")]
    source = zarr.DirectoryStore(tmp_path / "a")
    values = {"zarr.json": b'{"zarr_format": 3, "node_type": "group"}'}
    for _ in range(3):
        change(draw, values, names)
        put_all(source, values)
        settle(tmp_path / "a")
        zarr.sync_store(source, tmp_path / "b", delete=True)
        command = ["rclone", "--config", "", "sync", "--checksum", str(tmp_path / "a")]
        subprocess.run([*command, str(tmp_path / "c")], check=True, timeout=60)
        assert files(tmp_path / "b") == files(tmp_path / "c") == dict(sorted(values.items()))
