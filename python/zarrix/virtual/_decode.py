"""From the stored elements of a piece to those of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["Decode"]


class Decode:
    """Stored elements to those of the whole: ``stored * scale + offset`` in double precision,
    rounded once, with NaN for missing ones; or a cast.

    Parameters
    ----------
    dtype : dtype
        Of the whole.
    more : mapping
        ``scale``, ``offset`` and ``nan``, if there are any.
    """

    def __init__(self, dtype: np.dtype[Any], more: Mapping[str, Any]) -> None:
        self._dtype = dtype
        self._scale, self._offset = more.get("scale"), more.get("offset")
        self._nan = more.get("nan")

    def __call__(self, values: Any) -> Any:
        if self._scale is None and self._offset is None:
            result = values.astype(self._dtype)
        else:
            numbers = values.astype("f8")
            if self._scale is not None:
                numbers *= self._scale
            if self._offset is not None:
                numbers += self._offset
            result = numbers.astype(self._dtype)
        for one in self._nan or ():
            result[values == one] = np.nan
        return result
