"""Regions of elements that lie in a file one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from zarrix.convert import _flat
from zarrix.convert._flat import flat_array
from zarrix.convert._source import OpenFile


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("short", [0, 64, 2**16])
@pytest.mark.parametrize("shape", [(), (7,), (5, 6), (4, 3, 9), (6, 3, 11, 8), (3, 2, 4, 5, 6)])
def test_every_region_is_that_of_the_array(
    shape: tuple[int, ...], short: int, order: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Lengths of runs decide how a region is read.
    monkeypatch.setattr(_flat, "_SHORT_RUN", short)
    value = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape)
    (tmp_path / "x").write_bytes(b"head" + value.tobytes(order))
    file = OpenFile(tmp_path / "x")
    array = flat_array(file, 4, shape, value.dtype, order)
    rng = np.random.default_rng(0)
    for _ in range(40):
        ends = [sorted(rng.integers(0, n + 1, 2).tolist()) for n in shape]
        region = tuple(slice(a, b) for a, b in ends)
        assert np.array_equal(array.read(region), value[region])
    file.close()
