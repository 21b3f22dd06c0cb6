"""`ml.Files`: files that are decoded by the caller's function, beside arrays."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import items_of
from zarrix import ml
from zarrix.errors import CorruptChunkError, StateError

VALUES = np.random.default_rng(0).integers(0, 99, (24, 3, 5)).astype("i2")


def stored(folder: Path, count: int = 24) -> list[Path]:
    paths = [folder / f"{number:03}.npy" for number in range(count)]
    for path, value in zip(paths, VALUES, strict=False):
        np.save(path, value)
    return paths


@pytest.mark.parametrize("shuffle", [False, "full", "block", True])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_files_arrive_beside_arrays(tmp_path: Path, shuffle: Any, prefetch: int) -> None:
    files = ml.Files(stored(tmp_path), np.load)
    assert (files.shape, files.dtype, files.ndim) == ((24, 3, 5), np.dtype("i2"), 3)
    rows = ml.Rows({"x": files, "label": zarr.array(np.arange(24), chunks=5)})
    seen = []
    for batch in ml.Loader(rows, 5, shuffle=shuffle, prefetch=prefetch, seed=3):
        np.testing.assert_array_equal(batch["x"], VALUES[batch["item"]])
        np.testing.assert_array_equal(batch["label"], batch["item"])
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(24))
    again = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(again[7]["x"], VALUES[7])


def test_values_are_converted_and_groups_differ_in_length(tmp_path: Path) -> None:
    paths = stored(tmp_path)
    groups = [
        {"x": ml.Field(ml.Files(part, np.load), dtype="float32", scale=0.5)}
        for part in (paths[:7], paths[7:])
    ]
    for batch in ml.Loader(ml.Rows(groups), 6):
        np.testing.assert_array_equal(batch["x"], VALUES[batch["item"]].astype("f4") / 2)


def test_rows_of_variable_samples_may_be_files(tmp_path: Path) -> None:
    files = ml.Files(stored(tmp_path, 3), np.load)
    dataset = ml.Ragged({"t": np.arange(9)}, offsets=[0, 4, 4, 9], rows={"x": files})
    for batch in ml.Loader(dataset, 2):
        np.testing.assert_array_equal(batch["x"], VALUES[batch["item"]])


def test_a_damaged_file_is_a_corrupt_chunk(tmp_path: Path) -> None:
    paths = stored(tmp_path)
    paths[4].write_bytes(b"nothing")
    np.save(paths[9], VALUES[9].astype("f8"))
    rows = ml.Rows({"x": ml.Files(paths, np.load)})
    with pytest.raises(CorruptChunkError, match=r"004\.npy' was not decoded"):
        list(ml.Loader(rows, 4, shuffle=False))
    filled = ml.Loader(rows, 4, shuffle=False, on_error="fill")
    valid = np.concatenate([batch["valid"] for batch in filled])
    assert np.flatnonzero(~valid).tolist() == [4, 9]
    assert {Path(record["key"]).name for record in filled.errors} == {"004.npy", "009.npy"}
    replaced = ml.Loader(rows, 4, on_error="replace", seed=1)
    for batch in replaced:
        for value in batch["x"]:
            assert any(
                np.array_equal(value, VALUES[item]) for item in range(24) if item not in (4, 9)
            )
    assert {record["item"] for record in replaced.errors} == {4, 9}
    os.remove(paths[4])
    with pytest.raises(FileNotFoundError):
        list(ml.Loader(rows, 4, on_error="fill"))


def test_files_of_a_batch_are_decoded_at_the_same_time(tmp_path: Path) -> None:
    together = threading.Barrier(2)

    def decode(path: str) -> Any:
        together.wait(timeout=60)
        return np.load(path)

    files = ml.Files(stored(tmp_path), decode, shape=(3, 5), dtype="i2")
    loader = ml.Loader(ml.Rows({"x": files}), 4, threads=2, prefetch=0, shuffle=False)
    np.testing.assert_array_equal(next(iter(loader))["x"], VALUES[:4])


def test_other_files_are_another_dataset(tmp_path: Path) -> None:
    paths = stored(tmp_path)
    first, moved = (ml.Rows({"x": ml.Files(some, np.load)}) for some in (paths, paths[::-1]))
    state = ml.Loader(first, 4).state_dict()
    with pytest.raises(StateError):
        ml.Loader(moved, 4).load_state_dict(state)
    assert items_of(ml.Loader(first, 4, seed=2)) == items_of(ml.Loader(moved, 4, seed=2))


def test_what_is_not_a_list_of_files_is_an_error(tmp_path: Path) -> None:
    paths = stored(tmp_path, 2)
    single: Any = str(paths[0])
    with pytest.raises(TypeError, match="not a single one"):
        ml.Files(single, np.load)
    with pytest.raises(ValueError, match="at least one path"):
        ml.Files([], np.load)
    with pytest.raises(TypeError, match="not a function"):
        ml.Files(paths, single)
    with pytest.raises(FileNotFoundError):
        ml.Files([tmp_path / "none.npy"], np.load)
    with pytest.raises(TypeError, match="which Crops does not take: Rows does"):
        ml.Crops({"x": ml.Files(paths, np.load)}, dims="tyx", size={"y": 2})
