"""Sources whose values tell their label, and a reader of Zarr 3 that knows nothing of zarrix."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

NAMES = ("a", "b", "c")
ROWS = 3


def make(folder: Path, count: int, overlap: int = 1) -> list[str]:
    """``count`` groups of `ROWS` new labels each, and some of the next one; not compressed."""
    return [
        group(folder / f"day{day}.zarr", range(day * ROWS, (day + 1) * ROWS + overlap))
        for day in range(count)
    ]


def group(path: Path, labels: Iterable[int]) -> str:
    """A group with these labels, in chunks whose borders are not those of sources."""
    values = np.array([*labels], "<i8")
    root = zarr.open_group(path, mode="w", zarr_format=3, attributes={"title": "days"})
    options: dict[str, Any] = {"compressors": None, "fill_value": -1}
    time = root.create_array("time", data=values, dimension_names=["time"], **options)
    time.attrs["units"] = "hours since 2020-01-01"
    for number, name in enumerate(NAMES):
        data = np.add.outer(values * 10, np.arange(3)) + number
        chunks, names = (4, 2), ["time", "x"]
        root.create_array(name, data=data, chunks=chunks, dimension_names=names, **options)
    return str(path)


def state(path: Path) -> dict[str, Any]:
    """The elements of each array that the consolidated metadata of a group names.

    Raises
    ------
    FileNotFoundError
        A chunk is missing, as it is when the document is not the newest one any more.
    """
    document = json.loads((path / "zarr.json").read_bytes())
    members = (document.get("consolidated_metadata") or {}).get("metadata", {})
    return {name: _elements(path / name, one) for name, one in members.items()}


def _elements(folder: Path, document: dict[str, Any]) -> np.ndarray[Any, Any]:
    shape = tuple(document["shape"])
    chunk = tuple(document["chunk_grid"]["configuration"]["chunk_shape"])
    encoding = document["chunk_key_encoding"]
    default = "/" if encoding["name"] == "default" else "."
    separator = encoding.get("configuration", {}).get("separator", default)
    assert [one["name"] for one in document["codecs"]] == ["bytes"]
    found = np.empty(shape, "<i8")
    for coords in np.ndindex(*(-(-n // c) for n, c in zip(shape, chunk, strict=True))):
        key = separator.join(map(str, coords))
        if encoding["name"] == "default":
            key = f"c{separator}{key}"
        values = np.frombuffer((folder / key).read_bytes(), "<i8").reshape(chunk)
        begin = [i * c for i, c in zip(coords, chunk, strict=True)]
        part = tuple(slice(b, b + c) for b, c in zip(begin, chunk, strict=True))
        into = found[part]
        into[...] = values[tuple(slice(0, n) for n in into.shape)]
    return found


def whole(found: dict[str, Any]) -> list[int]:
    """The labels of a state; an error if it has half a step."""
    if not found:
        return []
    labels = found["time"]
    assert (np.diff(labels) > 0).all(), labels
    for number, name in enumerate(NAMES):
        expected = np.add.outer(labels * 10, np.arange(3)) + number
        assert np.array_equal(found[name], expected), (name, labels, found[name])
    return [int(one) for one in labels]


def read(path: Path) -> list[int] | None:
    """The labels that readers see now; None if the group has changed meanwhile."""
    document = path / "zarr.json"
    before = document.read_bytes()
    try:
        found = state(path)
    except FileNotFoundError:
        assert document.read_bytes() != before, "a chunk is missing"
        return None
    if document.read_bytes() != before:
        return None
    return whole(found)


def chunks(path: Path) -> dict[str, bytes]:
    """Every stored chunk by array and coordinates, and what else is stored by its name."""
    found = {}
    for file in path.rglob("*"):
        if file.is_file() and file.name != "zarr.json":
            name, *rest = file.relative_to(path).parts
            numbers = ".".join(rest).removeprefix("c.")
            found[f"{name}/{numbers}"] = file.read_bytes()
    return found


def same(path: Path, expected: Path) -> None:
    """Assert that a group has the bytes of another one, and nothing else."""
    zarr.recover(path)
    zarr.sweep(path, now=True)
    assert chunks(path) == chunks(expected)
    assert whole(state(path)) == whole(state(expected))
    documents = [json.loads((one / "zarr.json").read_bytes()) for one in (path, expected)]
    for document in documents:
        # Which commit was the last one.
        document["consolidated_metadata"].pop("zarrix_commit")
        for one in document["consolidated_metadata"]["metadata"].values():
            # The spelling of its chunk keys is that of the last commit which has moved rows.
            del one["chunk_key_encoding"]
    assert documents[0] == documents[1]
