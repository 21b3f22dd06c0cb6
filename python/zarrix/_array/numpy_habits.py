"""What code written for NumPy's arrays tries on stored ones, and what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["is_of_numpy", "numpy_advice", "only_element"]

_STATISTICS = ("max", "mean", "min", "std", "sum")


def is_of_numpy(name: str) -> bool:
    """Whether NumPy's arrays have an attribute of this name."""
    return hasattr(np.ndarray, name)


def numpy_advice(name: str) -> str:
    """What to write instead of an attribute that NumPy's arrays have, and stored ones do not."""
    call = "()" if callable(getattr(np.ndarray, name)) else ""
    advice = f"read the elements first: array[...].{name}{call}"
    if name in _STATISTICS:
        advice += ", or zarrix.jobs.statistics(array) where they are larger than the memory"
    return advice


def only_element(array: Any) -> Any:
    """The element of an array without axes, for ``float(array)`` and its kin.

    Raises
    ------
    TypeError
        The array has axes.
    """
    if array.shape:
        raise TypeError(
            f"only an array of shape () is a number, and this one has shape {array.shape}; index it"
        )
    return array[()]
