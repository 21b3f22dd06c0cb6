"""Stored bytes, ratio and age of chunks: those of the files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer
from zarrix._engine import CancelToken
from zarrix.viewer import _chunk_map
from zarrix.viewer._app import root_of
from zarrix.viewer._roots import Roots
from zarrix.viewer._routes import answer

ROWS, COLUMNS = 4, 3


def files(folder: Path) -> Any:
    """An array of two planes of chunks, with one missing, and its stored bytes."""
    rng = np.random.default_rng(0)
    z = zarr.create_array(str(folder), shape=(2, 37, 30), chunks=(1, 10, 10), dtype="u2",
                          zarr_format=3)  # fmt: skip
    for row in range(ROWS):
        for column in range(COLUMNS):
            if (row, column) != (1, 2):
                box = np.s_[:, row * 10 : row * 10 + 10, column * 10 : column * 10 + 10]
                shape = z[box].shape
                z[box] = rng.integers(1, 4 ** (row + column) + 1, shape, "u2")
    sizes = np.full((2, ROWS, COLUMNS), np.nan)
    for at in np.ndindex(*sizes.shape):
        file = folder.joinpath("c", *map(str, at))
        if file.exists():
            os.utime(file, (0, 1_000_000 + 100 * at[0] + 10 * at[1] + at[2]))
            sizes[at] = file.stat().st_size
    return sizes


def asked(folder: Path, **parameters: str) -> Any:
    found = Client(viewer.app(zarr.open(str(folder), mode="r"))).get("/api/chunks", **parameters)
    assert found.status == 200, found.body
    document = found.json()
    values = [np.nan if one is None else one for one in document["values"]]
    shape = [end - begin for begin, end in (document["rows"], document["columns"])]
    return np.array(values).reshape(shape), document


def test_stored_bytes_are_those_of_the_files(tmp_path: Path) -> None:
    sizes = files(tmp_path)
    found, document = asked(tmp_path, sel="1", axes="1,2", of="bytes")
    assert np.array_equal(found, sizes[1], equal_nan=True)
    assert (np.isnan(found).sum(), document["unit"]) == (1, "chunk")
    assert np.array_equal(asked(tmp_path, axes="2,1", sel="1")[0], sizes[1].T, equal_nan=True)
    # Chunks of further axes count together.
    assert np.array_equal(asked(tmp_path, axes="1,2")[0], sizes.sum(axis=0), equal_nan=True)
    part, document = asked(tmp_path, axes="1,2", sel="0,10:30,20:")
    assert (document["rows"], document["columns"]) == ([1, 3], [2, 3])
    assert np.array_equal(part, sizes[0, 1:3, 2:], equal_nan=True)


def test_the_ratio_is_of_the_bytes_that_a_chunk_decodes_to(tmp_path: Path) -> None:
    sizes = files(tmp_path)
    # A chunk at the end is stored whole.
    raw = 10 * 10 * 2
    found, _ = asked(tmp_path, sel="0", axes="1,2", of="ratio")
    assert np.allclose(found, raw / sizes[0], equal_nan=True)


def test_ages_are_those_of_the_files(tmp_path: Path) -> None:
    files(tmp_path)
    found, _ = asked(tmp_path, axes="1,2", of="age")
    expected = 1_000_100 + 10.0 * np.arange(ROWS)[:, None] + np.arange(COLUMNS)
    expected[1, 2] = np.nan
    assert np.array_equal(found, expected, equal_nan=True)
    memory = Client(viewer.app(zarr.ones((4, 4), chunks=(2, 2))))
    refused = memory.get("/api/chunks", axes="0,1", of="age")
    assert (refused.status, refused.json()["kind"]) == (400, "no-times")


def test_inner_chunks_of_shards_are_told_and_their_age_is_that_of_the_shard(
    tmp_path: Path,
) -> None:
    z = zarr.create_array(str(tmp_path), shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="u1",
                          zarr_format=3)  # fmt: skip
    z[:4] = np.random.default_rng(0).integers(1, 9, (4, 8), "u1")
    found, document = asked(tmp_path, axes="0,1", of="bytes")
    assert (found.shape, document["unit"]) == ((4, 4), "chunk")
    assert np.array_equal(np.isnan(found), np.arange(4)[:, None] >= np.full(4, 2))
    found, document = asked(tmp_path, axes="0,1", of="age")
    assert (found.shape, document["unit"]) == ((2, 2), "shard")
    assert np.isnan(found).tolist() == [[False, False], [True, True]]


def test_more_chunks_than_are_told_are_refused_and_a_request_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path)
    z = zarr.open(str(tmp_path), mode="r")
    given = {"axes": "1,2", "sel": "0", "of": "age"}
    token = CancelToken()
    token.cancel()
    assert answer(Roots([root_of(z)]), "chunks", given, token).status == 503
    monkeypatch.setattr(_chunk_map, "_MOST_TOLD", 11)
    assert Client(viewer.app(z)).get("/api/chunks", **given).status == 413
    for axes in ("1", "1,1", "1,9"):
        assert Client(viewer.app(z)).get("/api/chunks", **{**given, "axes": axes}).status == 400
