"""The order in memory of what is read, which is zarr 2.18.7's and zarr-python 3.4.2's."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

VALUES = np.arange(60).reshape(3, 4, 5)
SELECTIONS: dict[str, Any] = {
    "all": lambda z: z[...],
    "a box": lambda z: z[1:, ::2, 1:4],
    "one index": lambda z: z[:, 2],
    "backwards": lambda z: z[::-1, :, ::-2],
    "orthogonal": lambda z: z.oindex[[2, 0], :, [1, 1, 4]],
    "blocks": lambda z: z.blocks[0, 1],
    "an argument": lambda z: z.get_basic_selection((slice(None), slice(1, 3))),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_an_array_of_order_f_is_read_in_order_f(name: str) -> None:
    z = zarr.array(VALUES, chunks=(2, 3, 2), order="F")
    found = SELECTIONS[name](z)
    expected = SELECTIONS[name](zarr.array(VALUES, chunks=(2, 3, 2)))
    assert np.array_equal(found, expected)
    assert found.flags.f_contiguous
    assert not found.flags.c_contiguous


def test_points_come_in_the_order_of_their_coordinates() -> None:
    z = zarr.array(VALUES, chunks=(2, 3, 2), order="F")
    points = ([[0, 1], [2, 2]], [[0, 1], [2, 3]], [[4, 4], [0, 1]])
    found = z.vindex[points]
    assert np.array_equal(found, VALUES[points])
    assert found.flags.c_contiguous


def test_out_keeps_its_own_order() -> None:
    z = zarr.array(VALUES, order="F")
    out = np.empty(VALUES.shape, VALUES.dtype)
    assert z.read(out=out) is out
    assert np.array_equal(out, VALUES)


def test_config_chooses_the_order_of_what_is_read_from_v3(tmp_path: Path) -> None:
    config = {"order": "F"}
    z = zarr.create_array(tmp_path / "a", data=VALUES, chunks=(2, 3, 2), config=config)
    opened = zarr.open_array(tmp_path / "a", config=config)
    plain = zarr.open_array(tmp_path / "a")
    for one in (z, opened, plain.with_config(config), pickle.loads(pickle.dumps(z))):
        assert (one.order, one.config.order, one[:].flags.f_contiguous) == ("F", "F", True)
        assert np.array_equal(one[:], VALUES)
        one[0] = VALUES[0]
    assert (plain.order, plain.config.order, plain[:].flags.c_contiguous) == ("C", "C", True)
    assert z.with_config({"order": "C"})[:].flags.c_contiguous


def test_create_of_v2_stores_the_order_of_its_config() -> None:
    z = zarr.create((3, 4), config={"order": "F"}, zarr_format=2)
    assert z.metadata.to_dict()["order"] == z.order == "F"
    assert (
        zarr.create((3, 4), config={"order": "F"}, zarr_format=3).metadata.codecs[0].name == "bytes"
    )
    assert z.with_config({"order": "C"}).order == "F"


def test_an_order_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be either 'C' or 'F'"):
        zarr.create_array(shape=(3, 4), dtype="i4", config={"order": "Z"})
