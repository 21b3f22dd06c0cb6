"""The tensors of torch that share the memory of a batch."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from zarrix.ml._reading.arrays import with_arrays

__all__ = ["to_torch"]


def to_torch(
    batch: Any, kinds: dict[str, str], move: Callable[[Any], Any] = lambda tensor: tensor
) -> Any:
    """The batch with tensors, without a copy; ``kinds`` names the fields that are bfloat16.

    ``move`` returns each tensor on the device where it has to be.
    """
    # Optional: torch is only needed by those who ask for its tensors.
    torch: Any = importlib.import_module("torch")

    def made(value: Any, is_bfloat16: bool) -> Any:
        if isinstance(value, np.ndarray):
            if not value.dtype.isnative:
                value = value.astype(value.dtype.newbyteorder("="))
            if any(stride < 0 for stride in value.strides):
                # As a flip makes it; torch has no such strides.
                value = value.copy()
            value = torch.from_numpy(value)
            value = value.view(torch.bfloat16) if is_bfloat16 else value
        return move(value)

    return with_arrays(batch, kinds, made, torch.Tensor)
