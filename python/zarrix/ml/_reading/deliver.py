"""What the arrays of a batch become: NumPy's, torch's, jax's, or what a function returns."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from zarrix._errors import suggestion
from zarrix.ml._reading.arrays import with_arrays
from zarrix.ml._reading.jax import OnDevice, Sharded

__all__ = ["deliverer", "to_torch"]

_TARGETS = ("numpy", "torch", "jax")


def deliverer(to: Any, device: Any) -> Callable[[Any, dict[str, str]], Any] | None:
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

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, batch: Any, kinds: dict[str, str]) -> Any:
        return self.function(batch)


class _Torch:
    """Tensors that share the memory of the batch, or copies on a device."""

    def __init__(self, device: Any) -> None:
        self.device = device

    def __call__(self, batch: Any, kinds: dict[str, str]) -> Any:
        return to_torch(batch, kinds, self.device)


def to_torch(batch: Any, kinds: dict[str, str], device: Any = None) -> Any:
    """The batch with tensors, without a copy; ``kinds`` names the fields that are bfloat16."""
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
        return value if device is None else value.to(device)

    return with_arrays(batch, kinds, made, torch.Tensor)
