"""Batches in the workers of torch's DataLoader: decoded into memory that the parent maps.

A worker sends a batch by the handles of its storages. If arrays were in the worker's own memory,
torch would copy each into shared memory first.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix.ml._reading.slots import allocate

__all__ = ["Shared", "in_worker"]


def in_worker() -> bool:
    """Whether this process, or thread, is a worker of a DataLoader."""
    # Only a program that has imported torch can have made this worker.
    data: Any = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


class Shared:
    """Allocates arrays in storages that torch shares among processes."""

    def __init__(self) -> None:
        self.storages: list[Any] = []

    def __call__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        count = math.prod(shape) * dtype.itemsize
        if dtype.kind not in "biufc" or not dtype.isnative or not count:
            self.storages.append(None)
            return allocate(shape, dtype)
        torch: Any = sys.modules["torch"]
        storage = torch.UntypedStorage._new_shared(count)
        self.storages.append(storage)
        found: npt.NDArray[Any] = torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
        return found.view(dtype).reshape(shape)
