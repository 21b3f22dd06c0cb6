"""Single elements as zarr-python 3 gives them: scalars of a selection, arrays of an iteration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._runtime.dialect import DIALECT

__all__ = ["rows_of", "scalar_of"]


def scalar_of(result: Any) -> Any:
    """A result of `read_selection` without axes as a scalar, as zarr-python 3 has it."""
    is_element = isinstance(result, np.ndarray) and not result.shape
    return result[()] if is_element else result


def rows_of(values: npt.NDArray[Any]) -> Iterable[Any]:
    """What iteration yields: scalars of an array with one axis, or arrays as in zarr-python 3."""
    if DIALECT.is_zarr3 and values.ndim == 1:
        return (values[i, ...] for i in range(len(values)))
    return values
