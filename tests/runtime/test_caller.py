"""Warnings point at the line of the program that calls, however deep in the package they arise."""

from collections.abc import Callable
from typing import Any

import pytest
import zarrix as zarr

CALLS: dict[str, Callable[[], Any]] = {
    "a reserved name, by create": lambda: zarr.create(3, path="__a"),
    "a reserved name, by zeros": lambda: zarr.zeros(3, path="__a"),
    "a reserved name, by create_array": lambda: zarr.create_array(shape=3, name="__a"),
    "a reserved name, in a group": lambda: zarr.group().create_group("__a"),
    "two compressors": lambda: zarr.open({}, "w", shape=3, compressor=None, compression="gzip"),
    "an attribute named by a number": lambda: zarr.zeros(3).attrs.put({1: 2}),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_points_at_the_line_that_calls(name: str) -> None:
    with pytest.warns((UserWarning, DeprecationWarning)) as caught:
        CALLS[name]()
    assert [one.filename for one in caught] == [__file__]
