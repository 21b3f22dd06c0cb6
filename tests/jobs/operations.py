"""What the tests of jobs share: sources in every layout, and digests that compare results."""

from __future__ import annotations

from concurrent import futures
from typing import Any, ClassVar

import numpy as np
import zarrix as zarr
from zarrix.jobs._running import operation as _operation
from zarrix.jobs._running.operation import Done, Operation, Stage

RANDOM = np.random.default_rng(7)


def hierarchy(store: Any, zarr_format: int = 3) -> zarr.Group:
    """A group with arrays of several layouts, below one another, and attributes."""
    group = zarr.open_group(store, mode="w", zarr_format=zarr_format)
    group.attrs["unit"] = "mm"
    numbers = group.create_array("numbers", shape=(53, 47), chunks=(10, 9), dtype="f4")
    numbers[:] = RANDOM.random((53, 47))
    text = group.create_array("deep/text", shape=(7,), chunks=(2,), dtype=str)
    text[:] = np.array([f"row {i}" for i in range(7)], object)
    group.create_array("empty", shape=(0, 3), chunks=(2, 2), dtype="i2")
    group.create_array("scalar", shape=(), dtype="i8")[...] = 7
    sparse = group.create_array("sparse", shape=(100,), chunks=(10,), dtype="u1", fill_value=3)
    sparse[40:45] = 9
    if zarr_format == 3:
        shards = group.create_array(
            "deep/shards", shape=(60, 60), chunks=(10, 10), shards=(20, 30), dtype="u2"
        )
        shards[:] = RANDOM.integers(0, 9, (60, 60))
        group.create_array("uneven", shape=(9,), chunks=[[2, 3, 4]], dtype="i4")[:] = range(9)
    return group


class Twice(futures.Executor):
    """Submits every fifth task twice, and gives the result of the first to be done."""

    def __init__(self, inner: futures.Executor) -> None:
        self._inner = inner
        self._count = 0

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        self._count += 1
        first = self._inner.submit(function, *args, **kwargs)
        if self._count % 5 == 0:
            self._inner.submit(function, *args, **kwargs)
        return first


class Counting(Operation):
    """Tasks that only count; some fail as often as they are told, for tests of the driver."""

    kind = "test-counting"
    destination = None
    # By task: errors that it raises, one after the other.
    errors: ClassVar[dict[int, list[BaseException]]] = {}
    calls: ClassVar[list[int]] = []

    @property
    def stages(self) -> list[Stage]:
        return [Stage("count", self.parameters["count"])]

    def run(self, stage: int, number: int) -> Done:
        type(self).calls.append(number)
        pending = self.errors.get(number)
        if pending:
            raise pending.pop(0)
        return Done({"square": number * number})

    def finish(self, values: Any) -> Any:
        return sum(one["square"] for one in values[0].values())


_operation._KINDS["test-counting"] = (__name__, "Counting")
