"""Functions of a program that are sent to workers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

__all__ = ["Sent"]


class Sent:
    """A function that is pickled by value if workers cannot import it: one of the main module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __reduce__(self) -> Any:
        if getattr(self.function, "__module__", None) != "__main__":
            return Sent, (self.function,)
        # Optional: without it, the main module has to be a file that workers can run.
        try:
            import cloudpickle  # type: ignore[import-untyped]  # It has no types.
        except ImportError:
            return Sent, (self.function,)
        return _unpickled, (cloudpickle.dumps(self.function),)


def _unpickled(dumped: bytes) -> Sent:
    return Sent(pickle.loads(dumped))
