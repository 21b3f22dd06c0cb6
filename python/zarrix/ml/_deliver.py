"""What the arrays of a batch become: NumPy's, torch's, jax's, or what a function returns."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from zarrix._errors import suggestion
from zarrix.ml._batch import Batch
from zarrix.ml._jax import OnDevice, Sharded

__all__ = ["deliverer", "to_torch"]

_TARGETS = ("numpy", "torch", "jax")


def deliverer(to: Any, device: Any) -> Callable[[Batch, dict[str, str]], Any] | None:
    """The function that a batch passes through; None leaves it as it is."""
    if isinstance(to, Sharded):
        return to
    if callable(to):
        return _Function(to)
    if to not in _TARGETS:
        raise ValueError(
            f"to={to!r}; allowed are {', '.join(_TARGETS)} and a function"
            f"{suggestion(str(to), _TARGETS)}"
        )
    if to == "numpy" and device is not None:
        to = "torch"
    if to == "numpy":
        return None
    return OnDevice(device) if to == "jax" else _Torch(device)


class _Function:
    """What a function of the caller returns."""

    def __init__(self, function: Callable[[Batch], Any]) -> None:
        self.function = function

    def __call__(self, batch: Batch, kinds: dict[str, str]) -> Any:
        return self.function(batch)


class _Torch:
    """Tensors that share the memory of the batch, or copies on a device."""

    def __init__(self, device: Any) -> None:
        self.device = device

    def __call__(self, batch: Batch, kinds: dict[str, str]) -> Batch:
        tensors = to_torch(batch, kinds)
        if self.device is not None:
            for name, tensor in tensors.items():
                tensors[name] = tensor.to(self.device)
        return tensors


def to_torch(batch: Batch, kinds: dict[str, str]) -> Batch:
    """The batch with tensors, without a copy; ``kinds`` names the fields that are bfloat16."""
    # Optional: torch is only needed by those who ask for its tensors.
    torch: Any = importlib.import_module("torch")

    for name, value in batch.items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            if not value.dtype.isnative:
                value = value.astype(value.dtype.newbyteorder("="))
            tensor = torch.from_numpy(value)
            batch[name] = tensor.view(torch.bfloat16) if kinds.get(name) == "bfloat16" else tensor
    return batch
