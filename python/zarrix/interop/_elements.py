"""Values that a user writes, as elements of an array: converted as zarr-python 3 converts them.

Nothing here imports zarr-python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["elements_of", "flat_elements_of"]

# NumPy converts between these as zarr-python does, by ``astype``.
_CONVERTED = "biufcSUmM"
_IN_MEMORY = (np.ndarray, np.memmap)


def elements_of(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """``value`` as an array of ``dtype``, of ``shape`` or without axes.

    Returns None for a value that zarr-python might refuse, or write in another way: one of another
    shape, and one whose elements are not in memory.

    Examples
    --------
    >>> import numpy as np
    >>> elements_of(7, np.dtype("i4"), (2, 3))
    array(7, dtype=int32)
    >>> elements_of([1, 2], np.dtype("i4"), (2, 3)) is None
    True
    """
    if type(value) in _IN_MEMORY:
        if value.shape != shape and value.shape:
            return None
        if value.dtype == dtype:
            return value
        if value.dtype.kind not in _CONVERTED or dtype.kind not in _CONVERTED:
            return None
        return value.astype(dtype, order="A")
    if not np.isscalar(value) and type(value) not in (list, tuple):
        return None
    array = np.asanyarray(value, dtype=dtype)
    return array if not array.shape or array.shape == shape else None


def flat_elements_of(value: Any, dtype: np.dtype[Any], count: int) -> Any:
    """``value`` for a selection of ``count`` points, which may have any axes.

    Examples
    --------
    >>> import numpy as np
    >>> flat_elements_of(np.array([[1, 2], [3, 4]]), np.dtype("u1"), 4)
    array([1, 2, 3, 4], dtype=uint8)
    """
    if type(value) in (list, tuple):
        if dtype.kind not in _CONVERTED:
            return None
        value = np.array(value)
    if type(value) in _IN_MEMORY and value.ndim > 1:
        value = np.asarray(value).reshape(-1)
    return elements_of(value, dtype, (count,))
