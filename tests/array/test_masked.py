"""Masked elements are refused, because Zarr has no place for a mask."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import DataTypeError

MASKED = np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0])
PLAIN = np.ma.array([1, 2, 3, 4])


def assigned(store: Any, value: Any) -> Any:
    z = zarr.create_array(store, shape=4, chunks=2, dtype="i8")
    z[:] = value
    return z


def appended(store: Any, value: Any) -> Any:
    z = zarr.create_array(store, shape=0, chunks=2, dtype="i8")
    z.append(value)
    return z


def written(store: Any, value: Any) -> Any:
    z = zarr.create_array(store, shape=0, chunks=2, dtype="i8")
    with z.writer() as writer:
        writer.append(value)
    return z


def selected(store: Any, value: Any) -> Any:
    z = zarr.create_array(store, shape=4, chunks=2, dtype="i8")
    z.oindex[[0, 1, 2, 3]] = value
    return z


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "assigned": assigned, "appended": appended, "written": written, "selected": selected,
    "array": lambda store, value: zarr.array(value, store=store),
    "create_array": lambda store, value: zarr.create_array(store, data=value),
    "save": lambda store, value: (zarr.save(store, value), zarr.open(store, mode="r"))[1],
    "group": lambda store, value: zarr.group(store).create_dataset("a", data=value),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_masked_elements_are_refused_and_others_stored(way: str, tmp_path: Path) -> None:
    with pytest.raises(DataTypeError, match=r"store value\.filled"):
        WAYS[way](tmp_path / "masked", MASKED)
    assert WAYS[way](tmp_path / "plain", PLAIN)[:].tolist() == [1, 2, 3, 4]


def test_nothing_is_replaced_by_what_is_refused(tmp_path: Path) -> None:
    zarr.save(tmp_path / "x", np.arange(3))
    with pytest.raises(DataTypeError):
        zarr.create_array(tmp_path / "x", data=MASKED, overwrite=True)
    assert zarr.open(tmp_path / "x", mode="r")[:].tolist() == [0, 1, 2]


def test_a_mask_of_fields_is_seen() -> None:
    value = np.ma.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")], mask=[(0, 1)])
    with pytest.raises(DataTypeError):
        zarr.array(value)
