"""What the arrays of a batch become: NumPy's, torch's, jax's, or what a function returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zarrix._errors import suggestion
from zarrix.ml._reading.jax import OnDevice, Sharded
from zarrix.ml._reading.to_torch import to_torch
from zarrix.ml._reading.uploads import Uploads, is_cuda

__all__ = ["deliverer"]

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
    if to == "jax":
        return OnDevice(device)
    return Uploads(device) if is_cuda(device) else _Torch(device)


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
        if self.device is None:
            return to_torch(batch, kinds)
        return to_torch(batch, kinds, lambda tensor: tensor.to(self.device))
